"""A metadata log in memory that forgets what was not flushed when its replica crashes."""

from collections.abc import Iterable
from copy import deepcopy

from ottla.core.quorum.log import OffsetAndEpoch
from ottla.records.scan import BatchRow, scan
from ottla.wire.fields import Buffer


class MemoryLog:
    """What `QuorumLog` asks for. Batches are kept as they came."""

    def __init__(self) -> None:
        self.start_offset = self.end_offset = self.flushed_offset = 0
        self.batches: list[tuple[BatchRow, bytes]] = []
        self.snapshots: dict[OffsetAndEpoch, bytes] = {}
        self.parts: dict[OffsetAndEpoch, bytes] = {}

    @property
    def last_epoch(self) -> int:
        if self.batches:
            return self.batches[-1][0].partition_leader_epoch
        latest = self.latest_snapshot
        return latest.epoch if latest else 0

    @property
    def earliest_snapshot(self) -> OffsetAndEpoch | None:
        return min(self.snapshots, default=None)

    @property
    def latest_snapshot(self) -> OffsetAndEpoch | None:
        return max(self.snapshots, default=None)

    def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        """As `KafkaRaftLog` answers it, snapshots and all."""
        starts = self.epoch_starts()
        if not starts or epoch > starts[-1][0]:
            return OffsetAndEpoch(self.end_offset, self.last_epoch)
        if epoch == starts[-1][0]:
            return OffsetAndEpoch(self.end_offset, epoch)
        above = next(start for known, start in starts if known > epoch)
        below = [known for known, _ in starts if known <= epoch]
        earliest = self.earliest_snapshot
        if not below and earliest is not None and earliest.end_offset == above:
            return earliest
        return OffsetAndEpoch(above, below[-1] if below else epoch)

    def epoch_starts(self) -> list[tuple[int, int]]:
        starts: list[tuple[int, int]] = []
        for row, _ in self.batches:
            if not starts or starts[-1][0] < row.partition_leader_epoch:
                starts.append((row.partition_leader_epoch, max(row.base_offset, self.start_offset)))
        return starts

    def append(self, batches: Buffer) -> None:
        data = bytes(batches)
        for row in scan(data).rows:
            assert row.base_offset == self.end_offset, "no gaps"
            assert row.partition_leader_epoch >= self.last_epoch, "epochs rise"
            self.batches.append((row, data[row.position : row.position + row.size_bytes]))
            self.end_offset = row.last_offset + 1

    def read(self, offset: int, bytes_max: int) -> bytes:
        assert self.start_offset <= offset <= self.end_offset
        found = b""
        for row, data in self.batches:
            if row.last_offset >= offset:
                if found and len(found) + len(data) > bytes_max:
                    break
                found += data
        return found

    def truncate_to(self, end_offset: int) -> None:
        self.batches = [(row, data) for row, data in self.batches if row.last_offset < end_offset]
        self.end_offset = self.batches[-1][0].last_offset + 1 if self.batches else self.start_offset
        self.flushed_offset = min(self.flushed_offset, self.end_offset)

    def flush(self) -> None:
        self.flushed_offset = self.end_offset

    # Snapshots.

    def restart_at_snapshot(self) -> bool:
        latest = self.latest_snapshot
        if (
            latest is None
            or latest.is_up_to_date(OffsetAndEpoch(self.end_offset, self.last_epoch)) is False
        ):
            return False
        if latest.end_offset <= self.end_offset and latest.epoch <= self.last_epoch:
            return False
        self.batches = []
        self.start_offset = self.end_offset = self.flushed_offset = latest.end_offset
        self.snapshots = {latest: self.snapshots[latest]}
        return True

    def snapshot_bytes(self, id_: OffsetAndEpoch) -> int | None:
        found = self.snapshots.get(id_)
        return None if found is None else len(found)

    def read_snapshot(self, id_: OffsetAndEpoch, position: int, bytes_max: int) -> bytes:
        return self.snapshots[id_][position : position + bytes_max]

    def begin_snapshot(self, id_: OffsetAndEpoch) -> None:
        self.parts[id_] = b""

    def append_snapshot(self, id_: OffsetAndEpoch, piece: Buffer) -> None:
        self.parts[id_] += bytes(piece)

    def freeze(self, id_: OffsetAndEpoch) -> None:
        self.snapshots[id_] = self.parts.pop(id_)

    def keep_from(self, id_: OffsetAndEpoch) -> None:
        """Let the log begin at a snapshot of it."""
        assert id_ in self.snapshots
        self.start_offset = max(self.start_offset, id_.end_offset)
        self.batches = [b for b in self.batches if b[0].last_offset >= self.start_offset]
        self.snapshots = {known: d for known, d in self.snapshots.items() if known >= id_}

    def crashed(self) -> "MemoryLog":
        """What is left after a power cut."""
        left = deepcopy(self)
        left.parts = {}
        left.batches = [b for b in left.batches if b[0].last_offset < left.flushed_offset]
        left.end_offset = left.flushed_offset
        left.restart_at_snapshot()
        return left

    def records(self) -> Iterable[BatchRow]:
        return [row for row, _ in self.batches]
