"""Our declarations against the schemas that Kafka publishes, field by field."""

from collections.abc import Callable, Iterator
from typing import Final, NoReturn

import pytest

from ottla.api.apis import APIS
from ottla.wire.fields import Field, Message, Struct, blank
from ottla.wire.versions import NO_VERSIONS, VersionRange
from tests.conformance.declared import declared, of_schema
from tests.conformance.jars import home
from tests.conformance.schemas import (
    BLANK,
    NEW_JAR,
    OLD_JAR,
    RECORD_JARS,
    FieldFacts,
    Schema,
    published,
)

UNPUBLISHED_MESSAGES: Final = {
    "UnregisterControllerRecord": "It came with 4.4, whose kafka-metadata is in no repository.",
}
UNPUBLISHED_FIELDS: Final = {
    ("StreamsGroupMetadataValue", "stored_description_topology_epoch"): "KIP-1331 came with 4.4.",
    ("StreamsGroupMetadataValue", "failed_description_topology_epoch"): "KIP-1331 came with 4.4.",
}
"""What we know from Kafka 4.4 while the newest jar with internal records is 4.3.1."""


@pytest.fixture(scope="session")
def schemas(missing_peer: Callable[[str], NoReturn]) -> dict[str, Schema]:
    """The schemas of the jars, by Kafka's name."""
    for jar in (NEW_JAR, OLD_JAR, *RECORD_JARS):
        if not (home() / jar).is_file():
            missing_peer(f"{jar} is not in {home()}; type: make setup")
    return {schema.name: schema for schema in published(home())}


def test_every_schema_is_declared_and_every_declaration_has_a_schema(
    schemas: dict[str, Schema],
) -> None:
    theirs = {cls.__name__ for name in schemas if (cls := of_schema(name))}
    assert [name for name in schemas if of_schema(name) is None] == []
    assert set(declared()) - theirs == set(UNPUBLISHED_MESSAGES)


def test_every_message_has_its_key_and_versions(schemas: dict[str, Schema]) -> None:
    differences = [
        f"{name}: {_message(cls)} here, {expected} in Kafka"
        for name, schema in schemas.items()
        if (cls := of_schema(name))
        and _message(cls) != (expected := (schema.key, schema.versions, schema.flexible))
    ]
    assert differences == []


def test_every_field_is_the_same(schemas: dict[str, Schema]) -> None:
    differences: list[str] = []
    for name, schema in schemas.items():
        cls = of_schema(name)
        assert cls is not None
        ours = [
            facts
            for facts in _facts(cls, cls.versions, "")
            if (name, facts.path) not in UNPUBLISHED_FIELDS
        ]
        differences += _differences(name, ours, list(schema.fields))
    assert "\n".join(differences) == ""


def test_what_kafka_has_not_published_is_declared() -> None:
    for name, path in UNPUBLISHED_FIELDS:
        assert path in [facts.path for facts in _facts(declared()[name], VersionRange(0, 0), "")]


def test_the_table_of_apis_has_kafkas_listeners(schemas: dict[str, Schema]) -> None:
    requests = {s.key: s for name, s in schemas.items() if name.endswith("Request")}
    assert sorted(requests) == sorted(APIS)
    for key, schema in requests.items():
        assert APIS[key].name + "Request" == schema.name
        assert APIS[key].listeners == schema.listeners
        assert APIS[key].latest_is_unstable == schema.latest_is_unstable


def _message(cls: type[Message]) -> tuple[int, VersionRange, VersionRange]:
    return cls.api_key, cls.versions, cls.flexible & cls.versions


def _differences(name: str, ours: list[FieldFacts], theirs: list[FieldFacts]) -> list[str]:
    paths = [facts.path for facts in ours], [facts.path for facts in theirs]
    if paths[0] != paths[1]:
        return [f"{name}: the fields are {paths[0]} here, {paths[1]} in Kafka"]
    return [
        f"{name}.{facts.path}:\n  here {facts}\n  Kafka {other}"
        for facts, other in zip(ours, theirs, strict=True)
        if facts != other
    ]


def _facts(cls: type[Struct], within: VersionRange, path: str) -> Iterator[FieldFacts]:
    for one in cls.fields:
        versions = one.versions & within
        yield FieldFacts(
            path + one.name,
            one.kind,
            one.element.kind if one.element else None,
            versions,
            (one.nullable & versions) or NO_VERSIONS,
            one.tag,
            (one.tagged & versions) or NO_VERSIONS,
            one.ignorable,
            bool(one.flexible),
            one.required,
            None if one.required else _default(one),
        )
        if one.struct is not None:
            yield from _facts(one.struct, versions, f"{path}{one.name}.")


def _default(one: Field) -> object:
    if one.kind == "struct" and one.struct is not None and one.default is blank(one.struct):
        return BLANK
    return one.default
