"""Keep some records of a batch, and tell keys apart by a hash that nobody can aim at.

Both follow the rows that `kernels.records.list_records` made of the same bytes.

The hash is SipHash-2-4 with 128 bits of output under a secret of 128 bits. The cleaner takes two
keys of one hash for one key and drops the older record, so a client that could make two keys
collide could have another's record dropped. Without the secret, which is drawn anew for every
cleaning and never leaves the process, collisions can be met only by chance: 2**64 keys for an
even one. A hash without a secret would have to be a cryptographic one, several times slower on
keys of some tens of bytes; MD5, which Kafka takes, can be made to collide at will.
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
else:
    Py_buffer = object

from ottla.kernels.faults import InvalidValue
from ottla.kernels.kinds import Buffer, Value

_ROW = cython.declare(cython.Py_ssize_t, 8)
_WORD_MAX = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
# The letters that SipHash begins with.
_V0 = cython.declare(cython.ulonglong, 0x736F6D6570736575)
_V1 = cython.declare(cython.ulonglong, 0x646F72616E646F6D)
_V2 = cython.declare(cython.ulonglong, 0x6C7967656E657261)
_V3 = cython.declare(cython.ulonglong, 0x7465646279746573)


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
    # The state of the hash.
    v0: cython.ulonglong
    v1: cython.ulonglong
    v2: cython.ulonglong
    v3: cython.ulonglong

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
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _difference(one: cython.longlong, other: cython.longlong) -> cython.longlong:
    """Java's subtraction, which wraps."""
    total: cython.longlong
    if cython.compiled:
        total = cython.cast(cython.ulonglong, one) - cython.cast(cython.ulonglong, other)
    else:
        total = (one - other + (1 << 63)) % (1 << 64) - (1 << 63)
    return total


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _zigzag(value: cython.longlong) -> cython.ulonglong:
    if value < 0:
        return cython.cast(cython.ulonglong, ~value) * 2 + 1
    return cython.cast(cython.ulonglong, value) * 2


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _put_varint(
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
    delta: cython.ulonglong = _zigzag(_difference(section.cells[cell + 1], section.base_timestamp))
    size: cython.Py_ssize_t = 2
    left: cython.ulonglong = delta
    while left > 127:
        left >>= 7
        size += 1
    at = _put_varint(out, at, _zigzag(size + rest))
    out[at] = section.data[section.cells[cell + 2]]
    at = _put_varint(out, at + 1, delta)
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
def _rotated(word: cython.ulonglong, bits: cython.int) -> cython.ulonglong:
    return ((word << bits) & _WORD_MAX) | (word >> (64 - bits))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _mix(state: _Section, rounds: cython.int) -> cython.void:
    """SipHash's round, so many times."""
    v0: cython.ulonglong = state.v0
    v1: cython.ulonglong = state.v1
    v2: cython.ulonglong = state.v2
    v3: cython.ulonglong = state.v3
    while rounds > 0:
        rounds -= 1
        v0 = (v0 + v1) & _WORD_MAX
        v1 = _rotated(v1, 13) ^ v0
        v0 = _rotated(v0, 32)
        v2 = (v2 + v3) & _WORD_MAX
        v3 = _rotated(v3, 16) ^ v2
        v0 = (v0 + v3) & _WORD_MAX
        v3 = _rotated(v3, 21) ^ v0
        v2 = (v2 + v1) & _WORD_MAX
        v1 = _rotated(v1, 17) ^ v2
        v2 = _rotated(v2, 32)
    state.v0 = v0
    state.v1 = v1
    state.v2 = v2
    state.v3 = v3


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _word(data: cython.p_const_uchar, at: cython.Py_ssize_t, width: cython.int) -> cython.ulonglong:
    """A little-endian word of at most eight bytes."""
    value: cython.ulonglong = 0
    while width > 0:
        width -= 1
        value = (value << 8) | data[at + width]
    return value


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
def _hash(
    state: _Section, at: cython.Py_ssize_t, length: cython.Py_ssize_t, secret: cython.p_const_uchar
) -> cython.void:
    """Leave the state such that its words, mixed as `_hash_all` does, are the hash of the bytes."""
    end: cython.Py_ssize_t = at + length
    k0: cython.ulonglong = _word(secret, 0, 8)
    k1: cython.ulonglong = _word(secret, 8, 8)
    word: cython.ulonglong
    state.v0 = k0 ^ _V0
    state.v1 = k1 ^ _V1 ^ 0xEE
    state.v2 = k0 ^ _V2
    state.v3 = k1 ^ _V3
    while end - at >= 8:
        word = _word(state.data, at, 8)
        at += 8
        state.v3 ^= word
        _mix(state, 2)
        state.v0 ^= word
    word = _word(state.data, at, cython.cast(cython.int, end - at))
    word |= cython.cast(cython.ulonglong, length & 255) << 56
    state.v3 ^= word
    _mix(state, 2)
    state.v0 ^= word
    state.v2 ^= 0xEE
    _mix(state, 4)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _hash_all(section: _Section, secret: cython.p_const_uchar, out: cython.p_uchar) -> cython.void:
    row: cython.Py_ssize_t
    at: cython.Py_ssize_t
    length: cython.Py_ssize_t
    for row in range(section.count):
        at = cython.cast(cython.Py_ssize_t, section.cells[row * _ROW + 5])
        length = cython.cast(cython.Py_ssize_t, section.cells[row * _ROW + 6])
        if length >= 0:
            _hash(section, at, length, secret)
            _put_word(out, 16 * row, section.v0 ^ section.v1 ^ section.v2 ^ section.v3)
            section.v1 ^= 0xDD
            _mix(section, 4)
            _put_word(out, 16 * row + 8, section.v0 ^ section.v1 ^ section.v2 ^ section.v3)


def hash_keys(source: Buffer, rows: bytearray, secret: bytes) -> bytearray:
    """The hashes of all keys, sixteen bytes a record, under a secret of sixteen bytes.

    The place of a record without a key stays zero; its row says that it has none.
    """
    if len(secret) != 16:
        raise InvalidValue(f"a secret has 16 bytes, not {len(secret)}")
    section: _Section = _opened(source, rows)
    written: bytearray = bytearray(16 * section.count)
    if cython.compiled:
        key: cython.p_const_uchar = cython.cast(
            cython.p_const_uchar, cython.cast(cython.p_char, secret)
        )
        out: cython.p_uchar = cython.cast(cython.p_uchar, PyByteArray_AS_STRING(written))
        with cython.nogil:
            _hash_all(section, key, out)
    else:
        _hash_all(section, memoryview(secret), written)
    return written
