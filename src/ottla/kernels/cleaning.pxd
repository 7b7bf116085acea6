# What other kernels see of cleaning.py at C's speed; the compiler holds both to each other.

cdef long long difference(long long one, long long other) noexcept nogil
cdef unsigned long long zigzag(long long value) noexcept nogil
cdef Py_ssize_t put_varint(
    unsigned char *out, Py_ssize_t at, unsigned long long value
) noexcept nogil
