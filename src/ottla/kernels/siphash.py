"""Tell keys apart by a hash that nobody can aim at: SipHash-2-4 with 128 bits of output.

The cleaner takes two keys of one hash for one key and drops the older record, so a client that
could make two keys collide could have another's record dropped. The secret of 128 bits, which is
drawn anew for every cleaning and never leaves the process, leaves collisions to chance: 2**64 keys
for an even one. A hash without a secret would have to be a cryptographic one, several times slower
on keys of some tens of bytes; MD5, which Kafka takes, can be made to collide at will.
"""

try:
    import cython
except ImportError:
    from ottla.kernels.shadow import cython

from ottla.kernels.faults import InvalidValue

_WORD_MAX = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
# The letters that SipHash begins with.
_V0 = cython.declare(cython.ulonglong, 0x736F6D6570736575)
_V1 = cython.declare(cython.ulonglong, 0x646F72616E646F6D)
_V2 = cython.declare(cython.ulonglong, 0x6C7967656E657261)
_V3 = cython.declare(cython.ulonglong, 0x7465646279746573)


@cython.final
@cython.cclass
class SipHash:
    """The secret as two words, the state, and the last hash as its two little-endian words."""

    k0: cython.ulonglong
    k1: cython.ulonglong
    v0: cython.ulonglong
    v1: cython.ulonglong
    v2: cython.ulonglong
    v3: cython.ulonglong
    low: cython.ulonglong
    high: cython.ulonglong


@cython.cfunc
def keyed(secret: bytes) -> SipHash:
    """A hash under a secret of sixteen bytes."""
    if len(secret) != 16:
        raise InvalidValue(f"a secret has 16 bytes, not {len(secret)}")
    state: SipHash = SipHash()
    state.k0 = int.from_bytes(secret[:8], "little")
    state.k1 = int.from_bytes(secret[8:], "little")
    return state


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
def _mix(state: SipHash, rounds: cython.int) -> cython.void:
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
@cython.nogil
@cython.exceptval(check=False)
def digest(
    state: SipHash, data: cython.p_const_uchar, at: cython.Py_ssize_t, length: cython.Py_ssize_t
) -> cython.void:
    """Hash some bytes; the caller knows that they are there."""
    end: cython.Py_ssize_t = at + length
    word: cython.ulonglong
    state.v0 = state.k0 ^ _V0
    state.v1 = state.k1 ^ _V1 ^ 0xEE
    state.v2 = state.k0 ^ _V2
    state.v3 = state.k1 ^ _V3
    while end - at >= 8:
        word = _word(data, at, 8)
        at += 8
        state.v3 ^= word
        _mix(state, 2)
        state.v0 ^= word
    word = _word(data, at, cython.cast(cython.int, end - at))
    word |= cython.cast(cython.ulonglong, length & 255) << 56
    state.v3 ^= word
    _mix(state, 2)
    state.v0 ^= word
    state.v2 ^= 0xEE
    _mix(state, 4)
    state.low = state.v0 ^ state.v1 ^ state.v2 ^ state.v3
    state.v1 ^= 0xDD
    _mix(state, 4)
    state.high = state.v0 ^ state.v1 ^ state.v2 ^ state.v3
