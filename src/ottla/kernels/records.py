"""Walk the records of one batch of magic 2: check them, read them, find one by time, keep some.

Every function takes a whole batch and, if that is compressed, its records section inflated; the
header's own numbers bound everything. One step over a record is written once, holds no lock,
allocates nothing and never reads past the section; what it meets that is no record is a number
in `fault`, so that a check of a good batch makes no Python object for any of its records.
"""

try:
    import cython
except ImportError:
    from ottla.kernels.shadow import cython

if cython.compiled:
    from cython.cimports.cpython.buffer import (
        Py_buffer,
        PyBUF_SIMPLE,
        PyBuffer_Release,
        PyObject_GetBuffer,
    )
    from cython.cimports.cpython.bytearray import PyByteArray_AS_STRING
    from cython.cimports.cpython.bytes import PyBytes_FromStringAndSize
else:
    Py_buffer = object

from ottla.kernels.faults import InvalidValue, LimitExceeded, Truncated
from ottla.kernels.kinds import Buffer, Value

# What makes a record invalid, in the order of FAULTS.
_CUT = cython.declare(cython.int, 1)
_VARINT = cython.declare(cython.int, 2)
_LENGTH = cython.declare(cython.int, 3)
_DELTA = cython.declare(cython.int, 4)
_HEADER = cython.declare(cython.int, 5)
_LEFT_OVER = cython.declare(cython.int, 6)

FAULTS = (
    "no fault",
    "the bytes end within a record",
    "a varint has too many bytes",
    "a length does not fit its record",
    "offset deltas do not rise as they must",
    "a header's key or the count of headers is negative",
    "bytes are left over after the last record",
)

# Bits of what a check demands of records.
CONSECUTIVE = 1
KEYS = 2
TIMES = 4
_CONSECUTIVE = cython.declare(cython.int, CONSECUTIVE)
_KEYS = cython.declare(cython.int, KEYS)
_TIMES = cython.declare(cython.int, TIMES)

NO_KEY = 1
BAD_TIME = 2
_NO_KEY = cython.declare(cython.int, NO_KEY)
_BAD_TIME = cython.declare(cython.int, BAD_TIME)

# What the headers of the records that are read at once may take beyond four times their bytes; each
# is a pair with a name and a value, of two bytes at least on the wire.
HEADERS_SLACK_BYTES = 64 << 20
_HEADERS_SLACK_BYTES = cython.declare(cython.Py_ssize_t, HEADERS_SLACK_BYTES)
_PAIR_BYTES = cython.declare(cython.Py_ssize_t, 200)
_VIEW_BYTES = cython.declare(cython.Py_ssize_t, 208)

_UINT32_MAX = cython.declare(cython.ulonglong, 4294967295)
_UINT64_MAX = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
_INT64_MAX = cython.declare(cython.longlong, 9223372036854775807)
_HEADER_BYTES = cython.declare(cython.Py_ssize_t, 61)


@cython.final
@cython.freelist(8)
@cython.cclass
class Walk:
    """A place in the records of one batch, and the record that the last step went over."""

    view: Py_buffer
    data: cython.p_const_uchar
    source: Value
    position: cython.Py_ssize_t
    limit: cython.Py_ssize_t
    end: cython.Py_ssize_t
    fault: cython.int
    index: cython.longlong
    count: cython.longlong
    base_offset: cython.longlong
    last_offset_delta: cython.longlong
    base_timestamp: cython.longlong
    append_timestamp: cython.longlong
    is_append_time: cython.bint
    is_consecutive: cython.bint
    # The record: where its attributes and its offset delta are, what it holds.
    body_at: cython.Py_ssize_t
    rest_at: cython.Py_ssize_t
    timestamp: cython.longlong
    offset_delta: cython.longlong
    key_at: cython.Py_ssize_t
    key_bytes: cython.Py_ssize_t
    value_at: cython.Py_ssize_t
    value_bytes: cython.Py_ssize_t
    headers_at: cython.Py_ssize_t
    headers_count: cython.longlong
    # What a check found.
    max_timestamp: cython.longlong
    max_timestamp_index: cython.longlong
    no_keys: cython.longlong
    bad_times: cython.longlong

    def __dealloc__(self) -> None:
        if cython.compiled and self.data is not cython.NULL:
            PyBuffer_Release(cython.address(self.view))


@cython.cfunc
@cython.exceptval(-1)
def hold(walk: Walk, source: Buffer) -> cython.int:
    """Take hold of a buffer; one that a walk had before is let go."""
    if cython.compiled:
        if walk.data is not cython.NULL:
            PyBuffer_Release(cython.address(walk.view))
            walk.data = cython.NULL
        PyObject_GetBuffer(source, cython.address(walk.view), PyBUF_SIMPLE)
        walk.data = cython.cast(cython.p_const_uchar, walk.view.buf)
        if walk.data is cython.NULL:  # An empty buffer may have no address, but must be released.
            walk.data = cython.cast(cython.p_const_uchar, b"")
        walk.end = walk.view.len
    else:
        walk.data = memoryview(source).cast("B")
        walk.end = len(walk.data)
    walk.source = source
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def enter(walk: Walk, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.void:
    """Stand before the first record of the batch between two places, which has its header."""
    walk.base_offset = fixed(walk, at, 8)
    walk.is_append_time = (walk.data[at + 22] & 8) != 0
    walk.last_offset_delta = fixed(walk, at + 23, 4)
    walk.base_timestamp = fixed(walk, at + 27, 8)
    walk.append_timestamp = fixed(walk, at + 35, 8)
    walk.count = fixed(walk, at + 57, 4)
    walk.position = at + _HEADER_BYTES
    walk.end = end
    walk.fault = 0
    walk.index = 0
    walk.offset_delta = -1
    walk.is_consecutive = False


def open_records(batch: Buffer, inflated: Buffer | None = None) -> Walk:
    """Stand before the first record of a batch; `inflated` is its section if it is compressed."""
    walk: Walk = Walk()
    hold(walk, batch)
    if walk.end < _HEADER_BYTES or fixed(walk, 8, 4) != walk.end - 12:
        raise Truncated(f"{walk.end} bytes are not one whole batch", 0)
    enter(walk, 0, walk.end)
    if (walk.data[22] & 7 != 0) != (inflated is not None):
        raise InvalidValue("records are read inflated if compressed, else as they are", 21)
    if inflated is not None:
        hold(walk, inflated)
        walk.position = 0
    if walk.count < 0:
        raise InvalidValue(f"negative count {walk.count} of records", 57)
    # As in a walk over batches; then no record's offset is past the largest number there is.
    if walk.last_offset_delta >= 0 and walk.base_offset > _INT64_MAX - walk.last_offset_delta:
        raise InvalidValue(f"base offset {walk.base_offset} and {walk.last_offset_delta} more", 0)
    # A record takes seven bytes at least, so a count that lies is found before anything is sized.
    if walk.count > (walk.end - walk.position) // 7:
        walk.fault = _CUT
    return walk


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def fixed(walk: Walk, at: cython.Py_ssize_t, width: cython.Py_ssize_t) -> cython.longlong:
    """A big-endian signed integer of the header."""
    value: cython.longlong = walk.data[at]
    end: cython.Py_ssize_t = at + width
    if value > 127:
        value -= 256
    at += 1
    while at < end:
        value = value * 256 + walk.data[at]
        at += 1
    return value


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _sum(one: cython.longlong, other: cython.longlong) -> cython.longlong:
    """Java's addition, which wraps."""
    total: cython.longlong
    if cython.compiled:
        total = cython.cast(cython.ulonglong, one) + cython.cast(cython.ulonglong, other)
    else:
        total = (one + other + (1 << 63)) % (1 << 64) - (1 << 63)
    return total


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _varint(walk: Walk) -> cython.longlong:
    """A zig-zag varint of at most five bytes; a fault if there is none.

    Like Java, whose clients may have written such: bits that do not fit 32 are dropped.
    """
    value: cython.ulonglong = 0
    half: cython.longlong
    byte: cython.ulonglong
    shift: cython.int = 0
    at: cython.Py_ssize_t = walk.position
    while shift < 35:
        if at >= walk.limit:
            walk.fault = _CUT
            return 0
        byte = walk.data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
    if shift == 35:
        walk.fault = _VARINT
        return 0
    walk.position = at
    value &= _UINT32_MAX
    half = cython.cast(cython.longlong, value >> 1)
    return ~half if value & 1 else half


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _varlong(walk: Walk) -> cython.longlong:
    """A zig-zag varint of at most ten bytes, of which 64 bits count; a fault if there is none."""
    value: cython.ulonglong = 0
    half: cython.longlong
    byte: cython.ulonglong
    shift: cython.int = 0
    at: cython.Py_ssize_t = walk.position
    while True:
        if at >= walk.limit:
            walk.fault = _CUT
            return 0
        byte = walk.data[at]
        at += 1
        if shift == 63 and byte > 127:
            walk.fault = _VARINT
            return 0
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
    walk.position = at
    value &= _UINT64_MAX
    half = cython.cast(cython.longlong, value >> 1)
    return ~half if value & 1 else half


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _run_of_bytes(walk: Walk) -> cython.Py_ssize_t:
    """Go over a length and as many bytes; any negative length is null, as Kafka reads it."""
    length: cython.longlong = _varint(walk)
    if length > walk.limit - walk.position and walk.fault == 0:
        walk.fault = _LENGTH
    if length < 0 or walk.fault != 0:
        return -1
    walk.position += cython.cast(cython.Py_ssize_t, length)
    return cython.cast(cython.Py_ssize_t, length)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _step_over_headers(walk: Walk) -> cython.void:
    left: cython.longlong = walk.headers_count
    if left < 0 or left > walk.limit - walk.position:
        walk.fault = _HEADER if left < 0 else _CUT
    while left > 0 and walk.fault == 0:
        left -= 1
        if _run_of_bytes(walk) < 0 and walk.fault == 0:
            walk.fault = _HEADER
        if walk.fault == 0:
            _run_of_bytes(walk)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _step_over_body(walk: Walk) -> cython.void:
    """Go over what follows a record's length, within its limit; the attributes mean nothing."""
    delta_before: cython.longlong = walk.offset_delta
    if walk.position >= walk.limit:
        walk.fault = _CUT
        return
    walk.position += 1
    walk.timestamp = _sum(walk.base_timestamp, _varlong(walk))
    if walk.is_append_time:
        walk.timestamp = walk.append_timestamp
    walk.rest_at = walk.position
    if walk.fault == 0:
        walk.offset_delta = _varint(walk)
    if walk.fault == 0 and (
        walk.offset_delta <= delta_before
        or walk.offset_delta > walk.last_offset_delta
        or (walk.is_consecutive and walk.offset_delta != walk.index)
    ):
        walk.fault = _DELTA
    if walk.fault == 0:
        walk.key_bytes = _run_of_bytes(walk)
        walk.key_at = walk.position - walk.key_bytes
    if walk.fault == 0:
        walk.value_bytes = _run_of_bytes(walk)
        walk.value_at = walk.position - walk.value_bytes
    if walk.fault == 0:
        walk.headers_count = _varint(walk)
        walk.headers_at = walk.position
    if walk.fault == 0 and walk.headers_count != 0:
        _step_over_headers(walk)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def step(walk: Walk) -> cython.bint:
    """Go over one record; false after the last one and at a fault."""
    length: cython.longlong
    if walk.fault != 0:
        return False
    if walk.index >= walk.count:
        if walk.position != walk.end:
            walk.fault = _LEFT_OVER
        return False
    walk.limit = walk.end
    length = _varint(walk)
    if walk.fault != 0:
        return False
    if length < 0 or length > walk.end - walk.position:
        walk.fault = _LENGTH if length < 0 else _CUT
        return False
    walk.body_at = walk.position
    walk.limit = walk.position + cython.cast(cython.Py_ssize_t, length)
    _step_over_body(walk)
    if walk.fault == 0 and walk.position != walk.limit:
        walk.fault = _LENGTH
    if walk.fault != 0:
        return False
    walk.index += 1
    return True


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _objection(
    walk: Walk, demands: cython.int, timestamp_min: cython.longlong, timestamp_max: cython.longlong
) -> cython.int:
    """What is wrong with a well-formed record here: as Kafka, a null key hides a bad time."""
    if demands & _KEYS and walk.key_bytes < 0:
        return _NO_KEY
    if (
        demands & _TIMES
        and walk.timestamp != -1
        and (walk.timestamp < timestamp_min or walk.timestamp > timestamp_max)
    ):
        return _BAD_TIME
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _check(
    walk: Walk, demands: cython.int, timestamp_min: cython.longlong, timestamp_max: cython.longlong
) -> cython.void:
    objection: cython.int
    walk.is_consecutive = (demands & _CONSECUTIVE) != 0
    walk.max_timestamp = -1
    walk.max_timestamp_index = -1
    walk.no_keys = 0
    walk.bad_times = 0
    while step(walk):
        if walk.timestamp > walk.max_timestamp:
            walk.max_timestamp = walk.timestamp
            walk.max_timestamp_index = walk.index - 1
        if demands > 1:
            objection = _objection(walk, demands, timestamp_min, timestamp_max)
            if objection == _NO_KEY:
                walk.no_keys += 1
            elif objection == _BAD_TIME:
                walk.bad_times += 1


def check_records(
    batch: Buffer,
    inflated: Buffer | None,
    demands: cython.int,
    timestamp_min: cython.longlong,
    timestamp_max: cython.longlong,
) -> tuple[int, int, int, int, int, int]:
    """Go over all records of a batch once.

    Gives the fault or 0 (`FAULTS`), how many records are whole, the largest time and the index of
    the first record that has it, how many lack a key they need, how many have a time out of range.
    """
    walk: Walk = open_records(batch, inflated)
    if cython.compiled:
        with cython.nogil:
            _check(walk, demands, timestamp_min, timestamp_max)
    else:
        _check(walk, demands, timestamp_min, timestamp_max)
    return (
        walk.fault,
        walk.index,
        walk.max_timestamp,
        walk.max_timestamp_index,
        walk.no_keys,
        walk.bad_times,
    )


def list_objections(
    batch: Buffer,
    inflated: Buffer | None,
    demands: cython.int,
    timestamp_min: cython.longlong,
    timestamp_max: cython.longlong,
    most: cython.Py_ssize_t,
) -> list[tuple[int, int]]:
    """The first records that the check counted as bad, by index, and why: NO_KEY or BAD_TIME."""
    walk: Walk = open_records(batch, inflated)
    objection: cython.int
    found: list[Value] = []
    while most > 0 and step(walk):
        objection = _objection(walk, demands, timestamp_min, timestamp_max)
        if objection != 0:
            found.append((walk.index - 1, objection))
            most -= 1
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _seek(walk: Walk, timestamp: cython.longlong, offset_min: cython.longlong) -> cython.bint:
    """Go on to the first record at or past a time and an offset; false if there is none."""
    while step(walk):
        if walk.timestamp >= timestamp and walk.base_offset + walk.offset_delta >= offset_min:
            return True
    return False


def find_timestamp(
    batch: Buffer, inflated: Buffer | None, timestamp: cython.longlong, offset_min: cython.longlong
) -> tuple[int, int]:
    """Offset and time of the first record at or past both; an offset of -1 if there is none."""
    walk: Walk = open_records(batch, inflated)
    is_found: cython.bint
    if cython.compiled:
        with cython.nogil:
            is_found = _seek(walk, timestamp, offset_min)
    else:
        is_found = _seek(walk, timestamp, offset_min)
    raise_fault(walk)
    if not is_found:
        return -1, -1
    return walk.base_offset + walk.offset_delta, walk.timestamp


@cython.cfunc
@cython.exceptval(-1)
def raise_fault(walk: Walk) -> cython.int:
    if walk.fault == _CUT:
        raise Truncated(f"record {walk.index}: {FAULTS[walk.fault]}", walk.position)
    if walk.fault != 0:
        raise InvalidValue(f"record {walk.index}: {FAULTS[walk.fault]}", walk.position)
    return 0


@cython.cfunc
def _bytes_at(walk: Walk, at: cython.Py_ssize_t, length: cython.Py_ssize_t) -> bytes:
    if cython.compiled:
        return PyBytes_FromStringAndSize(cython.cast(cython.p_char, walk.data + at), length)
    return bytes(walk.data[at : at + length])


@cython.cfunc
def _piece(walk: Walk, views: Value, at: cython.Py_ssize_t, length: cython.Py_ssize_t) -> Value:
    """A key or a value: a view if views are wanted, else its bytes; None if its length is -1."""
    if length < 0:
        return None
    if views is not None:
        return views[at : at + length]
    return _bytes_at(walk, at, length)


@cython.cfunc
def _headers(walk: Walk, views: Value) -> list[Value]:
    """The headers of the current record; the walk stays where it is."""
    found: list[Value] = []
    after: cython.Py_ssize_t = walk.position
    left: cython.longlong = walk.headers_count
    length: cython.Py_ssize_t
    key: str
    walk.position = walk.headers_at
    while left > 0:
        left -= 1
        length = _run_of_bytes(walk)
        key = _bytes_at(walk, walk.position - length, length).decode("utf-8", "replace")
        length = _run_of_bytes(walk)
        found.append((key, _piece(walk, views, walk.position - length, length)))
    walk.position = after
    return found


def read_records(walk: Walk, rows: cython.Py_ssize_t, as_views: bool) -> list[Value]:
    """Read on, at most so many records; fewer only after the last one.

    A row is offset, timestamp, key, value and a list of headers (name, value). Views keep the
    batch alive and cost no copy; bytes stand alone.
    """
    found: list[Value] = []
    views: Value = None
    headers: list[Value]
    if as_views:
        views = memoryview(walk.source)
    allowance: cython.Py_ssize_t = 4 * walk.end + _HEADERS_SLACK_BYTES
    pair_bytes: cython.Py_ssize_t = _PAIR_BYTES + (_VIEW_BYTES if as_views else 0)
    while rows > 0 and step(walk):
        rows -= 1
        allowance -= pair_bytes * walk.headers_count
        if allowance < 0:
            raise LimitExceeded("its headers would take more memory than they may", walk.position)
        headers = _headers(walk, views) if walk.headers_count > 0 else []
        found.append(
            (
                walk.base_offset + walk.offset_delta,
                walk.timestamp,
                _piece(walk, views, walk.key_at, walk.key_bytes),
                _piece(walk, views, walk.value_at, walk.value_bytes),
                headers,
            )
        )
    raise_fault(walk)
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _list(walk: Walk, cells: cython.p_longlong) -> cython.void:
    at: cython.Py_ssize_t = 0
    while step(walk):
        cells[at] = walk.base_offset + walk.offset_delta
        cells[at + 1] = walk.timestamp
        cells[at + 2] = walk.body_at
        cells[at + 3] = walk.rest_at
        cells[at + 4] = walk.position
        cells[at + 5] = walk.key_at
        cells[at + 6] = walk.key_bytes
        cells[at + 7] = walk.value_bytes
        at += 8


def list_records(batch: Buffer, inflated: Buffer | None = None) -> bytearray:
    """List the records as rows of eight int64, as `kernels.cleaning` wants them.

    A row is offset, timestamp, the places of attributes, offset delta, next record and key, and the
    lengths of key and value, -1 for null. Places count from the start of batch or inflated section.
    """
    walk: Walk = open_records(batch, inflated)
    raise_fault(walk)
    rows: bytearray = bytearray(64 * walk.count)
    cells: cython.p_longlong
    if cython.compiled:
        cells = cython.cast(cython.p_longlong, PyByteArray_AS_STRING(rows))
        with cython.nogil:
            _list(walk, cells)
    else:
        cells = memoryview(rows).cast("q")
        _list(walk, cells)
    raise_fault(walk)
    return rows
