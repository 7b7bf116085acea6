"""Control batches: what their keys say, and the end of a transaction as bytes.

The values of the other types are messages of their own; here they are only carried.
"""

from collections.abc import Sequence
from enum import IntEnum
from struct import Struct
from typing import Final, NamedTuple

from ottla.kernels.faults import InvalidValue, Truncated
from ottla.records.builder import BatchOptions, Row, write_batch
from ottla.wire.fields import Buffer

_KEY: Final = Struct(">hh")
_MARKER: Final = Struct(">hi")


class ControlType(IntEnum):
    """What a control record is for."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


class ControlKey(NamedTuple):
    """A control record's key; later versions may add bytes, and a type may be unknown."""

    version: int
    type: int

    @classmethod
    def parse(cls, key: Buffer | None) -> "ControlKey":
        """Read a key of this or a later version."""
        if key is None or len(key) < _KEY.size:
            raise Truncated("a control record's key has 4 bytes at least", 0)
        found = cls._make(_KEY.unpack_from(key))
        if found.version < 0:
            raise InvalidValue(f"control key of version {found.version}", 0)
        return found


class EndMarker(NamedTuple):
    """The value of a commit or an abort."""

    version: int
    coordinator_epoch: int

    @classmethod
    def parse(cls, value: Buffer | None) -> "EndMarker":
        """Read a value of this or a later version."""
        if value is None or len(value) < _MARKER.size:
            raise Truncated("an end marker has 6 bytes at least", 0)
        found = cls._make(_MARKER.unpack_from(value))
        if found.version < 0:
            raise InvalidValue(f"end marker of version {found.version}", 0)
        return found


def write_control_batch(
    entries: Sequence[tuple[int, bytes]], timestamp: int, options: BatchOptions
) -> bytearray:
    """Write control records of (type, value); `options` must say that they are."""
    assert options.is_control, "a control batch has its bit set"
    rows: list[Row] = [
        (options.base_offset + index, timestamp, _KEY.pack(0, type_), value, ())
        for index, (type_, value) in enumerate(entries)
    ]
    return write_batch(rows, options)


def write_end_marker(
    *,
    is_commit: bool,
    producer: tuple[int, int],
    coordinator_epoch: int,
    timestamp: int,
    partition_leader_epoch: int = -1,
    base_offset: int = 0,
) -> bytearray:
    """Write the batch that ends a transaction in a partition; `producer` is its id and epoch."""
    options = BatchOptions(
        base_offset=base_offset,
        partition_leader_epoch=partition_leader_epoch,
        producer_id=producer[0],
        producer_epoch=producer[1],
        is_transactional=True,
        is_control=True,
    )
    type_ = ControlType.COMMIT if is_commit else ControlType.ABORT
    return write_control_batch([(type_, _MARKER.pack(0, coordinator_epoch))], timestamp, options)
