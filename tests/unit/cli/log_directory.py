"""A log directory in which every kind of file is right, made of nothing but bytes.

It is written from the layouts of files and not by what writes logs, so that neither can hide a
fault of the other.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ottla.api.control_records import (
    ControlType,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    write_quorum_record,
)
from ottla.api.coordinator_records import write_record
from ottla.api.framed_records import write_framed
from ottla.api.group_records import OffsetCommitKey, OffsetCommitValue
from ottla.api.metadata_records import ConfigRecord, TopicRecord, UserScramCredentialRecord
from ottla.api.partition_files import ProducerSnapshot
from ottla.records.builder import BatchOptions, Row, write_batch
from ottla.records.control import write_control_batch, write_end_marker
from ottla.records.message_set import write_message_set
from ottla.records.scan import scan
from ottla.storage.checkpoints import EpochEntry, format_epochs, format_offsets
from ottla.storage.clean_shutdown import format_clean_shutdown
from ottla.storage.meta_properties import MetaProperties, format_meta_properties
from ottla.storage.offset_index import LAYOUT as INDEX
from ottla.storage.partition_metadata import format_partition_metadata
from ottla.storage.producer_snapshot import format_producer_snapshot
from ottla.storage.quorum_state import QuorumState, format_quorum_state
from ottla.storage.time_index import LAYOUT as TIME_INDEX
from ottla.storage.transaction_index import LAYOUT as TXN_INDEX
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition

T: Final = 1_700_000_000_000
TOPIC_ID: Final = Uuid(bytes(range(1, 17)))
PRODUCER: Final = (4000, 2)


@dataclass
class Segment:
    """The batches of a segment and what its indexes should say: an entry before each third."""

    base_offset: int
    batches: list[bytes]
    aborted: list[tuple[int, int, int, int]] = field(default_factory=list)

    def write(self, folder: Path) -> None:
        """Write its files."""
        stem = folder / f"{self.base_offset:020}"
        data = b"".join(self.batches)
        stem.with_suffix(".log").write_bytes(data)
        index, times = b"", b""
        latest = (-1, 0)
        for number, row in enumerate(scan(data).rows):
            relative = row.last_offset - self.base_offset
            latest = max(latest, (row.max_timestamp, relative), key=lambda pair: pair[0])
            if number % 3 == 2:
                index += INDEX.pack(relative, row.position)
                if latest[0] > (TIME_INDEX.unpack(times[-12:])[0] if times else -1):
                    times += TIME_INDEX.pack(*latest)
        if latest[0] > (TIME_INDEX.unpack(times[-12:])[0] if times else -1):
            times += TIME_INDEX.pack(*latest)
        stem.with_suffix(".index").write_bytes(index)
        stem.with_suffix(".timeindex").write_bytes(times)
        if self.aborted:
            entries = b"".join(TXN_INDEX.pack(0, *entry) for entry in self.aborted)
            stem.with_suffix(".txnindex").write_bytes(entries)


def rows(offset: int, count: int, at_ms: int = 0) -> list[Row]:
    """Records whose key and value say their offset."""
    return [
        (
            offset + index,
            T + at_ms + index,
            b"key-%d" % ((offset + index) % 4),
            b'{"order":{"id":%d},"note":"n\xc3\xa4chste"}' % (offset + index),
            [("trace", b"t%d" % (offset + index))] if (offset + index) % 5 == 0 else [],
        )
        for index in range(count)
    ]


def plain(offset: int, count: int, codec: int = 0, epoch: int = 0, at_ms: int = -1) -> bytes:
    """A batch of nobody; its times follow its offsets."""
    options = BatchOptions(base_offset=offset, codec=codec, partition_leader_epoch=epoch)
    return bytes(write_batch(rows(offset, count, offset * 1000 if at_ms < 0 else at_ms), options))


def transactional(offset: int, count: int, sequence: int) -> bytes:
    """A batch within a transaction of the producer."""
    options = BatchOptions(
        base_offset=offset,
        partition_leader_epoch=1,
        producer_id=PRODUCER[0],
        producer_epoch=PRODUCER[1],
        base_sequence=sequence,
        is_transactional=True,
    )
    return bytes(write_batch(rows(offset, count, offset * 1000), options))


def marker(offset: int, *, is_commit: bool, epoch: int = 1) -> bytes:
    """The end of the producer's transaction."""
    return bytes(
        write_end_marker(
            is_commit=is_commit,
            producer=PRODUCER,
            coordinator_epoch=7,
            timestamp=T + offset * 1000,
            partition_leader_epoch=epoch,
            base_offset=offset,
        )
    )


FIRST: Final = Segment(
    0,
    [
        plain(0, 3),
        plain(3, 2, codec=1),
        transactional(5, 2, 0),
        marker(7, is_commit=False),
        transactional(8, 1, 2),
        marker(9, is_commit=True),
    ],
    [(PRODUCER[0], 5, 7, 8)],
)
SECOND: Final = Segment(
    10, [plain(10, 1, codec=4, epoch=1), transactional(11, 2, 3), plain(13, 2, epoch=3)]
)


def snapshot(last_sequence: int, last_offset: int, delta: int, time: int, begun: int) -> bytes:
    """A producer snapshot with the one producer."""
    entry = ProducerSnapshot.ProducerEntry(
        producer_id=PRODUCER[0],
        epoch=PRODUCER[1],
        last_sequence=last_sequence,
        last_offset=last_offset,
        offset_delta=delta,
        timestamp=time,
        coordinator_epoch=7,
        current_txn_first_offset=begun,
    )
    return format_producer_snapshot([entry])


def write_orders(folder: Path) -> None:
    """A partition with transactions, one of them open, three epochs and two segments."""
    folder.mkdir()
    FIRST.write(folder)
    SECOND.write(folder)
    (folder / f"{10:020}.snapshot").write_bytes(snapshot(2, 8, 0, T + 9000, -1))
    (folder / f"{15:020}.snapshot").write_bytes(snapshot(4, 12, 1, T + 11_001, 11))
    epochs = [EpochEntry(0, 0), EpochEntry(1, 5), EpochEntry(3, 13)]
    (folder / "leader-epoch-checkpoint").write_bytes(format_epochs(epochs))
    (folder / "partition.metadata").write_bytes(format_partition_metadata(TOPIC_ID))


def write_old(folder: Path) -> None:
    """A partition of before Kafka 0.11, with a wrapper of magic 1 behind a message of magic 0."""
    folder.mkdir()
    batches = [
        write_message_set(0, 0, [(0, -1, None, b"oldest")]),
        write_message_set(1, 1, [(n, T + n, b"k%d" % n, b"v%d" % n) for n in (1, 2, 3)]),
    ]
    Segment(0, batches).write(folder)


def write_offsets(folder: Path) -> None:
    """A partition of the topic in which groups keep their offsets: a commit and its removal."""
    folder.mkdir()
    key = OffsetCommitKey(group="billing", topic="orders", partition=0)
    value = OffsetCommitValue(offset=15, metadata="", commit_timestamp=T)
    commit, removal = write_record(key, value, 3), write_record(key, None)
    pairs = [(0, T, *commit, ()), (1, T + 1, *removal, ())]
    Segment(0, [bytes(write_batch(pairs, BatchOptions(partition_leader_epoch=0)))]).write(folder)
    (folder / "leader-epoch-checkpoint").write_bytes(format_epochs([EpochEntry(0, 0)]))
    (folder / "partition.metadata").write_bytes(format_partition_metadata(Uuid(bytes(15) + b"\7")))


def write_metadata(folder: Path) -> None:
    """The metadata log, its quorum's state, and a snapshot with its two control records."""
    folder.mkdir()
    topic = TopicRecord(name="orders", topic_id=TOPIC_ID)
    secret = ConfigRecord(
        resource_type=4, resource_name="1", name="ssl.keystore.password", value="hunter2"
    )
    user = UserScramCredentialRecord(
        name="ann", mechanism=1, salt=b"salt", stored_key=b"s", server_key=b"k", iterations=4096
    )
    framed = [(write_framed(record, 0)) for record in (topic, secret, user)]
    values: list[Row] = [(n, T + n, None, value, ()) for n, value in enumerate(framed)]
    Segment(0, [bytes(write_batch(values, BatchOptions(partition_leader_epoch=1)))]).write(folder)
    header = SnapshotHeaderRecord(version=0, last_contained_log_timestamp=T)
    control = BatchOptions(is_control=True, partition_leader_epoch=1)
    records = [(ControlType.SNAPSHOT_HEADER, write_quorum_record(header))]
    first = write_control_batch(records, T, control)
    rest = write_batch([(1, T, None, framed[0], ())], BatchOptions(base_offset=1))
    footer = [(ControlType.SNAPSHOT_FOOTER, write_quorum_record(SnapshotFooterRecord(version=0)))]
    last = write_control_batch(
        footer, T, BatchOptions(base_offset=2, is_control=True, partition_leader_epoch=1)
    )
    (folder / f"{3:020}-{1:010}.checkpoint").write_bytes(bytes(first + rest + last))
    state = QuorumState(leader_id=1, leader_epoch=1, voted_id=1)
    (folder / "quorum-state").write_bytes(format_quorum_state(state))
    (folder / "leader-epoch-checkpoint").write_bytes(format_epochs([EpochEntry(1, 0)]))
    (folder / "partition.metadata").write_bytes(format_partition_metadata(Uuid(bytes(15) + b"\1")))


def write_directory(folder: Path) -> Path:
    """A log directory with all of them."""
    folder.mkdir()
    write_orders(folder / "orders-0")
    write_old(folder / "old-2")
    write_offsets(folder / "__consumer_offsets-12")
    write_metadata(folder / "__cluster_metadata-0")
    meta = MetaProperties(cluster_id="c1", node_id=1, directory_id=TOPIC_ID)
    (folder / "meta.properties").write_bytes(format_meta_properties(meta, T))
    (folder / ".kafka_cleanshutdown").write_bytes(format_clean_shutdown(42))
    (folder / ".lock").write_bytes(b"")
    orders = TopicPartition("orders", 0)
    for name, offset in (
        ("replication-offset-checkpoint", 15),
        ("recovery-point-offset-checkpoint", 10),
        ("log-start-offset-checkpoint", 0),
    ):
        (folder / name).write_bytes(format_offsets({orders: offset}))
    return folder


def kill(folder: Path) -> None:
    """Leave a directory as a node does that was killed while it wrote a batch.

    Its orders-0 lacks what waited in memory, above a recovery point where its last segment begins.
    """
    (folder / ".kafka_cleanshutdown").unlink()
    for suffix in (".index", ".timeindex"):
        (folder / f"orders-0/{10:020}{suffix}").unlink()
    log = folder / f"orders-0/{10:020}.log"
    aborted, torn = marker(15, is_commit=False, epoch=3), plain(16, 5, epoch=3)[:60]
    log.write_bytes(log.read_bytes() + aborted + torn)
