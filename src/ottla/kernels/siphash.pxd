# What other kernels see of siphash.py at C's speed; the compiler holds both to each other.

cdef class SipHash:
    cdef unsigned long long k0
    cdef unsigned long long k1
    cdef unsigned long long v0
    cdef unsigned long long v1
    cdef unsigned long long v2
    cdef unsigned long long v3
    cdef unsigned long long low
    cdef unsigned long long high

cdef SipHash keyed(bytes secret)
cdef void digest(
    SipHash state, const unsigned char *data, Py_ssize_t at, Py_ssize_t length
) noexcept nogil
