"""`meta.properties`: to which cluster and node a log directory belongs, and its own id.

Version 1 has `node.id` and `cluster.id`. Version 0, of the time of ZooKeeper, calls the first one
`broker.id`, and has neither of them before the node's first start.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from ottla.config import properties
from ottla.config.faults import MalformedProperties
from ottla.kernels.faults import InvalidValue, Unencodable
from ottla.storage.text_lines import MalformedLine, number_of, shown
from ottla.wire.fields import Uuid
from ottla.wire.uuids import uuid_of_text, uuid_text

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip
# Java takes these away around the version, but not around the other numbers.
_TRIMMED: Final = "".join(map(chr, range(ord(" ") + 1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaProperties:
    """What the file says; None is what it does not say."""

    cluster_id: str | None = None
    node_id: int | None = None
    directory_id: Uuid | None = None
    version: int = 1


def parse_meta_properties(content: bytes) -> MetaProperties:
    """Read the file."""
    try:
        found = {e.key: e for e in properties.entries(content.decode("latin-1"))}
    except MalformedProperties as fault:
        raise MalformedLine(fault.reason, fault.line) from None
    version = _version(found)
    cluster_id = found.get("cluster.id")
    directory_id = found.get("directory.id")
    meta = MetaProperties(
        version=version,
        cluster_id=cluster_id.value if cluster_id else None,
        node_id=_number(found.get(_id_name(version))),
        directory_id=_uuid(directory_id) if directory_id else None,
    )
    if reason := _why_incomplete(meta):
        raise InvalidValue(reason)
    return meta


def format_meta_properties(meta: MetaProperties, written_ms: int) -> bytes:
    """Write the file, in the order in which Kafka's keys come; the time stands in a comment."""
    if reason := _why_incomplete(meta):
        raise Unencodable(reason)
    values = {
        _id_name(meta.version): None if meta.node_id is None else str(meta.node_id),
        "directory.id": None if meta.directory_id is None else uuid_text(meta.directory_id),
        "version": str(meta.version),
        "cluster.id": meta.cluster_id,
    }
    said = {key: value for key, value in values.items() if value is not None}
    return properties.dump(said, f"\n{_date(written_ms)}")


def _id_name(version: int) -> str:
    return "node.id" if version else "broker.id"


def _version(found: dict[str, properties.Entry]) -> int:
    entry = found.get("version")
    if entry is None:
        return 0
    version = number_of(entry.value.strip(_TRIMMED), entry.line, "the version")
    if version not in (0, 1):
        raise MalformedLine(f"version {version} is unknown, only 0 and 1 are read", entry.line)
    return version


def _number(entry: properties.Entry | None) -> int | None:
    return None if entry is None else number_of(entry.value, entry.line, entry.key)


def _uuid(entry: properties.Entry) -> Uuid:
    try:
        return uuid_of_text(entry.value)
    except InvalidValue:
        raise MalformedLine(f"{entry.key} is no id: {shown(entry.value)}", entry.line) from None


def _why_incomplete(meta: MetaProperties) -> str | None:
    if meta.version == 0:
        return None
    if meta.cluster_id is None:
        return "version 1 needs cluster.id"
    return "version 1 needs node.id" if meta.node_id is None else None


def _date(time_ms: int) -> str:
    """A time as Java shows it, whatever the language of the machine is."""
    time = datetime.fromtimestamp(time_ms // 1000, UTC)
    day = f"{_DAYS[time.weekday()]} {_MONTHS[time.month - 1]} {time.day:02}"
    return f"{day} {time:%H:%M:%S} UTC {time.year}"
