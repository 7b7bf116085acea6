"""Control records: what stands in a log between the records of users."""

from ottla.wire.fields import NO_ID, Message, Struct, Uuid, field, int16, int32, int64, uint16


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
