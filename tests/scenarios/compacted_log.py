"""A log of drawn keys, tombstones, producers and transactions, to be cleaned and looked at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, Generic, NamedTuple, TypeVar

from ottla.broker.partition_history import PartitionHistory
from ottla.kernels.compaction import ENTRY_BYTES, OffsetMap
from ottla.ports import Disk
from ottla.records.batch import HEADER_BYTES, BatchHeader
from ottla.records.builder import BatchOptions, write_batch
from ottla.records.compression import decompress
from ottla.records.control import write_end_marker
from ottla.records.message_set import messages, write_message_set
from ottla.records.reader import Record, read_records
from ottla.records.scan import BatchRow, scan
from ottla.storage.cleaning.cleaning import Cleaning, clean
from ottla.storage.cleaning.pace import Pace, unhurried
from ottla.storage.cleaning.plan import plan_cleaning
from ottla.storage.handles import Handles
from ottla.storage.log import Log
from ottla.storage.log_options import LogOptions
from ottla.storage.recovery import Opening, open_log
from ottla.storage.segment import SegmentOptions
from ottla.wire.fields import Buffer

NOW_MS: Final = 1_700_000_000_000
LOAD_FACTOR: Final = 0.9
SECRET: Final = bytes(range(16))
OPTIONS: Final = LogOptions(
    segment=SegmentOptions(index_interval_bytes=300, index_bytes_max=4096),
    segment_bytes=4000,
    is_deleted=False,
    is_compacted=True,
    delete_retention_ms=5000,
)
INFLATED_BYTES_MAX: Final = 1 << 20
AnyDisk = TypeVar("AnyDisk", bound=Disk)


class Shown(NamedTuple):
    """A batch as a reader sees it; of a compressed one not how well it is compressed."""

    row: tuple[int, ...]
    section: bytes
    records: tuple[Record, ...]


def shown(data: bytes) -> list[Shown]:
    """All batches of a file; messages of magic 0 and 1 as they lie."""
    found: list[Shown] = []
    position = 0
    while position < len(data):
        rows = scan(data, position)
        for row in rows.rows:
            batch = data[row.position : row.position + row.size_bytes]
            if row.magic < 2:
                found.append(Shown(row._replace(position=0), batch, ()))
                continue
            codec = BatchHeader.parse(batch).codec
            section = batch[HEADER_BYTES:]
            if codec and section:
                section = decompress(codec, section, INFLATED_BYTES_MAX)
            records = tuple(read_records(batch, INFLATED_BYTES_MAX)) if section else ()
            fields = row._replace(position=0)
            if codec:
                fields = fields._replace(size_bytes=0, crc=0)
            found.append(Shown(fields, section, records))
        position = rows.end_position
    return found


@dataclass(slots=True)
class Kinds:
    """Which batches are drawn."""

    codecs: Sequence[int] = (0,)
    magics: Sequence[int] = (2,)
    keys: int = 12
    has_producers: bool = True


@dataclass(slots=True)
class Producer:
    """One that numbers its batches, and perhaps has a transaction open."""

    producer_id: int
    epoch: int = 0
    sequence: int = 0
    is_transactional: bool = False
    is_open: bool = False


@dataclass(slots=True)
class CompactedLog(Generic[AnyDisk]):
    """A log, and what it is drawn from."""

    disk: AnyDisk
    folder: str
    random: Random
    kinds: Kinds = field(default_factory=Kinds)
    options: LogOptions = OPTIONS
    now_ms: int = NOW_MS
    first_dirty_offset: int = 0
    recovery_point: int = 0
    log: Log = field(init=False)
    producers: list[Producer] = field(init=False)

    def __post_init__(self) -> None:
        self.producers = [Producer(one, is_transactional=one % 3 > 0) for one in range(1, 7)]
        self.open(is_clean=True)

    def open(self, *, is_clean: bool) -> None:
        """Open the log anew."""
        opening = Opening(self.now_ms, is_clean, 0, self.recovery_point)
        handles = Handles(self.disk, 8)
        self.log, findings = open_log(
            handles, self.folder, self.options, PartitionHistory(), opening
        )
        assert not findings.refused

    def close(self) -> None:
        """End cleanly."""
        self.log.close(self.now_ms)
        self.recovery_point = self.log.end_offset

    def grow(self, steps: int) -> None:
        """Append what is drawn."""
        for _ in range(steps):
            self.now_ms += self.random.choice((0, 1, 50))
            choices: list[tuple[int, Callable[[], bytes]]] = [(6, self._plain)]
            if self.kinds.has_producers:
                choices += [(6, self._produced), (3, self._marker)]
            weights = [weight for weight, _ in choices]
            data = self.random.choices([made for _, made in choices], weights)[0]()
            if data:
                self.log.append([(data, scan(data).rows)], self.now_ms)
            if self.random.random() < 0.03:
                self.log.roll(self.now_ms)
        if self.random.random() < 0.8:
            self.end_transactions()

    def end_transactions(self) -> None:
        """Decide all that is open, so that all but the active segment may be cleaned."""
        for producer in self.producers:
            if producer.is_open:
                data = self._marker_of(producer)
                self.log.append([(data, scan(data).rows)], self.now_ms)
        self.log.roll(self.now_ms)
        self.log.flush(self.now_ms)

    @property
    def last_stable_offset(self) -> int:
        """Before which all transactions are ended, while all of the log is safe."""
        history = self.log.history
        assert isinstance(history, PartitionHistory)
        end_offset = self.log.end_offset
        history.state.move_high_watermark(end_offset)
        return history.state.last_stable_offset(self.log.log_start_offset, end_offset)

    @property
    def upper_offset(self) -> int:
        """Where the first segment begins that may not be cleaned."""
        return self.log.segments.from_offset(self.last_stable_offset)[0].base_offset

    def planned(self, slots: int = 1000, pace: Pace = unhurried) -> Cleaning:
        """A cleaning of all that may be cleaned."""
        upper_offset = max(self.upper_offset, 0)
        self.log.flush(self.now_ms)
        plan = plan_cleaning(self.log, self.first_dirty_offset, upper_offset, self.now_ms)
        keys = OffsetMap(bytearray(slots * ENTRY_BYTES), SECRET, int(slots * LOAD_FACTOR))
        return Cleaning(plan, keys, pace)

    def clean(self, slots: int = 1000) -> Cleaning:
        """Clean, and remove what was replaced."""
        cleaning = self.planned(slots)
        for removal in clean(self.log, cleaning):
            removal.run()
        self.first_dirty_offset = cleaning.end_offset
        return cleaning

    def rows(self) -> list[BatchRow]:
        """All batches of the log."""
        return [row for segment in self.log.segments for run in segment.runs() for row in run.rows]

    def data(self) -> bytes:
        """The bytes of all batches, one after the other."""
        return b"".join(bytes(run.data) for segment in self.log.segments for run in segment.runs())

    def _rows(self) -> list[tuple[int, int, bytes | None, bytes | None]]:
        base, random = self.log.end_offset, self.random
        rows: list[tuple[int, int, bytes | None, bytes | None]] = []
        if random.random() < 0.05:
            base += random.randrange(1, 9)
        for at in range(random.choice((1, 1, 2, 3, 8))):
            key: bytes | None = b"key %d" % random.randrange(self.kinds.keys)
            if random.random() < 0.05:
                key = random.choice((None, b"", b"k" * 40))
            value = random.choice((b"", b"v" * random.randrange(60), b"%d" % (base + at)))
            timestamp = self.now_ms - random.choice((0, 0, 3, 2000))
            rows.append((base + at, timestamp, key, None if random.random() < 0.25 else value))
        return rows

    def _plain(self) -> bytes:
        rows = self._rows()
        magic = self.random.choice(self.kinds.magics)
        codec = self.random.choice(self.kinds.codecs)
        append_time = self.now_ms if self.random.random() < 0.2 else None
        if magic < 2:
            codec = codec if codec < 4 else 0
            return write_message_set(magic, codec, rows, append_time=append_time if magic else None)
        options = BatchOptions(
            base_offset=rows[0][0],
            partition_leader_epoch=rows[0][0] // 100,
            codec=codec,
            append_timestamp=append_time,
        )
        headers = [("name", b"value"), ("null", None)][: self.random.randrange(3)]
        return bytes(write_batch([(*row, headers) for row in rows], options))

    def _produced(self) -> bytes:
        rows = self._rows()
        producer = self.random.choice(self.producers)
        if not producer.is_open and self.random.random() < 0.1:
            producer.epoch += 1
            producer.sequence = 0
        options = BatchOptions(
            base_offset=rows[0][0],
            partition_leader_epoch=rows[0][0] // 100,
            codec=self.random.choice(self.kinds.codecs),
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            base_sequence=producer.sequence,
            is_transactional=producer.is_transactional,
        )
        producer.sequence += len(rows)
        producer.is_open = producer.is_transactional
        return bytes(write_batch([(*row, ()) for row in rows], options))

    def _marker(self) -> bytes:
        # A coordinator may end a transaction that sent nothing here.
        producer = self.random.choice([one for one in self.producers if one.is_transactional])
        if not producer.is_open and self.random.random() < 0.8:
            return b""
        return self._marker_of(producer)

    def _marker_of(self, producer: Producer) -> bytes:
        producer.is_open = False
        return bytes(
            write_end_marker(
                is_commit=self.random.random() < 0.5,
                producer=(producer.producer_id, producer.epoch),
                coordinator_epoch=1,
                timestamp=self.now_ms,
                partition_leader_epoch=self.log.end_offset // 100,
                base_offset=self.log.end_offset,
            )
        )


def values_of(data: bytes) -> list[tuple[int, bytes | None, bytes | None]]:
    """Offset, key and value of all records that are data, of any magic."""
    found: list[tuple[int, bytes | None, bytes | None]] = []
    position = 0
    while position < len(data):
        rows = scan(data, position)
        for row in rows.rows:
            batch = data[row.position : row.position + row.size_bytes]
            if row.magic < 2:
                some = [(one.offset, one.key, one.value) for one in messages(batch)]
            elif row.attributes & 32 or not row.records_count:
                continue
            else:
                some = [
                    (one.offset, one.key, one.value)
                    for one in read_records(batch, INFLATED_BYTES_MAX)
                ]
            for offset, key, value in some:
                found.append((offset, _as_bytes(key), _as_bytes(value)))
        position = rows.end_position
    return found


def _as_bytes(part: Buffer | None) -> bytes | None:
    return None if part is None else bytes(part)
