# What other kernels see of records.py at C's speed; the compiler holds both to each other.

cdef class Walk:
    cdef Py_buffer view
    cdef const unsigned char *data
    cdef object source
    cdef Py_ssize_t position
    cdef Py_ssize_t limit
    cdef Py_ssize_t end
    cdef int fault
    cdef long long index
    cdef long long count
    cdef long long base_offset
    cdef long long last_offset_delta
    cdef long long base_timestamp
    cdef long long append_timestamp
    cdef bint is_append_time
    cdef bint is_consecutive
    cdef Py_ssize_t body_at
    cdef Py_ssize_t rest_at
    cdef long long timestamp
    cdef long long offset_delta
    cdef Py_ssize_t key_at
    cdef Py_ssize_t key_bytes
    cdef Py_ssize_t value_at
    cdef Py_ssize_t value_bytes
    cdef Py_ssize_t headers_at
    cdef long long headers_count
    cdef long long max_timestamp
    cdef long long max_timestamp_index
    cdef long long no_keys
    cdef long long bad_times

cdef int hold(Walk walk, source) except? -1
cdef long long fixed(Walk walk, Py_ssize_t at, Py_ssize_t width) noexcept nogil
cdef void enter(Walk walk, Py_ssize_t at, Py_ssize_t end) noexcept nogil
cdef bint step(Walk walk) noexcept nogil
cdef int raise_fault(Walk walk) except? -1
