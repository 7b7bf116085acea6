"""Copy the records of a run of batches into Arrow's columns, piece by piece.

What is done per batch is done with the GIL, what is done per record without. A record is checked
in full before the first byte of it is copied, only as far as the wanted columns reach, and each
wanted byte is copied once. A fault changes nothing: the rows before it are given first, and the
next call meets it again.
"""

try:
    import cython
except ImportError:
    from ottla.kernels.shadow import cython

from collections.abc import Callable, Sequence

from ottla.kernels import selection
from ottla.kernels.faults import InvalidValue, Malformed, Truncated

if cython.compiled:
    from cython.cimports.libc.string import memcpy
    from cython.cimports.ottla.kernels.pieces import (
        Blobs,
        Piece,
        begin,
        grow_headers,
        grow_pair,
        grow_rows,
        repeat_constants,
        taken_columns,
    )
    from cython.cimports.ottla.kernels.sections import Sections, next_section
else:
    from ottla.kernels.pieces import (
        Blobs,
        Piece,
        begin,
        grow_headers,
        grow_pair,
        grow_rows,
        repeat_constants,
        taken_columns,
    )
    from ottla.kernels.sections import Sections, next_section

# The columns by number, where C can see them.
_OFFSET = cython.declare(cython.int, selection.OFFSET)
_TIMESTAMP = cython.declare(cython.int, selection.TIMESTAMP)
_HEADERS = cython.declare(cython.int, selection.HEADERS)

# How far into a record the wanted columns reach.
_AS_FAR_AS_KEY = cython.declare(cython.int, selection.KEY | selection.VALUE | selection.HEADERS)
_AS_FAR_AS_VALUE = cython.declare(cython.int, selection.VALUE | selection.HEADERS)

_LOG_APPEND_TIME = cython.declare(cython.int, 8)

# What stopped the loop over the records: negative numbers are faults, see _REASONS.
_GOING = cython.declare(cython.int, 0)
_FULL = cython.declare(cython.int, 1)
_SHORT_OF_ROOM = cython.declare(cython.int, 2)
_TOO_LONG = cython.declare(cython.int, -1)
_LONG_VARINT = cython.declare(cython.int, -2)
_BAD_OFFSET = cython.declare(cython.int, -3)
_BAD_HEADERS = cython.declare(cython.int, -4)
_BAD_TIMESTAMP = cython.declare(cython.int, -5)
_REASONS = {
    -1: "a record, or a field of it, is longer than what holds it",
    -2: "a varint is too long",
    -3: "the record's offset is outside its batch",
    -4: "the record's headers are not what their count and lengths say",
    -5: "the timestamp does not fit the wanted unit",
}

# How many bits a varint's groups of seven may have: five groups for 32 bits, ten for 64.
_VARINT = cython.declare(cython.int, 35)
_VARLONG = cython.declare(cython.int, 70)

# Numbers of more than 31 bits have names, or C would compute with Python's integers.
_MASK_32 = cython.declare(cython.ulonglong, (1 << 32) - 1)
_MASK_64 = cython.declare(cython.ulonglong, (1 << 64) - 1)
_TWO_TO_63 = 1 << 63


@cython.final
@cython.cclass
class Run:
    """One pass over a run of batches; see `Sections` for what it is given."""

    walk: Sections
    piece: Piece
    # The selection.
    columns: cython.int
    start_offset: cython.longlong
    end_offset: cython.longlong
    start_timestamp: cython.longlong
    last_timestamp: cython.longlong
    timestamp_factor: cython.longlong
    timestamp_max: cython.longlong
    # The section that is open.
    is_open: cython.bint
    is_counted: cython.bint
    attributes: cython.int
    base_offset: cython.longlong
    last_offset_delta: cython.longlong
    base_timestamp: cython.longlong
    max_timestamp: cython.longlong
    data: cython.p_const_uchar
    # `record_at` and `section_end` do not lie side by side: compilers would copy them as a pair,
    # just after one of them was written alone, and the processor would wait for that.
    record_at: cython.Py_ssize_t
    record_index: cython.Py_ssize_t
    record_count: cython.Py_ssize_t
    section_end: cython.Py_ssize_t
    # The record that is read.
    at: cython.Py_ssize_t
    end: cython.Py_ssize_t
    fault: cython.int
    offset: cython.longlong
    timestamp: cython.longlong
    key_at: cython.Py_ssize_t
    key_length: cython.longlong
    value_at: cython.Py_ssize_t
    value_length: cython.longlong
    headers_at: cython.Py_ssize_t
    header_count: cython.longlong
    header_key_bytes: cython.Py_ssize_t
    header_value_bytes: cython.Py_ssize_t

    def __init__(
        self,
        source: selection.Buffer,
        wanted: selection.Selection,
        checksum: Callable[[memoryview], int] | None,
        decompress: Callable[[int, memoryview, int], selection.Buffer],
        aborted: Sequence[tuple[int, int, int]] = (),
    ) -> None:
        self.walk = Sections(source, wanted, checksum, decompress, aborted)
        self.piece = Piece(wanted)
        self.columns = wanted.columns
        self.start_offset = wanted.start_offset
        self.end_offset = wanted.end_offset
        self.start_timestamp = wanted.start_timestamp
        self.last_timestamp = wanted.last_timestamp
        self.timestamp_factor = wanted.timestamp_factor
        self.timestamp_max = selection.INT64_MAX // wanted.timestamp_factor
        self.is_open = False
        self.key_length = self.value_length = self.header_count = 0
        self.header_key_bytes = self.header_value_bytes = 0

    @property
    def position(self) -> int:
        """Where the batch begins that comes next, is half read, is cut off, or has the fault."""
        return self.walk.batch_at

    def fill(self) -> int:
        """Make the next piece and give its number of rows: 0 at the end of the run."""
        begin(self.piece, self.walk.wire_bytes - self.walk.batch_at)
        try:
            while (self.is_open or _open_next(self)) and _copy(self):
                pass
        except Malformed:
            if self.piece.rows == 0:
                raise
        return self.piece.rows

    def take(self) -> object:
        """The piece's columns by name: see `taken_columns`."""
        return taken_columns(self.piece)


# Per batch.


@cython.cfunc
@cython.exceptval(-1)
def _open_next(run: Run) -> cython.int:
    walk: Sections = run.walk
    if not next_section(walk):
        return 0
    run.is_counted = walk.is_counted
    run.attributes = walk.attributes
    run.base_offset = walk.base_offset
    run.last_offset_delta = walk.last_offset_delta
    run.base_timestamp = walk.base_timestamp
    run.max_timestamp = walk.max_timestamp
    run.data = walk.data
    run.record_at = walk.begin
    run.section_end = walk.end
    run.record_index = 0
    run.record_count = walk.record_count
    run.is_open = True
    return 1


@cython.cfunc
@cython.exceptval(-1)
def _copy(run: Run) -> cython.int:
    """Copy what fits of the open section's records; 0 when the piece is full."""
    status: cython.int = _SHORT_OF_ROOM
    while status == _SHORT_OF_ROOM:
        status = _copy_without_gil(run, run.piece)
        if status == _SHORT_OF_ROOM:
            _grow(run)
    repeat_constants(
        run.piece,
        (run.attributes & _LOG_APPEND_TIME) >> 3,
        run.walk.leader_epoch,
        run.walk.producer_id,
    )
    if status == _FULL:
        return 0
    if status < 0:
        raise _fault(run)
    if run.record_at != run.section_end and not run.is_counted:
        raise InvalidValue("bytes are left after the batch's last record", run.walk.batch_at)
    run.is_open = False
    run.walk.batch_at = run.walk.batch_end
    return 1


@cython.cfunc
@cython.exceptval(-1)
def _grow(run: Run) -> cython.int:
    """Make room for the record at hand, and by doubling for more."""
    piece: Piece = run.piece
    grow_rows(piece)
    grow_pair(piece, max(0, run.key_length), max(0, run.value_length))
    return grow_headers(piece, run.header_count, run.header_key_bytes, run.header_value_bytes)


@cython.cfunc
@cython.exceptval(-100)
def _copy_without_gil(run: Run, piece: Piece) -> cython.int:
    status: cython.int
    if cython.compiled:
        with cython.nogil:
            status = _copy_records(run, piece)
    else:
        status = _copy_records(run, piece)
    return status


@cython.cfunc
def _fault(run: Run) -> Malformed:
    """What is wrong with the record at hand, and where; of compressed ones, where the batch is."""
    kind = Truncated if run.fault == _TOO_LONG else InvalidValue
    fault = kind(
        f"{_REASONS[run.fault]}, in the batch at offset {run.base_offset}",
        run.walk.batch_at if run.walk.is_compressed else run.record_at,
    )
    fault.path.extend([run.record_index, "records"])
    return fault


# Per record.


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _count_records(run: Run, piece: Piece) -> cython.int:
    """Where no single record is asked for, as many rows as the header says."""
    left: cython.Py_ssize_t = run.record_count - run.record_index
    room: cython.Py_ssize_t = piece.row_capacity - piece.rows
    count: cython.Py_ssize_t = min(room, left)
    run.record_index += count
    piece.rows += count
    if count == left:
        return _GOING
    return _FULL if piece.rows == piece.rows_max else _SHORT_OF_ROOM


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _copy_records(run: Run, piece: Piece) -> cython.int:
    """Go on with the open batch's records until they end, the piece is full or there is a fault."""
    status: cython.int = _GOING
    if run.is_counted:
        return _count_records(run, piece)
    while status == _GOING and run.record_index < run.record_count:
        status = _copy_record(run, piece)
    return status


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _copy_record(run: Run, piece: Piece) -> cython.int:
    """Read one record and append it if its offset and timestamp are wanted."""
    status: cython.int
    if _locate_head(run) < 0:
        return run.fault
    if (
        run.start_offset <= run.offset < run.end_offset
        and run.start_timestamp <= run.timestamp <= run.last_timestamp
    ):
        if _locate_body(run) < 0 or _timestamp_fits(run) < 0:
            return run.fault
        status = _room(run, piece)
        if status != _GOING:
            return status
        _put_row(run, piece)
        if run.columns & _HEADERS:
            _put_headers(run, piece)
        piece.rows += 1
    run.record_at = run.end
    run.record_index += 1
    return _GOING


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _put_row(run: Run, piece: Piece) -> cython.void:
    row: cython.Py_ssize_t = piece.rows
    if run.columns & _OFFSET:
        piece.offsets.longs[row] = run.offset
    if run.columns & _TIMESTAMP:
        piece.timestamps.longs[row] = run.timestamp * run.timestamp_factor
    if piece.key.wanted:
        _put(piece.key, run.data, run.key_at, run.key_length)
    if piece.value.wanted:
        _put(piece.value, run.data, run.value_at, run.value_length)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _put_headers(run: Run, piece: Piece) -> cython.void:
    """Append a record's headers; a record without any has a null list, as Spark has it."""
    each: cython.Py_ssize_t
    length: cython.longlong
    row: cython.Py_ssize_t = piece.rows
    valid: cython.p_uchar = piece.lists_valid.octets
    if (row & 7) == 0:
        valid[row >> 3] = 255
    if run.header_count == 0:
        valid[row >> 3] = valid[row >> 3] & ~(1 << (row & 7)) & 255
        piece.list_nulls += 1
    run.at = run.headers_at
    for _ in range(run.header_count):
        length = _varint(run, _VARINT)
        for each in range(run.at, run.at + length):
            piece.header_key_bits |= run.data[each]
        _put(piece.header_key, run.data, run.at, length)
        run.at += length
        length = _varint(run, _VARINT)
        _put(piece.header_value, run.data, run.at, length)
        run.at += max(0, length)
    piece.lists.ints[row + 1] = piece.header_key.count


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _put(
    blobs: Blobs, source: cython.p_const_uchar, at: cython.Py_ssize_t, length: cython.longlong
) -> cython.void:
    """Append one value; a negative length is a null. There is room, as _room has seen."""
    index: cython.Py_ssize_t = blobs.count
    used: cython.Py_ssize_t = blobs.used
    if (index & 7) == 0:
        blobs.valid[index >> 3] = 255
    # An empty value has nothing to copy, and perhaps nowhere to copy it to.
    if length > 0:
        if cython.compiled:
            memcpy(blobs.data + used, source + at, length)
        else:
            blobs.data[used : used + length] = source[at : at + length]
        used += length
        blobs.used = used
    elif length < 0:
        blobs.valid[index >> 3] &= ~(1 << (index & 7)) & 255
        blobs.nulls += 1
    if blobs.large:
        blobs.ends_64[index + 1] = used
    else:
        blobs.ends_32[index + 1] = used
    blobs.count = index + 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _room(run: Run, piece: Piece) -> cython.int:
    """Whether the record fits, and if not, whether the piece ends or grows."""
    key_bytes: cython.longlong = max(0, run.key_length)
    value_bytes: cython.longlong = max(0, run.value_length)
    size: cython.longlong = key_bytes + value_bytes + run.header_key_bytes + run.header_value_bytes
    # Headers may be empty, but each has two ends.
    size += 8 * run.header_count
    if not piece.key.wanted:
        size -= key_bytes
        key_bytes = 0
    if not piece.value.wanted:
        size -= value_bytes
        value_bytes = 0
    if piece.rows == piece.rows_max or (
        piece.rows > 0 and piece.data_bytes + size > piece.bytes_max
    ):
        return _FULL
    if (
        piece.rows == piece.row_capacity
        or piece.key.used + key_bytes > piece.key.bytes_capacity
        or piece.value.used + value_bytes > piece.value.bytes_capacity
        or not _headers_fit(run, piece)
    ):
        return _SHORT_OF_ROOM
    piece.data_bytes += size
    return _GOING


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _headers_fit(run: Run, piece: Piece) -> cython.bint:
    if run.header_count == 0:
        return True
    return (
        piece.header_key.count + run.header_count <= piece.header_key.capacity
        and piece.header_key.used + run.header_key_bytes <= piece.header_key.bytes_capacity
        and piece.header_value.used + run.header_value_bytes <= piece.header_value.bytes_capacity
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _locate_head(run: Run) -> cython.int:
    """Read a record's length, timestamp and offset."""
    length: cython.longlong
    delta: cython.longlong
    run.fault = _GOING
    run.at = run.record_at
    run.end = run.section_end
    length = _varint(run, _VARINT)
    if length < 1 or length > run.end - run.at:
        run.fault = run.fault if run.fault < 0 else _TOO_LONG
        return run.fault
    run.end = run.at + length
    run.at += 1
    delta = _varint(run, _VARLONG)
    run.timestamp = _sum(run.base_timestamp, delta)
    if run.attributes & _LOG_APPEND_TIME:
        run.timestamp = run.max_timestamp
    delta = _varint(run, _VARINT)
    run.offset = _sum(run.base_offset, delta)
    if run.fault == _GOING and (delta < 0 or delta > run.last_offset_delta):
        run.fault = _BAD_OFFSET
    return run.fault


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _locate_body(run: Run) -> cython.int:
    """Find key, value and headers as far as they are wanted; like Java, below 0 is null."""
    run.key_length = run.value_length = -1
    run.header_count = run.header_key_bytes = run.header_value_bytes = 0
    if run.columns & _AS_FAR_AS_KEY:
        run.key_length = _varint(run, _VARINT)
        run.key_at = _skip(run, run.key_length)
    if run.columns & _AS_FAR_AS_VALUE:
        run.value_length = _varint(run, _VARINT)
        run.value_at = _skip(run, run.value_length)
    if run.columns & _HEADERS:
        run.header_count = _varint(run, _VARINT)
        run.headers_at = run.at
        if run.fault == _GOING and (run.header_count != 0 or run.at != run.end):
            _measure_headers(run)
    return run.fault


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _timestamp_fits(run: Run) -> cython.int:
    if (
        (run.columns & _TIMESTAMP) != 0
        and run.timestamp_factor > 1
        and not -run.timestamp_max <= run.timestamp <= run.timestamp_max
    ):
        run.fault = _BAD_TIMESTAMP
    return run.fault


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _measure_headers(run: Run) -> cython.int:
    """Walk over the headers, which must end where the record does."""
    length: cython.longlong
    if run.header_count < 0 or run.header_count > run.end - run.at:
        run.fault = _BAD_HEADERS
        return run.fault
    for _ in range(run.header_count):
        length = _varint(run, _VARINT)
        if length < 0 and run.fault == _GOING:
            run.fault = _BAD_HEADERS
        _skip(run, length)
        run.header_key_bytes += length
        length = _varint(run, _VARINT)
        _skip(run, length)
        run.header_value_bytes += max(0, length)
        if run.fault != _GOING:
            return run.fault
    if run.at != run.end:
        run.fault = _BAD_HEADERS
    return run.fault


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _skip(run: Run, length: cython.longlong) -> cython.Py_ssize_t:
    """Step over a field's bytes, none if it is null, and give where they begin."""
    at: cython.Py_ssize_t = run.at
    if length > run.end - at:
        run.fault = _TOO_LONG
    elif length > 0:
        run.at = at + length
    return at


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _varint(run: Run, bits_max: cython.int) -> cython.longlong:
    """A zig-zag number, as nearly all are: one byte."""
    at: cython.Py_ssize_t = run.at
    byte: cython.longlong
    if at < run.end and run.data[at] < 128:
        run.at = at + 1
        byte = run.data[at]
        return (byte >> 1) ^ -(byte & 1)
    return _long_varint(run, bits_max)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _long_varint(run: Run, bits_max: cython.int) -> cython.longlong:
    """A zig-zag number of at most this many bits in groups of seven; what is above is cut off."""
    value: cython.ulonglong = 0
    byte: cython.ulonglong
    shift: cython.int = 0
    at: cython.Py_ssize_t = run.at
    while at < run.end:
        byte = run.data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            run.at = at
            value &= _MASK_32 if bits_max == _VARINT else _MASK_64
            return cython.cast(cython.longlong, value >> 1) ^ -cython.cast(
                cython.longlong, value & 1
            )
        if shift == bits_max:
            run.fault = _LONG_VARINT
            return 0
    run.fault = _TOO_LONG
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _sum(base: cython.longlong, delta: cython.longlong) -> cython.longlong:
    """Wrap around like Java, whose clients write such batches and read them."""
    if cython.compiled:
        return cython.cast(
            cython.longlong,
            cython.cast(cython.ulonglong, base) + cython.cast(cython.ulonglong, delta),
        )
    return ((base + delta + _TWO_TO_63) & _MASK_64) - _TWO_TO_63
