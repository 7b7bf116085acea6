"""Keep some records of a batch, and hash the keys of all.

Both follow the rows that `kernels.records.list_records` made of the same bytes.
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
    from cython.cimports.libc.string import memcpy
    from cython.cimports.ottla.kernels.siphash import SipHash, digest, keyed
else:
    from ottla.kernels.siphash import SipHash, digest, keyed

    Py_buffer = object

from ottla.kernels.faults import InvalidValue
from ottla.kernels.kinds import Buffer, Value

_ROW = cython.declare(cython.Py_ssize_t, 8)


@cython.final
@cython.freelist(8)
@cython.cclass
class _Section:
    """The bytes that rows point into, and the rows."""

    view: Py_buffer
    data: cython.p_const_uchar
    end: cython.Py_ssize_t
    rows: bytearray
    cells: cython.p_longlong
    count: cython.Py_ssize_t
    # What keeping records needs and finds.
    has_base: cython.bint
    base_timestamp: cython.longlong
    max_timestamp: cython.longlong
    kept: cython.longlong

    def __dealloc__(self) -> None:
        if cython.compiled and self.data is not cython.NULL:
            PyBuffer_Release(cython.address(self.view))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_within(section: _Section, cell: cython.Py_ssize_t, start: cython.longlong) -> cython.bint:
    """Are all places that a row names among the bytes from a start on, in their order?"""
    key_at: cython.longlong = section.cells[cell + 5]
    key_bytes: cython.longlong = section.cells[cell + 6]
    return (
        section.cells[cell + 2] >= start
        and section.cells[cell + 2] < section.cells[cell + 3]
        and section.cells[cell + 3] <= section.cells[cell + 4]
        and section.cells[cell + 4] <= section.end
        and key_at >= 0
        and key_at <= section.end
        and key_bytes <= section.end - key_at
    )


@cython.cfunc
def _opened(source: Buffer, rows: bytearray) -> _Section:
    """Take hold of the bytes; rows that point outside of them are of another batch."""
    section: _Section = _Section()
    row: cython.Py_ssize_t
    start: cython.longlong = 0
    section.rows = rows
    section.count = len(rows) // (8 * _ROW)
    if cython.compiled:
        PyObject_GetBuffer(source, cython.address(section.view), PyBUF_SIMPLE)
        section.data = cython.cast(cython.p_const_uchar, section.view.buf)
        section.end = section.view.len
        if section.data is cython.NULL:  # An empty buffer may have no address.
            section.data = cython.cast(cython.p_const_uchar, b"")
        section.cells = cython.cast(cython.p_longlong, PyByteArray_AS_STRING(rows))
    else:
        section.data = memoryview(source).cast("B")
        section.end = len(section.data)
        section.cells = memoryview(rows).cast("q")
    for row in range(section.count):
        # Rows that overlapped could be kept in more bytes than there is room for.
        if not _is_within(section, row * _ROW, start):
            raise InvalidValue("a row points past the bytes: it is of another batch", row)
        start = section.cells[row * _ROW + 4]
    return section


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def difference(one: cython.longlong, other: cython.longlong) -> cython.longlong:
    """Java's subtraction, which wraps."""
    total: cython.longlong
    if cython.compiled:
        total = cython.cast(cython.ulonglong, one) - cython.cast(cython.ulonglong, other)
    else:
        total = (one - other + (1 << 63)) % (1 << 64) - (1 << 63)
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def zigzag(value: cython.longlong) -> cython.ulonglong:
    if value < 0:
        return cython.cast(cython.ulonglong, ~value) * 2 + 1
    return cython.cast(cython.ulonglong, value) * 2


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def put_varint(
    out: cython.p_uchar, at: cython.Py_ssize_t, value: cython.ulonglong
) -> cython.Py_ssize_t:
    while value > 127:
        out[at] = (value & 127) | 128
        value >>= 7
        at += 1
    out[at] = cython.cast(cython.uchar, value)
    return at + 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _put_record(
    section: _Section,
    row: cython.Py_ssize_t,
    out: cython.p_uchar,
    at: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Write a record with its time told from the base; give where it ends."""
    cell: cython.Py_ssize_t = row * _ROW
    rest_at: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, section.cells[cell + 3])
    rest: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, section.cells[cell + 4]) - rest_at
    delta: cython.ulonglong = zigzag(difference(section.cells[cell + 1], section.base_timestamp))
    size: cython.Py_ssize_t = 2
    left: cython.ulonglong = delta
    while left > 127:
        left >>= 7
        size += 1
    at = put_varint(out, at, zigzag(size + rest))
    out[at] = section.data[section.cells[cell + 2]]
    at = put_varint(out, at + 1, delta)
    if cython.compiled:
        memcpy(out + at, section.data + rest_at, rest)
    else:
        out[at : at + rest] = section.data[rest_at : rest_at + rest]
    return at + rest


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _keep(section: _Section, marks: cython.p_const_uchar, out: cython.p_uchar) -> cython.Py_ssize_t:
    """Copy the marked records; give how many bytes that took."""
    row: cython.Py_ssize_t
    timestamp: cython.longlong
    at: cython.Py_ssize_t = 0
    section.kept = 0
    section.max_timestamp = -1
    for row in range(section.count):
        if marks[row] == 0:
            continue
        timestamp = section.cells[row * _ROW + 1]
        if not section.has_base:
            section.base_timestamp = timestamp
            section.has_base = True
        section.max_timestamp = max(section.max_timestamp, timestamp)
        at = _put_record(section, row, out, at)
        section.kept += 1
    return at


def keep_records(
    source: Buffer, rows: bytearray, marks: bytes, base_timestamp: Value = None
) -> tuple[bytes, int, int, int]:
    """Copy the records whose byte in `marks` is not zero; offset deltas stay as they are.

    Times are told from a base, the first kept record's time if none is given. Gives the section,
    its count, the base and the largest time.
    """
    section: _Section = _opened(source, rows)
    size: cython.Py_ssize_t
    if section.count != len(marks):
        raise InvalidValue(f"{len(marks)} marks for {section.count} records")
    section.has_base = base_timestamp is not None
    section.base_timestamp = base_timestamp if section.has_base else -1
    # A time told from another base takes at most nine bytes more, and the length at most one.
    written: bytearray = bytearray(section.end + 10 * section.count)
    if cython.compiled:
        mark: cython.p_const_uchar = cython.cast(
            cython.p_const_uchar, cython.cast(cython.p_char, marks)
        )
        out: cython.p_uchar = cython.cast(cython.p_uchar, PyByteArray_AS_STRING(written))
        with cython.nogil:
            size = _keep(section, mark, out)
    else:
        size = _keep(section, memoryview(marks), written)
    kept: bytes = bytes(memoryview(written)[:size])
    return kept, section.kept, section.base_timestamp, section.max_timestamp


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _put_word(out: cython.p_uchar, at: cython.Py_ssize_t, value: cython.ulonglong) -> cython.void:
    end: cython.Py_ssize_t = at + 8
    while at < end:
        out[at] = cython.cast(cython.uchar, value & 255)
        value >>= 8
        at += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _hash_all(section: _Section, state: SipHash, out: cython.p_uchar) -> cython.void:
    row: cython.Py_ssize_t
    at: cython.Py_ssize_t
    length: cython.Py_ssize_t
    for row in range(section.count):
        at = cython.cast(cython.Py_ssize_t, section.cells[row * _ROW + 5])
        length = cython.cast(cython.Py_ssize_t, section.cells[row * _ROW + 6])
        if length >= 0:
            digest(state, section.data, at, length)
            _put_word(out, 16 * row, state.low)
            _put_word(out, 16 * row + 8, state.high)


def hash_keys(source: Buffer, rows: bytearray, secret: bytes) -> bytearray:
    """The hashes of all keys, sixteen bytes a record, under a secret of sixteen bytes.

    The place of a record without a key stays zero; its row says that it has none.
    """
    state: SipHash = keyed(secret)
    section: _Section = _opened(source, rows)
    written: bytearray = bytearray(16 * section.count)
    if cython.compiled:
        out: cython.p_uchar = cython.cast(cython.p_uchar, PyByteArray_AS_STRING(written))
        with cython.nogil:
            _hash_all(section, state, out)
    else:
        _hash_all(section, state, written)
    return written
