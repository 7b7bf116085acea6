"""Check the batches of one segment, run by run, and make its index entries on the way.

Each batch is held against the offsets that may come next and against its checksum; the entries of
both indexes are made as an append makes them. No object is made for a batch but for those few that
say something of producers or epochs which no later one says as well. The checksums are functions
that are given, since hardware does them better than a loop here; they let go of the lock.
"""

try:
    import cython
except ImportError:
    from ottla.kernels.shadow import cython

from collections.abc import Callable

from ottla.kernels.kinds import Buffer, Value

if cython.compiled:
    from cython.cimports.cpython.bytearray import PyByteArray_AS_STRING
    from cython.cimports.ottla.kernels.batches import Run, opened, row_value, step
else:
    from ottla.kernels.batches import Run, opened, row_value, step

ROWS_MAX = 1024
COLUMNS = 14
OFFSET_ENTRY_BYTES = 8
TIME_ENTRY_BYTES = 12
KNOWN_BATCHES = 5
"""So many of its newest batches are known of a producer, and older ones are of no use."""

_ROWS_MAX = cython.declare(cython.Py_ssize_t, ROWS_MAX)
_COLUMNS = cython.declare(cython.Py_ssize_t, COLUMNS)
_KNOWN_BATCHES = cython.declare(cython.longlong, KNOWN_BATCHES)
_INT32_MAX = cython.declare(cython.longlong, 2147483647)

# What ended a walk, as `records.scan.Stop` numbers it.
_FULL = cython.declare(cython.int, 1)
_FOUND = cython.declare(cython.int, 2)
_ORDER = cython.declare(cython.int, 7)
_CHECKSUM = cython.declare(cython.int, 8)

# Columns of a row.
_SIZE = cython.declare(cython.Py_ssize_t, 1)
_ATTRIBUTES = cython.declare(cython.Py_ssize_t, 3)
_PRODUCER = cython.declare(cython.Py_ssize_t, 8)
_LEADER_EPOCH = cython.declare(cython.Py_ssize_t, 12)
_CRC = cython.declare(cython.Py_ssize_t, 13)

_CHECKSUM_START = cython.declare(cython.Py_ssize_t, 21)
_MESSAGE_CHECKSUM_START = cython.declare(cython.Py_ssize_t, 16)
_TRANSACTION_BITS = cython.declare(cython.longlong, 48)  # Of a batch within one, or that ends one.

# A producer's place: its id, and how many of its batches come later.
_PLACES = cython.declare(cython.Py_ssize_t, 64)
_PLACE_CELLS = cython.declare(cython.Py_ssize_t, 2)


@cython.final
@cython.cclass
class SegmentCheck:
    """How far a segment is sound, and its index entries up to there."""

    crc32c: Value
    crc32: Value
    base_offset: cython.longlong
    next_offset: cython.longlong
    interval_bytes: cython.longlong
    bytes_since_entry: cython.longlong
    offsets_left: cython.longlong
    times_left: cython.longlong
    indexed_timestamp: cython.longlong
    max_timestamp: cython.longlong
    max_timestamp_offset: cython.longlong
    offset_entries: bytearray
    time_entries: bytearray
    # The rows and the entries of one walk, and where they are.
    held: tuple[bytearray, bytearray, bytearray, bytearray]
    cells: cython.p_longlong
    places: cython.p_longlong
    new_offsets: cython.p_uchar
    new_times: cython.p_uchar
    offsets_count: cython.Py_ssize_t
    times_count: cython.Py_ssize_t

    def __init__(
        self,
        base_offset: cython.longlong,
        interval_bytes: cython.longlong,
        entries_max: tuple[int, int],
        checksums: tuple[Callable[[memoryview], int], Callable[[memoryview], int]],
    ) -> None:
        """Begin before the first batch; the checksums are CRC-32C, and CRC-32 of old formats."""
        self.crc32c, self.crc32 = checksums
        self.base_offset = base_offset
        self.next_offset = base_offset
        self.interval_bytes = interval_bytes
        self.bytes_since_entry = 0
        self.offsets_left, self.times_left = entries_max
        self.indexed_timestamp = -1
        self.max_timestamp = -1
        self.max_timestamp_offset = base_offset
        self.offset_entries = bytearray()
        self.time_entries = bytearray()
        cells = bytearray(8 * _ROWS_MAX * _COLUMNS)
        places = bytearray(8 * _PLACES * _PLACE_CELLS)
        new_offsets = bytearray(_ROWS_MAX * OFFSET_ENTRY_BYTES)
        new_times = bytearray(_ROWS_MAX * TIME_ENTRY_BYTES)
        self.held = (cells, places, new_offsets, new_times)
        if cython.compiled:
            self.cells = cython.cast(cython.p_longlong, PyByteArray_AS_STRING(cells))
            self.places = cython.cast(cython.p_longlong, PyByteArray_AS_STRING(places))
            self.new_offsets = cython.cast(cython.p_uchar, PyByteArray_AS_STRING(new_offsets))
            self.new_times = cython.cast(cython.p_uchar, PyByteArray_AS_STRING(new_times))
        else:
            self.cells = memoryview(cells).cast("q")
            self.places = memoryview(places).cast("q")
            self.new_offsets = memoryview(new_offsets)
            self.new_times = memoryview(new_times)

    @property
    def end_offset(self) -> int:
        """The offset after the last good batch."""
        return self.next_offset

    @property
    def latest(self) -> tuple[int, int]:
        """The largest time, and the last offset of the first batch that has it."""
        return self.max_timestamp, self.max_timestamp_offset

    @property
    def entries(self) -> tuple[bytearray, bytearray]:
        """What both indexes hold, as it lies in their files."""
        return self.offset_entries, self.time_entries

    @property
    def unindexed_bytes(self) -> int:
        """How much was walked over since the last entry."""
        return self.bytes_since_entry

    def walk(
        self, source: Buffer, position: cython.Py_ssize_t, file_position: cython.longlong
    ) -> tuple[int, int, int]:
        """Check batches from a position on until one is bad, they end, or there is no more room.

        The bytes begin at a position of the file. Gives how many rows there are in `rows`, where
        the first batch is that was not found good, and why.
        """
        run: Run = opened(source, position)
        view = memoryview(source)
        count: cython.Py_ssize_t = 0
        stop: cython.int = _FULL
        self.offsets_count = 0
        self.times_count = 0
        while count < _ROWS_MAX:
            stop = step(run)
            if stop == _FOUND and not _is_in_place(self, run):
                stop = _ORDER
            if stop != _FOUND:
                break
            start: cython.Py_ssize_t = run.position
            end: cython.Py_ssize_t = start + run.size
            crc: cython.longlong
            if run.magic == 2:
                crc = self.crc32c(view[start + _CHECKSUM_START : end])
            else:
                crc = self.crc32(view[start + _MESSAGE_CHECKSUM_START : end])
            if crc != row_value(run, _CRC):
                stop = _CHECKSUM
                break
            _note(self, run, file_position + start)
            _write_row(self, run, count)
            count += 1
        if stop == _FOUND:
            stop = _FULL
        if stop == _FULL:
            position = run.position + run.size
        else:
            position = run.position
        self._keep_entries()
        return _thinned(self, count), position, stop

    def rows(self, count: cython.Py_ssize_t) -> memoryview:
        """The columns of the rows that the last walk gave, one row after the other."""
        return memoryview(self.held[0]).cast("q")[: count * COLUMNS]

    def _keep_entries(self) -> None:
        """Add the entries of one walk to those of the segment."""
        offsets_bytes: cython.Py_ssize_t = self.offsets_count * OFFSET_ENTRY_BYTES
        times_bytes: cython.Py_ssize_t = self.times_count * TIME_ENTRY_BYTES
        self.offset_entries += memoryview(self.held[2])[:offsets_bytes]
        self.time_entries += memoryview(self.held[3])[:times_bytes]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_in_place(check: SegmentCheck, run: Run) -> cython.bint:
    """Does the batch come after the one before, and within the segment's range?"""
    is_next: cython.bint = run.base_offset >= check.next_offset
    return is_next and run.last_offset - check.base_offset <= _INT32_MAX


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _put(
    out: cython.p_uchar, at: cython.Py_ssize_t, width: cython.Py_ssize_t, value: cython.longlong
) -> cython.void:
    """Write a number that is not negative, the largest byte first."""
    end: cython.Py_ssize_t = at + width
    while end > at:
        end -= 1
        out[end] = cython.cast(cython.uchar, value & 255)
        value >>= 8


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _note(check: SegmentCheck, run: Run, position: cython.longlong) -> cython.void:
    """Make the entries that are due at a good batch."""
    check.next_offset = run.last_offset + 1
    if run.max_timestamp > check.max_timestamp:
        check.max_timestamp = run.max_timestamp
        check.max_timestamp_offset = run.last_offset
    is_due: cython.bint = check.bytes_since_entry > check.interval_bytes
    # Behind what a position can name, batches are found by the walk from the last entry.
    if is_due and check.offsets_left > 0 and check.times_left > 0 and position <= _INT32_MAX:
        at: cython.Py_ssize_t = check.offsets_count * 8
        _put(check.new_offsets, at, 4, run.last_offset - check.base_offset)
        _put(check.new_offsets, at + 4, 4, position)
        check.offsets_count += 1
        check.offsets_left -= 1
        if check.max_timestamp > check.indexed_timestamp:
            at = check.times_count * 12
            _put(check.new_times, at, 8, check.max_timestamp)
            _put(check.new_times, at + 8, 4, check.max_timestamp_offset - check.base_offset)
            check.times_count += 1
            check.times_left -= 1
            check.indexed_timestamp = check.max_timestamp
        check.bytes_since_entry = 0
    check.bytes_since_entry += run.size


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _write_row(check: SegmentCheck, run: Run, row: cython.Py_ssize_t) -> cython.void:
    column: cython.Py_ssize_t
    for column in range(_COLUMNS):
        check.cells[row * _COLUMNS + column] = row_value(run, column)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_told_later(check: SegmentCheck, cell: cython.Py_ssize_t) -> cython.bint:
    """Do later batches say all that this one says of its producer? They were asked before."""
    cells: cython.p_longlong = check.cells
    places: cython.p_longlong = check.places
    producer_id: cython.longlong = cells[cell + _PRODUCER]
    if producer_id < 0:
        # What ends a transaction but has no producer is not for this to judge.
        return (cells[cell + _ATTRIBUTES] & _TRANSACTION_BITS) == 0
    place: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, producer_id & (_PLACES - 1))
    place *= _PLACE_CELLS
    if cells[cell + _ATTRIBUTES] & _TRANSACTION_BITS:
        if places[place] == producer_id:
            places[place] = -1
        return False
    if places[place] != producer_id:
        places[place] = producer_id
        places[place + 1] = 0
    places[place + 1] += 1
    return places[place + 1] > _KNOWN_BATCHES


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _mark(check: SegmentCheck, count: cython.Py_ssize_t) -> cython.void:
    """Mark rows that say nothing, from the last one back, by a size of zero.

    The first and the last of each stretch of one leader epoch stay: those between have no news.
    """
    cells: cython.p_longlong = check.cells
    place: cython.Py_ssize_t
    row: cython.Py_ssize_t = count - 1
    for place in range(_PLACES):
        check.places[place * _PLACE_CELLS] = -1
    while row >= 0:
        cell: cython.Py_ssize_t = row * _COLUMNS
        is_told: cython.bint = _is_told_later(check, cell)
        if is_told and row > 0 and row < count - 1:
            epoch: cython.longlong = cells[cell + _LEADER_EPOCH]
            if (
                cells[cell - _COLUMNS + _LEADER_EPOCH] == epoch
                and cells[cell + _COLUMNS + _LEADER_EPOCH] == epoch
            ):
                cells[cell + _SIZE] = 0
        row -= 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _thinned(check: SegmentCheck, count: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Leave only the rows that say something; give how many those are."""
    cells: cython.p_longlong = check.cells
    kept: cython.Py_ssize_t = 0
    row: cython.Py_ssize_t
    column: cython.Py_ssize_t
    _mark(check, count)
    for row in range(count):
        if cells[row * _COLUMNS + _SIZE] != 0:
            for column in range(_COLUMNS):
                cells[kept * _COLUMNS + column] = cells[row * _COLUMNS + column]
            kept += 1
    return kept
