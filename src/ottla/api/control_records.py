"""Control records: what stands in a log between the records of users.

A key says the type; the records of the metadata quorum say their version in their first field, the
end of a transaction in two bytes before it.
"""

from enum import IntEnum
from typing import Final, TypeAlias

from ottla.api.version_prefixed import number_of, read_prefixed, read_whole, write_prefixed
from ottla.kernels.faults import InvalidValue
from ottla.wire.codec import encode
from ottla.wire.fields import (
    NO_ID,
    Buffer,
    Message,
    Struct,
    Uuid,
    field,
    int16,
    int32,
    int64,
    uint16,
)


class ControlRecordType(Message, versions="0"):
    """The key of every control record."""

    # 0 abort, 1 commit, 2 leader change, 3 snapshot header, 4 snapshot footer, 5 kraft version, 6
    # voters.
    type: int16


class EndTxnMarker(Message, versions="0"):
    """The end of a transaction in a partition, committed or aborted as its key says."""

    coordinator_epoch: int32  # The epoch of the coordinator that ended the transaction.


class LeaderChangeMessage(Message, versions="0-1", flexible="0+"):
    """A new leader of the metadata quorum.

    Versions: 1 directory ids of the voters.
    """

    class Voter(Struct):
        voter_id: int32
        voter_directory_id: Uuid = field("1+", default=NO_ID)

    version: int16
    leader_id: int32
    voters: list[Voter]
    granting_voters: list[Voter]


class SnapshotHeaderRecord(Message, versions="0", flexible="0+"):
    """The first record of a snapshot."""

    version: int16
    last_contained_log_timestamp: int64


class SnapshotFooterRecord(Message, versions="0", flexible="0+"):
    """The last record of a snapshot."""

    version: int16


class KRaftVersionRecord(Message, versions="0", flexible="0+"):
    """The level of the quorum's own protocol."""

    version: int16
    kraft_version: int16


class VotersRecord(Message, versions="0", flexible="0+"):
    """The voters of the metadata quorum from here on."""

    class Voter(Struct):
        class Endpoint(Struct):
            name: str
            host: str
            port: uint16

        class KRaftVersionFeature(Struct):
            min_supported_version: int16
            max_supported_version: int16

        voter_id: int32
        voter_directory_id: Uuid
        endpoints: list[Endpoint]
        kraft_version_feature: KRaftVersionFeature

    version: int16
    voters: list[Voter]


class ControlType(IntEnum):
    """What a control record says."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    VOTERS = 6


QuorumRecord: TypeAlias = (
    LeaderChangeMessage
    | SnapshotHeaderRecord
    | SnapshotFooterRecord
    | KRaftVersionRecord
    | VotersRecord
)

QUORUM_RECORDS: Final[dict[ControlType, type[QuorumRecord]]] = {
    ControlType.LEADER_CHANGE: LeaderChangeMessage,
    ControlType.SNAPSHOT_HEADER: SnapshotHeaderRecord,
    ControlType.SNAPSHOT_FOOTER: SnapshotFooterRecord,
    ControlType.KRAFT_VERSION: KRaftVersionRecord,
    ControlType.VOTERS: VotersRecord,
}
"""The classes of the records of the metadata quorum, by type."""


def write_control_key(type_: ControlType) -> bytes:
    """Write the key of a control record."""
    return write_prefixed(ControlRecordType(type=type_), 0)


def read_control_key(key: Buffer) -> int:
    """Read the type in a key; one that is no `ControlType` is newer, and its record is skipped."""
    return read_prefixed(ControlRecordType, key, newer_as_newest=True)[0].type


def write_end_of_transaction(coordinator_epoch: int) -> bytes:
    """Write the value of a record that commits or aborts."""
    return write_prefixed(EndTxnMarker(coordinator_epoch=coordinator_epoch), 0)


def read_end_of_transaction(value: Buffer) -> int:
    """Read the epoch of the coordinator that ended a transaction."""
    return read_prefixed(EndTxnMarker, value, newer_as_newest=True)[0].coordinator_epoch


def write_quorum_record(record: QuorumRecord) -> bytes:
    """Write the value of a record of the metadata quorum, in the version that it names."""
    return encode(record, record.version)


def read_quorum_record(type_: ControlType, value: Buffer) -> QuorumRecord:
    """Read the value of a record of the metadata quorum, in the version that it names."""
    cls = QUORUM_RECORDS[type_]
    version = number_of(value, cls.__name__)
    if version not in cls.versions:
        raise InvalidValue(f"{cls.__name__} has versions {cls.versions}, not {version}", 0)
    return read_whole(cls, value, version, 0)
