"""The 32-bit xxHash, which LZ4 frames use for their header and, where asked, for their blocks."""

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

# The four accumulators of a long input, and the mixing of what is left of it, use these primes.
_PRIME_1 = cython.declare(cython.ulonglong, 2654435761)
_PRIME_2 = cython.declare(cython.ulonglong, 2246822519)
_PRIME_3 = cython.declare(cython.ulonglong, 3266489917)
_PRIME_4 = cython.declare(cython.ulonglong, 668265263)
_PRIME_5 = cython.declare(cython.ulonglong, 374761393)
_MASK = cython.declare(cython.ulonglong, 0xFFFFFFFF)


@cython.cfunc
@cython.inline
def _rotated(value: cython.ulonglong, count: cython.int) -> cython.ulonglong:
    return ((value << count) | (value >> (32 - count))) & _MASK


@cython.cfunc
@cython.inline
def _word_at(data: cython.p_const_uchar, at: cython.Py_ssize_t) -> cython.ulonglong:
    return (
        data[at]
        | (cython.cast(cython.ulonglong, data[at + 1]) << 8)
        | (cython.cast(cython.ulonglong, data[at + 2]) << 16)
        | (cython.cast(cython.ulonglong, data[at + 3]) << 24)
    )


@cython.cfunc
@cython.inline
def _round(lane: cython.ulonglong, word: cython.ulonglong) -> cython.ulonglong:
    lane = (lane + word * _PRIME_2) & _MASK
    return (_rotated(lane, 13) * _PRIME_1) & _MASK


@cython.cfunc
def _hash(data: cython.p_const_uchar, size: cython.Py_ssize_t) -> cython.ulonglong:
    at: cython.Py_ssize_t = 0
    value: cython.ulonglong = _PRIME_5
    if size >= 16:
        first: cython.ulonglong = (_PRIME_1 + _PRIME_2) & _MASK
        second: cython.ulonglong = _PRIME_2
        third: cython.ulonglong = 0
        fourth: cython.ulonglong = (_MASK + 1 - _PRIME_1) & _MASK
        while at + 16 <= size:
            first = _round(first, _word_at(data, at))
            second = _round(second, _word_at(data, at + 4))
            third = _round(third, _word_at(data, at + 8))
            fourth = _round(fourth, _word_at(data, at + 12))
            at += 16
        value = _rotated(first, 1) + _rotated(second, 7)
        value += _rotated(third, 12) + _rotated(fourth, 18)
    value = (value + size) & _MASK
    while at + 4 <= size:
        value = (value + _word_at(data, at) * _PRIME_3) & _MASK
        value = (_rotated(value, 17) * _PRIME_4) & _MASK
        at += 4
    while at < size:
        value = (value + data[at] * _PRIME_5) & _MASK
        value = (_rotated(value, 11) * _PRIME_1) & _MASK
        at += 1
    value = ((value ^ (value >> 15)) * _PRIME_2) & _MASK
    value = ((value ^ (value >> 13)) * _PRIME_3) & _MASK
    return value ^ (value >> 16)


def xxh32(source: bytes | bytearray | memoryview) -> int:
    """Hash all bytes of a buffer, with the seed 0."""
    if cython.compiled:
        view = cython.declare(Py_buffer)
        PyObject_GetBuffer(source, cython.address(view), PyBUF_SIMPLE)
        try:
            return _hash(cython.cast(cython.p_const_uchar, view.buf), view.len)
        finally:
            PyBuffer_Release(cython.address(view))
    data = memoryview(source)
    return _hash(data, len(data))
