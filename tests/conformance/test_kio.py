"""Messages against kio, a library generated from Kafka's schemas that shares no code with us.

kio holds some values more narrowly than the wire does: errors that it knows, times that Python's
types can hold, no unknown tags. What we draw is bent to that before they are compared.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from io import BytesIO
from pkgutil import resolve_name
from typing import Any, Final, get_args

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from kio.schema.errors import ErrorCode
from kio.schema.index import schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import Records

from ottla.wire.codec import decode, encode
from ottla.wire.fields import Field, Message, Struct
from tests.conformance.declared import declared, of_schema
from tests.unit.api.filler import filled

TIME_MS_MAX: Final = 253_402_300_799_000
"""The last time of Python's calendar."""

PATHS: Final = {
    (path.partition(":")[2], version): path
    for versions in schema_name_map.values()
    for version, paths in versions.items()
    for path in paths.values()
}
NEWEST: Final = sorted(dict(sorted(PATHS)).items())

LACKING: Final = {
    "ApiVersions": 5,
    "DeleteGroups": 3,
    "StreamsGroupDescribe": 1,
    "StreamsGroupHeartbeat": 1,
    "StreamsGroupTopologyDescriptionUpdate": 0,
    "TxnOffsetCommit": 6,
    "UnregisterController": 0,
}
"""The versions that came after kio's schemas. It also lacks those that Kafka 4 has given up, and
the records of Kafka's internal logs."""

quick = settings(
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
st.register_type_strategy(Records, st.binary().map(Records))


def written(entity: Any) -> bytes:
    """What kio makes of an entity."""
    output = BytesIO()
    entity_writer(type(entity))(output, entity)
    return output.getvalue()


def bent(struct: Struct, entity: type[Any], version: int) -> None:
    """Change what kio cannot hold, in a struct that stands for one of kio's."""
    struct.unknown_tags = None
    for ours, theirs in paired(struct, entity, version):
        value = getattr(struct, ours.name)
        inner = inner_entity(theirs.type)
        if value is None or value is ours.default:
            continue
        if inner is not None:
            for one in value if isinstance(value, list) else [value]:
                bent(one, inner, version)
        else:
            setattr(struct, ours.name, held(theirs.metadata["kafka_type"], value))


def paired(struct: Struct, entity: type[Any], version: int) -> Iterator[tuple[Field, Any]]:
    """Fields of ours and kio's: tagged ones by tag, the others in order, since names differ."""
    ours = [one for one in struct.fields if version in one.versions]
    by_tag = {one.metadata["tag"]: one for one in fields(entity) if "tag" in one.metadata}
    in_order = (one for one in fields(entity) if "tag" not in one.metadata)
    for one in ours:
        theirs = by_tag[one.tag] if version in one.tagged else next(in_order)
        yield one, theirs
    assert next(in_order, None) is None, f"kio has more fields in {entity.__name__}"


def inner_entity(annotation: Any) -> type[Any] | None:
    """The entity in an annotation: itself, or in a tuple, or either and None."""
    if isinstance(annotation, type) and is_dataclass(annotation):
        return annotation
    found = (inner_entity(one) for one in get_args(annotation))
    return next((one for one in found if one is not None), None)


def held(kafka_type: str, value: Any) -> Any:
    """A value of a type that kio can hold, near the one given."""
    if isinstance(value, list):
        return [held(kafka_type, one) for one in value]
    if kafka_type == "error_code":
        known = sorted(ErrorCode)
        return int(known[value % len(known)])
    if kafka_type in ("datetime_i64", "timedelta_i64"):
        return value % TIME_MS_MAX
    return value


@pytest.mark.parametrize(("name", "version"), sorted(PATHS))
def test_kio_reads_and_writes_ours(name: str, version: int) -> None:
    cls, entity = of_schema(name), resolve_name(PATHS[name, version])
    assert cls is not None, f"kio knows {name}"

    @settings(quick, max_examples=10)
    @given(st.randoms(use_true_random=True))
    def agree(random: Any) -> None:
        message: Message = filled(cls, version, random)
        bent(message, entity, version)
        ours = encode(message, version)
        theirs, size_bytes = entity_reader(entity)(ours, 0)
        assert (written(theirs), size_bytes) == (ours, len(ours)), f"{message} became {theirs}"

    agree()


@pytest.mark.parametrize(("name", "version"), NEWEST)
def test_we_read_and_write_kios(name: str, version: int) -> None:
    cls, entity = of_schema(name), resolve_name(PATHS[name, version])
    assert cls is not None, f"kio knows {name}"

    @settings(quick, max_examples=5)
    @given(st.from_type(entity))
    def agree(theirs: Any) -> None:
        data = written(theirs)
        message = decode(cls, data, version)
        assert encode(message, version) == data, f"{theirs} became {message}"

    agree()


def test_what_kio_lacks_is_known() -> None:
    """A release of kio that knows more should be compared in more."""
    newest = {name: max(cls.versions) for name, cls in declared().items() if cls.api_key >= 0}
    lacking = {
        name.removesuffix("Request"): version
        for name, version in newest.items()
        if name.endswith("Request") and (name, version) not in PATHS
    }
    assert lacking == LACKING
