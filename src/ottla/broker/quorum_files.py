"""The small files of the quorum: `quorum-state`, and what formatting a directory leaves."""

from collections.abc import Sequence
from typing import NamedTuple

from ottla.api.control_records import KRaftVersionRecord, QuorumRecord
from ottla.api.framed_records import read_framed, write_framed
from ottla.api.metadata_records import METADATA_RECORDS
from ottla.broker.quorum_log import FOLDER
from ottla.core.quorum.effects import StoreElection
from ottla.core.quorum.election import Election
from ottla.core.quorum.voters import ReplicaKey, VoterSet
from ottla.ports import Disk
from ottla.records.batch import CONTROL_BIT, batch_at
from ottla.records.reader import read_records
from ottla.records.scan import scan
from ottla.storage.directory import format_directory
from ottla.storage.file_names import BOOTSTRAP_CHECKPOINT, BOOTSTRAP_SNAPSHOT, QUORUM_STATE
from ottla.storage.meta_properties import MetaProperties
from ottla.storage.metadata_snapshots import SnapshotContent, write_snapshot_file
from ottla.storage.quorum_state import QuorumState, format_quorum_state, parse_quorum_state
from ottla.storage.small_files import read_file, replace_file
from ottla.wire.fields import NO_ID, Message

Versioned = tuple[Message, int]


class ElectionWrite(NamedTuple):
    """The job that `StoreElection` asks for."""

    disk: Disk
    folder: str
    effect: StoreElection

    def run(self) -> None:
        """Do it; any thread may."""
        content = format_quorum_state(_state_of(self.effect))
        replace_file(self.disk, f"{self.folder}/{QUORUM_STATE}", content)


def _state_of(effect: StoreElection) -> QuorumState:
    epoch, leader_id, voted = effect.election
    leader = -1 if leader_id is None else leader_id
    if effect.kraft_version == 0:
        return QuorumState(
            version=0,
            leader_id=leader,
            leader_epoch=epoch,
            voted_id=voted.id if voted else -1,
            current_voters=effect.voters.ids,
        )
    return QuorumState(
        version=1,
        leader_id=leader,
        leader_epoch=epoch,
        voted_id=voted.id if voted else -1,
        voted_directory_id=voted.directory_id if voted else NO_ID,
    )


def read_election(disk: Disk, folder: str) -> Election:
    """What a replica must not have forgotten; nothing at its first start."""
    state = read_file(disk, f"{folder}/{QUORUM_STATE}", parse_quorum_state)
    if state is None:
        return Election()
    voted = ReplicaKey(state.voted_id, state.voted_directory_id) if state.voted_id >= 0 else None
    leader_id = state.leader_id if state.leader_id >= 0 else None
    return Election(state.leader_epoch, leader_id, voted)


class Formatting(NamedTuple):
    """What a directory of metadata is formatted with."""

    meta: MetaProperties
    bootstrap: Sequence[Versioned]
    """The first records of a new cluster, with their versions."""
    voters: VoterSet | None
    """The first voters, where the log is to name them (kraft.version 1)."""


def format_metadata_directory(
    disk: Disk, path: str, formatting: Formatting, written_ms: int
) -> None:
    """Make a directory the place of a new cluster's metadata; the folder above must be there."""
    disk.make_folder(path)
    values = [write_framed(record, version) for record, version in formatting.bootstrap]
    content = SnapshotContent(values, 0, written_ms, written_ms)
    write_snapshot_file(disk, f"{path}/{BOOTSTRAP_CHECKPOINT}", content)
    if formatting.voters is not None:
        disk.make_folder(f"{path}/{FOLDER}")
        control: list[QuorumRecord] = [
            KRaftVersionRecord(version=0, kraft_version=1),
            formatting.voters.to_record(),
        ]
        content = SnapshotContent((), 0, written_ms, written_ms, control)
        name = f"{path}/{FOLDER}/{BOOTSTRAP_SNAPSHOT.name}"
        write_snapshot_file(disk, name, content)
        disk.sync_folder(path)
    format_directory(disk, path, formatting.meta, written_ms)


def read_bootstrap(disk: Disk, path: str) -> list[Versioned]:
    """The first records of a new cluster; none if the file is not there."""
    return read_file(disk, f"{path}/{BOOTSTRAP_CHECKPOINT}", metadata_records) or []


def metadata_records(data: bytes) -> list[Versioned]:
    """The records in some batches of the metadata log or of a snapshot, with their versions."""
    found: list[Versioned] = []
    position = 0
    while position < len(data):
        part = scan(data, position)
        for row in part.rows:
            if not row.attributes & CONTROL_BIT:
                batch = batch_at(data, row.position)
                found += [
                    read_framed(METADATA_RECORDS, record.value)
                    for record in read_records(batch, len(batch))
                ]
        if not part.rows:
            break
        position = part.end_position
    return found
