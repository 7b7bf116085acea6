# What other kernels see of batches.py at C's speed; the compiler holds both to each other.

cdef class Run:
    cdef Py_buffer view
    cdef const unsigned char *data
    cdef Py_ssize_t position
    cdef Py_ssize_t end
    cdef Py_ssize_t beyond
    cdef Py_ssize_t size
    cdef int magic
    cdef long long base_offset
    cdef long long last_offset
    cdef long long max_timestamp
    cdef long long offset_before
    cdef int stop

cdef Run opened(source, Py_ssize_t position)
cdef int step(Run run) noexcept nogil
cdef long long row_value(Run run, Py_ssize_t column) noexcept nogil
