"""The batches that a leader writes."""

from typing import TYPE_CHECKING

from ottla.api.control_records import (
    ControlType,
    KRaftVersionRecord,
    LeaderChangeMessage,
    write_quorum_record,
)
from ottla.kernels.faults import Unencodable
from ottla.records.builder import BatchBuilder, BatchOptions
from ottla.records.control import write_control_batch

if TYPE_CHECKING:
    from ottla.core.quorum.leader import Leader
    from ottla.core.quorum.machine import Quorum
    from ottla.core.quorum.voters import VoterSet

LEADER_CHANGE_VERSION = 0


def write_values(
    values: list[bytes], base_offset: int, epoch: int, timestamp: int, bytes_max: int
) -> bytearray:
    """One batch of records that have no keys."""
    options = BatchOptions(base_offset=base_offset, partition_leader_epoch=epoch)
    builder = BatchBuilder(options, bytes_max)
    for value in values:
        if not builder.append(timestamp, None, value):
            raise Unencodable(f"{len(values)} records do not fit a batch of {bytes_max} bytes")
    return builder.build()


def start_of_epoch(quorum: "Quorum", leader: "Leader") -> bytearray:
    """Who leads and was elected by whom; and the voters, if the log does not name them rightly."""
    voters = quorum.history.voters
    named = LeaderChangeMessage.Voter
    record = LeaderChangeMessage(
        version=LEADER_CHANGE_VERSION,
        leader_id=quorum.options.key.id,
        voters=[named(voter_id=id_) for id_ in voters.ids],
        granting_voters=[named(voter_id=id_) for id_ in sorted(leader.ballot.granted)],
    )
    entries = [(int(ControlType.LEADER_CHANGE), write_quorum_record(record))]
    own = quorum.options.voter
    is_formatted_only = quorum.history.voters_offset == -1
    if quorum.history.kraft_version > 0 and (is_formatted_only or voters.needs_update(own)):
        updated = voters.updating(own)
        assert updated is not None, "a leader is a voter when it is elected"
        version = KRaftVersionRecord(version=0, kraft_version=quorum.history.kraft_version)
        entries.append((int(ControlType.KRAFT_VERSION), write_quorum_record(version)))
        entries.append((int(ControlType.VOTERS), write_quorum_record(updated.to_record())))
    return write_control(quorum, entries)


def write_control(quorum: "Quorum", entries: list[tuple[int, bytes]]) -> bytearray:
    """A control batch at the end of the log."""
    options = BatchOptions(
        base_offset=quorum.log.end_offset,
        partition_leader_epoch=quorum.epoch,
        is_control=True,
    )
    return write_control_batch(entries, quorum.wall_ms, options)


def write_voters(quorum: "Quorum", voters: "VoterSet") -> bytearray:
    """The voters from here on."""
    return write_control(
        quorum, [(int(ControlType.VOTERS), write_quorum_record(voters.to_record()))]
    )
