# What other kernels see of pieces.py at C's speed; the compiler holds both to each other.

cdef class Memory:
    cdef bytearray held
    cdef Py_ssize_t capacity
    cdef unsigned char *octets
    cdef int *ints
    cdef long long *longs

cdef class Blobs:
    cdef bint wanted
    cdef bint large
    cdef Py_ssize_t count
    cdef Py_ssize_t used
    cdef Py_ssize_t nulls
    cdef Py_ssize_t capacity
    cdef Py_ssize_t bytes_capacity
    cdef Memory offsets
    cdef Memory octets
    cdef Memory validity
    cdef unsigned char *data
    cdef unsigned char *valid
    cdef int *ends_32
    cdef long long *ends_64

cdef class Piece:
    cdef int columns
    cdef Py_ssize_t rows_max
    cdef Py_ssize_t bytes_max
    cdef Py_ssize_t rows
    cdef Py_ssize_t row_capacity
    cdef Py_ssize_t constant_rows
    cdef Py_ssize_t data_bytes
    cdef Memory offsets
    cdef Memory timestamps
    cdef Memory timestamp_types
    cdef Memory leader_epochs
    cdef Memory producer_ids
    cdef Blobs key
    cdef Blobs value
    cdef Memory lists
    cdef Memory lists_valid
    cdef Py_ssize_t list_nulls
    cdef Blobs header_key
    cdef Blobs header_value
    cdef int header_key_bits

cdef int begin(Piece piece, Py_ssize_t source_bytes) except? -1
cdef int grow_rows(Piece piece) except? -1
cdef int grow_pair(Piece piece, Py_ssize_t key_bytes, Py_ssize_t value_bytes) except? -1
cdef int grow_headers(
    Piece piece, Py_ssize_t count, Py_ssize_t key_bytes, Py_ssize_t value_bytes
) except? -1
cdef int repeat_constants(
    Piece piece, int timestamp_type, int leader_epoch, long long producer_id
) except? -1
cdef object taken_columns(Piece piece)
