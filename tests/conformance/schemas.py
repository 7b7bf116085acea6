"""Kafka's published schemas, read out of its jars and put into the form of our own declarations.

We serve what 3.9 serves and what 4.4 serves, so a message is the union of both. The rule: it has
the versions of both, but not one that 3.9 calls unstable. A field that 4.4 has is as 4.4 says; a
field that only 3.9 has is there in the versions that 4.4 dropped, and in no other. Versions are
compared within the versions of what holds the field, since it cannot occur in others.
"""

import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ottla.wire.versions import NO_VERSIONS, VersionRange

Json = dict[str, Any]

NEW_JAR: Final = "kafka-clients-4.4.0.jar"
OLD_JAR: Final = "kafka-clients-3.9.2.jar"
RECORD_JARS: Final = (
    "kafka-metadata-4.3.1.jar",
    "kafka-group-coordinator-4.3.1.jar",
    "kafka-transaction-coordinator-4.3.1.jar",
    "kafka-share-coordinator-4.3.1.jar",
    "kafka-storage-4.3.1.jar",
)

UNSERVED: Final = {
    "RequestHeader": "Version 0 was only before ControlledShutdown 0, of the time of ZooKeeper.",
}
"""Messages whose oldest versions in 3.9 we leave out."""

# Strings are matched first, so that no comment begins within one.
_STRING_OR_COMMENT: Final = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*')
_ZEROS: Final = {
    "bool": False, "string": "", "bytes": b"", "records": b"", "uuid": bytes(16), "float64": 0.0,
    "array": [],
}  # fmt: skip
BLANK: Final = "blank"
"""Stands for the default of a struct that cannot be null."""


@dataclass(frozen=True)
class FieldFacts:
    """All that matters of a field; two that are equal look the same on the wire."""

    path: str
    kind: str
    element: str | None
    versions: VersionRange
    nullable: VersionRange
    tag: int
    tagged: VersionRange
    ignorable: bool
    flexible: bool
    required: bool
    default: object


@dataclass(frozen=True)
class Schema:
    """A message as Kafka declares it."""

    name: str
    key: int
    versions: VersionRange
    flexible: VersionRange
    fields: tuple[FieldFacts, ...]
    listeners: tuple[str, ...]
    latest_is_unstable: bool


def published(folder: Path) -> Iterator[Schema]:
    """Every schema of the jars that has versions, in the union of both releases."""
    old = {schema["name"]: schema for schema in _read(folder / OLD_JAR)}
    unstable = {one["apiKey"] for one in old.values() if one.get("latestVersionUnstable")}
    for schema in _read(folder / NEW_JAR):
        if schema["validVersions"] != "none":
            yield _united(schema, _served(old.get(schema["name"]), unstable))
    for jar in RECORD_JARS:
        for schema in _read(folder / jar):
            yield _schema(schema, VersionRange.parse(schema["validVersions"]))


def snake(name: str) -> str:
    """The one rule for names: an underscore before a capital after a small letter or a digit."""
    return re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _read(jar: Path) -> Iterator[Json]:
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if re.search(r"(^|/)(message|metadata)/\w+\.json$", name):
                text = archive.read(name).decode()
                yield json.loads(_STRING_OR_COMMENT.sub(lambda found: found[1] or "", text))


def _served(old: Json | None, unstable: set[int]) -> tuple[Json, VersionRange] | None:
    """What 3.9 really serves of a message: a request says for both that the latest is unstable."""
    if old is None or old["name"] in UNSERVED:
        return None
    versions = VersionRange.parse(old["validVersions"])
    if old.get("apiKey") in unstable:
        versions = VersionRange(versions.first, versions.last - 1)
    return (old, versions) if versions else None


def _united(new: Json, before: tuple[Json, VersionRange] | None) -> Schema:
    served = VersionRange.parse(new["validVersions"])
    if before is None:
        return _schema(new, served)
    old, versions = before
    dropped = VersionRange(versions.first, served.first - 1)
    if not dropped:
        return _schema(new, served)
    fields = _with_dropped(new["fields"], old["fields"], dropped)
    return _schema({**new, "fields": fields}, VersionRange(versions.first, served.last))


def _with_dropped(new: list[Json], old: list[Json], dropped: VersionRange) -> list[Json]:
    """The newer fields, and each older one that is gone behind the one that it stood behind."""
    fields = [dict(field) for field in new]
    for place, field in enumerate(old):
        names = [one["name"] for one in fields]
        if field["name"] in names:
            same = fields[names.index(field["name"])]
            if "fields" in same and "fields" in field:
                same["fields"] = _with_dropped(same["fields"], field["fields"], dropped)
        elif versions := VersionRange.parse(field["versions"]) & dropped:
            before = [names.index(one["name"]) + 1 for one in old[:place] if one["name"] in names]
            fields.insert(max(before, default=0), {**field, "versions": str(versions)})
    return fields


def _schema(schema: Json, versions: VersionRange) -> Schema:
    common = {struct["name"]: struct["fields"] for struct in schema.get("commonStructs", [])}
    return Schema(
        schema["name"],
        schema.get("apiKey", -1),
        versions,
        VersionRange.parse(schema["flexibleVersions"]) & versions,
        tuple(_facts(schema["fields"], versions, common, "")),
        tuple(sorted(schema.get("listeners", ()))),
        schema.get("latestVersionUnstable", False),
    )


def _facts(
    fields: list[Json], within: VersionRange, common: dict[str, list[Json]], path: str
) -> Iterator[FieldFacts]:
    for field in fields:
        # A tagged field of the internal records may say its versions only as tagged ones.
        versions = _range(field.get("versions", field.get("taggedVersions"))) & within
        if not versions:
            continue
        name = path + snake(field["name"])
        kind, element = _kinds(field["type"])
        tagged = _range(field.get("taggedVersions")) & versions
        said = "default" in field and field["default"] is not None
        required = not said and versions == within and not tagged
        yield FieldFacts(
            name,
            kind,
            element,
            versions,
            (_range(field.get("nullableVersions")) & versions) or NO_VERSIONS,
            field.get("tag", -1),
            tagged or NO_VERSIONS,
            field.get("ignorable", False),
            field.get("flexibleVersions") != "none",
            required,
            None if required else _default(kind, field.get("default")),
        )
        inner = field.get("fields") or common.get(field["type"].removeprefix("[]"))
        if inner:
            yield from _facts(inner, versions, common, f"{name}.")


def _range(text: str | None) -> VersionRange:
    return VersionRange.parse(text) if text else NO_VERSIONS


def _kinds(type_: str) -> tuple[str, str | None]:
    if type_.startswith("[]"):
        return "array", _kinds(type_[2:])[0]
    return ("struct" if type_[0].isupper() else type_), None


def _default(kind: str, said: object) -> object:
    """The default said, or the zero of the type; a null without quotes says nothing."""
    if said == "null":
        return None
    if said is None:
        return BLANK if kind == "struct" else _ZEROS.get(kind, 0)
    if kind == "bool":
        return str(said).lower() == "true"
    return said if kind == "string" else int(str(said), 0)
