"""Write records as the records section of a batch of magic 2.

A value that a record cannot hold is an error that names the record; offsets must rise.
"""

try:
    import cython
except ImportError:
    from ottla.kernels.shadow import cython

if cython.compiled:
    from cython.cimports.cpython.bytes import PyBytes_FromStringAndSize
    from cython.cimports.cpython.mem import PyMem_Free, PyMem_Realloc
    from cython.cimports.libc.string import memcpy

from ottla.kernels.faults import Unencodable
from ottla.kernels.kinds import Value

_BYTES_MAX = cython.declare(cython.Py_ssize_t, 2147483647)
_DELTA_MAX = cython.declare(cython.longlong, 2147483647)


@cython.final
@cython.freelist(4)
@cython.cclass
class _Output:
    """The bytes written so far."""

    data: cython.p_uchar
    length: cython.Py_ssize_t
    capacity: cython.Py_ssize_t

    def __init__(self) -> None:
        self.length = 0
        self.capacity = 0
        if not cython.compiled:
            self.data = bytearray()

    def __dealloc__(self) -> None:
        if cython.compiled:
            PyMem_Free(self.data)


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def _reserve(output: _Output, count: cython.Py_ssize_t) -> cython.int:
    """Make room for so many bytes at the end."""
    needed: cython.Py_ssize_t = output.length + count
    if needed <= output.capacity:
        return 0
    if needed > _BYTES_MAX:
        raise Unencodable(f"{needed} bytes of records are too many for one batch")
    capacity: cython.Py_ssize_t = min(needed + needed // 2 + 256, _BYTES_MAX)
    if cython.compiled:
        grown: cython.p_uchar = cython.cast(
            cython.p_uchar, PyMem_Realloc(output.data, cython.cast(cython.size_t, capacity))
        )
        if grown is cython.NULL:
            raise MemoryError
        output.data = grown
    else:
        output.data.extend(bytes(capacity - output.capacity))
    output.capacity = capacity
    return 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _zigzag(value: cython.longlong) -> cython.ulonglong:
    if value < 0:
        return cython.cast(cython.ulonglong, ~value) * 2 + 1
    return cython.cast(cython.ulonglong, value) * 2


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _varint_bytes(value: cython.longlong) -> cython.Py_ssize_t:
    """How many bytes a number takes as a zig-zag varint."""
    left: cython.ulonglong = _zigzag(value)
    count: cython.Py_ssize_t = 1
    while left > 127:
        left >>= 7
        count += 1
    return count


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _put_varint(output: _Output, value: cython.longlong) -> cython.void:
    left: cython.ulonglong = _zigzag(value)
    while left > 127:
        output.data[output.length] = cython.cast(cython.uchar, (left & 127) | 128)
        output.length += 1
        left >>= 7
    output.data[output.length] = cython.cast(cython.uchar, left)
    output.length += 1


@cython.cfunc
@cython.exceptval(-1)
def _put_bytes(output: _Output, value: bytes | None) -> cython.int:
    """Write a length and the bytes; None is a length of -1."""
    length: cython.Py_ssize_t
    if value is None:
        _put_varint(output, -1)
        return 0
    length = len(value)
    _put_varint(output, length)
    if cython.compiled:
        memcpy(output.data + output.length, cython.cast(cython.p_char, value), length)
    else:
        output.data[output.length : output.length + length] = value
    output.length += length
    return 0


@cython.cfunc
def _plain(value: Value) -> bytes | None:
    """Bytes or None, of what a caller may give as a key or a value."""
    if value is None or type(value) is bytes:
        return value
    if not issubclass(type(value), (bytes, bytearray, memoryview)):
        raise Unencodable(f"keys and values are bytes or None, not {type(value).__name__}")
    return bytes(value)


@cython.cfunc
@cython.exceptval(-1)
def _nullable_bytes(value: bytes | None) -> cython.Py_ssize_t:
    """How many bytes a nullable run takes with its length."""
    return 1 if value is None else _varint_bytes(len(value)) + len(value)


@cython.cfunc
def _plain_headers(headers: Value) -> list[Value]:
    """Names as UTF-8, values as bytes or None."""
    plain: list[Value] = []
    for name, value in headers:
        if not isinstance(name, str):
            raise Unencodable(f"a header's name is a string, not {type(name).__name__}")
        try:
            plain.append((name.encode(), _plain(value)))
        except UnicodeEncodeError as error:
            raise Unencodable(f"a header's name is no UTF-8: {error}") from error
    return plain


@cython.cfunc
@cython.exceptval(-1)
def _write_record(
    output: _Output,
    deltas: tuple[int, int],
    key: bytes | None,
    value: bytes | None,
    headers: Value,
) -> cython.int:
    timestamp_delta: cython.longlong = deltas[0]
    offset_delta: cython.longlong = deltas[1]
    plain: list[Value] = _plain_headers(headers) if headers else []
    body: cython.Py_ssize_t = 1 + _varint_bytes(timestamp_delta) + _varint_bytes(offset_delta)
    body += _nullable_bytes(key) + _nullable_bytes(value) + _varint_bytes(len(plain))
    for name, content in plain:
        body += _nullable_bytes(name) + _nullable_bytes(content)
    _reserve(output, body + 5)
    _put_varint(output, body)
    output.data[output.length] = 0
    output.length += 1
    _put_varint(output, timestamp_delta)
    _put_varint(output, offset_delta)
    _put_bytes(output, key)
    _put_bytes(output, value)
    _put_varint(output, len(plain))
    for name, content in plain:
        _put_bytes(output, name)
        _put_bytes(output, content)
    return 0


def _timestamp_delta(timestamp: int, base_timestamp: int) -> int:
    """The difference as Java has it, wrapped to 64 bits; times themselves must fit."""
    if not -(1 << 63) <= timestamp < 1 << 63:
        raise Unencodable(f"timestamp {timestamp} does not fit 64 bits")
    return (timestamp - base_timestamp + (1 << 63)) % (1 << 64) - (1 << 63)


def write_records(
    rows: Value, base_offset: int, base_timestamp: Value
) -> tuple[bytes, int, int, int]:
    """Write rows of (offset, timestamp, key, value, headers).

    Gives the section, how many records it has, the last offset delta and the largest time.
    """
    output: _Output = _Output()
    count: cython.Py_ssize_t = 0
    offset_delta: cython.longlong = -1
    max_timestamp: Value = -1
    delta: Value
    try:
        for offset, timestamp, key, value, headers in rows:
            if not isinstance(offset, int) or not isinstance(timestamp, int):
                raise Unencodable("an offset and a timestamp are whole numbers")
            delta = offset - base_offset
            if not offset_delta < delta <= _DELTA_MAX:
                raise Unencodable(f"offset {offset} does not rise, or is too far from the base")
            offset_delta = delta
            deltas: tuple[int, int] = (_timestamp_delta(timestamp, base_timestamp), delta)
            _write_record(output, deltas, _plain(key), _plain(value), headers)
            max_timestamp = max(max_timestamp, timestamp)
            count += 1
    except Unencodable as fault:
        fault.path.append(count)
        fault.path.append("records")
        raise
    except (TypeError, ValueError) as error:
        wrong = Unencodable(f"no record: {error}")
        wrong.path += [count, "records"]
        raise wrong from error
    section: bytes
    if cython.compiled:
        section = PyBytes_FromStringAndSize(cython.cast(cython.p_char, output.data), output.length)
    else:
        section = bytes(output.data[: output.length])
    return section, count, offset_delta, max_timestamp
