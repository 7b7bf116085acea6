# What other kernels see of sections.py at C's speed; the compiler holds both to each other.

cdef class Sections:
    cdef object source
    cdef const unsigned char *wire
    cdef Py_ssize_t wire_bytes
    cdef object checksum
    cdef object decompress
    cdef Py_ssize_t decompressed_bytes_max
    cdef bint by_record
    cdef long long start_offset
    cdef long long end_offset
    cdef long long start_timestamp
    cdef list aborted
    cdef dict aborting
    cdef Py_ssize_t batch_at
    cdef Py_ssize_t batch_end
    cdef long long base_offset
    cdef int leader_epoch
    cdef int attributes
    cdef long long last_offset_delta
    cdef long long base_timestamp
    cdef long long max_timestamp
    cdef long long producer_id
    cdef Py_ssize_t record_count
    cdef bint is_counted
    cdef bint is_compressed
    cdef object section
    cdef const unsigned char *data
    cdef Py_ssize_t begin
    cdef Py_ssize_t end

cdef int next_section(Sections walk) except? -1
