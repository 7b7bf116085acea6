"""The columns of a piece: memory that is not cleared when it grows nor copied when it leaves.

The loop over the records writes through the pointers here; all else happens once a piece, or once
a batch. A column that is not wanted never has any memory.
"""

try:
    import cython
except ImportError:
    from ottla.kernels.shadow import cython

from ottla.kernels import selection

if cython.compiled:
    from cython.cimports.cpython.bytearray import (
        PyByteArray_AS_STRING,
        PyByteArray_FromStringAndSize,
        PyByteArray_Resize,
    )

# The columns by number, where C can see them.
_OFFSET = cython.declare(cython.int, selection.OFFSET)
_TIMESTAMP = cython.declare(cython.int, selection.TIMESTAMP)
_KEY = cython.declare(cython.int, selection.KEY)
_VALUE = cython.declare(cython.int, selection.VALUE)
_HEADERS = cython.declare(cython.int, selection.HEADERS)
_TIMESTAMP_TYPE = cython.declare(cython.int, selection.TIMESTAMP_TYPE)
_LEADER_EPOCH = cython.declare(cython.int, selection.LEADER_EPOCH)
_PRODUCER_ID = cython.declare(cython.int, selection.PRODUCER_ID)

_ROWS_AT_FIRST = cython.declare(cython.Py_ssize_t, 8192)
_HEADERS_AT_FIRST = cython.declare(cython.Py_ssize_t, 64)


@cython.final
@cython.cclass
class Memory:
    """Bytes, seen by C as octets, as numbers of 32 bits and as numbers of 64 bits."""

    held: bytearray | None
    capacity: cython.Py_ssize_t
    octets: cython.p_uchar
    ints: cython.p_int
    longs: cython.p_longlong

    def __init__(self) -> None:
        self.held = None
        self.capacity = 0


@cython.cfunc
@cython.exceptval(-1)
def _resize(memory: Memory, capacity: cython.Py_ssize_t) -> cython.int:
    """Have room for this many bytes; what was there stays."""
    capacity = (capacity + 7) & ~7
    if cython.compiled:
        if memory.held is None:
            memory.held = PyByteArray_FromStringAndSize(cython.NULL, capacity)
        else:
            PyByteArray_Resize(memory.held, capacity)
        memory.octets = cython.cast(cython.p_uchar, PyByteArray_AS_STRING(memory.held))
        memory.ints = cython.cast(cython.p_int, memory.octets)
        memory.longs = cython.cast(cython.p_longlong, memory.octets)
    else:
        held = bytearray(capacity)
        if memory.held is not None:
            held[: len(memory.held)] = memory.held
        memory.held = held
        memory.octets = memoryview(held)
        memory.ints = memory.octets.cast("i")
        memory.longs = memory.octets.cast("q")
    memory.capacity = capacity
    return 0


@cython.cfunc
def _taken(memory: Memory, size: cython.Py_ssize_t) -> bytearray:
    """Hand the first bytes over, and begin anew."""
    held: bytearray | None = memory.held
    memory.held = None
    memory.capacity = 0
    if held is None:
        # Nothing needed room.
        held = bytearray(size)
    elif cython.compiled:
        PyByteArray_Resize(held, size)
    else:
        held = held[:size]
    return held


@cython.final
@cython.cclass
class Blobs:
    """A column of variable length: where each value ends, the bytes, and which values are null.

    `data`, `valid` and the two `ends` (of 32 or, if large, 64 bits) point into the memories, and
    are renewed when these are.
    """

    wanted: cython.bint
    large: cython.bint
    count: cython.Py_ssize_t
    used: cython.Py_ssize_t
    nulls: cython.Py_ssize_t
    capacity: cython.Py_ssize_t
    bytes_capacity: cython.Py_ssize_t
    offsets: Memory
    octets: Memory
    validity: Memory
    data: cython.p_uchar
    valid: cython.p_uchar
    ends_32: cython.p_int
    ends_64: cython.p_longlong

    def __init__(self, wanted: bool, large: bool) -> None:
        self.wanted = wanted
        self.large = large
        self.offsets = Memory()
        self.octets = Memory()
        self.validity = Memory()
        self.count = self.used = self.nulls = self.capacity = self.bytes_capacity = 0


@cython.cfunc
@cython.exceptval(-1)
def _begin_blobs(blobs: Blobs, count: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.int:
    """Be empty, with room for this many values and bytes."""
    blobs.count = blobs.used = blobs.nulls = 0
    if blobs.wanted:
        _reserve(blobs, max(count, blobs.capacity), max(size, blobs.bytes_capacity))
        # A zero of either width.
        blobs.offsets.longs[0] = 0
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _grow_blobs(blobs: Blobs, count: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.int:
    """Have room for this many more values and bytes, at least doubling what there is."""
    if not blobs.wanted:
        return 0
    count += blobs.count
    size += blobs.used
    if count > blobs.capacity:
        _reserve(blobs, max(count, 2 * blobs.capacity), blobs.bytes_capacity)
    if size > blobs.bytes_capacity:
        _reserve(blobs, blobs.capacity, max(size, 2 * blobs.bytes_capacity))
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _reserve(blobs: Blobs, count: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.int:
    if count > blobs.capacity:
        _resize(blobs.offsets, (count + 1) * (8 if blobs.large else 4))
        _resize(blobs.validity, (count + 7) >> 3)
        blobs.capacity = count
        blobs.valid = blobs.validity.octets
        blobs.ends_32 = blobs.offsets.ints
        blobs.ends_64 = blobs.offsets.longs
    if size > blobs.bytes_capacity:
        _resize(blobs.octets, size)
        blobs.bytes_capacity = blobs.octets.capacity
        blobs.data = blobs.octets.octets
    return 0


@cython.cfunc
def _taken_blobs(blobs: Blobs) -> object:
    """How many are null, which are not (None: all), where each ends, the bytes."""
    count: cython.Py_ssize_t = blobs.count
    nulls: cython.Py_ssize_t = blobs.nulls
    validity: bytearray = _taken(blobs.validity, (count + 7) >> 3)
    offsets: bytearray = _taken(blobs.offsets, (count + 1) * (8 if blobs.large else 4))
    octets: bytearray = _taken(blobs.octets, blobs.used)
    blobs.capacity = blobs.bytes_capacity = 0
    return nulls, validity if nulls else None, offsets, octets


@cython.final
@cython.cclass
class Piece:
    """The columns of one Arrow batch, as many rows of them as were copied."""

    columns: cython.int
    rows_max: cython.Py_ssize_t
    bytes_max: cython.Py_ssize_t
    rows: cython.Py_ssize_t
    row_capacity: cython.Py_ssize_t
    constant_rows: cython.Py_ssize_t
    data_bytes: cython.Py_ssize_t
    offsets: Memory
    timestamps: Memory
    timestamp_types: Memory
    leader_epochs: Memory
    producer_ids: Memory
    key: Blobs
    value: Blobs
    # Lists of headers. All the bits that are set in any key: below 128 if all is ASCII.
    lists: Memory
    lists_valid: Memory
    list_nulls: cython.Py_ssize_t
    header_key: Blobs
    header_value: Blobs
    header_key_bits: cython.int

    def __init__(self, wanted: selection.Selection) -> None:
        columns = wanted.columns
        self.columns = columns
        self.rows_max = wanted.rows_max
        self.bytes_max = wanted.bytes_max
        self.rows = self.row_capacity = self.constant_rows = self.data_bytes = 0
        self.offsets = Memory()
        self.timestamps = Memory()
        self.timestamp_types = Memory()
        self.leader_epochs = Memory()
        self.producer_ids = Memory()
        self.key = Blobs((columns & selection.KEY) != 0, wanted.large)
        self.value = Blobs((columns & selection.VALUE) != 0, wanted.large)
        self.lists = Memory()
        self.lists_valid = Memory()
        self.header_key = Blobs((columns & selection.HEADERS) != 0, False)
        self.header_value = Blobs((columns & selection.HEADERS) != 0, wanted.large)
        self.list_nulls = self.header_key_bits = 0


@cython.cfunc
@cython.exceptval(-1)
def begin(piece: Piece, source_bytes: cython.Py_ssize_t) -> cython.int:
    """Be empty. Values get all their room at once, so that they are not moved."""
    size: cython.Py_ssize_t = min(piece.bytes_max, source_bytes)
    piece.rows = piece.constant_rows = piece.data_bytes = 0
    piece.list_nulls = piece.header_key_bits = 0
    _reserve_rows(piece, min(piece.rows_max, _ROWS_AT_FIRST))
    # At least one byte, so that there is memory for an empty key to be copied to.
    _begin_blobs(piece.key, piece.row_capacity, max(1, size >> 3))
    _begin_blobs(piece.value, piece.row_capacity, size)
    _begin_blobs(piece.header_key, _HEADERS_AT_FIRST, 8 * _HEADERS_AT_FIRST)
    _begin_blobs(piece.header_value, _HEADERS_AT_FIRST, 8 * _HEADERS_AT_FIRST)
    if piece.columns & _HEADERS:
        piece.lists.ints[0] = 0
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _reserve_rows(piece: Piece, rows: cython.Py_ssize_t) -> cython.int:
    if rows <= piece.row_capacity:
        return 0
    if piece.columns & _OFFSET:
        _resize(piece.offsets, rows * 8)
    if piece.columns & _TIMESTAMP:
        _resize(piece.timestamps, rows * 8)
    if piece.columns & _TIMESTAMP_TYPE:
        _resize(piece.timestamp_types, rows * 4)
    if piece.columns & _LEADER_EPOCH:
        _resize(piece.leader_epochs, rows * 4)
    if piece.columns & _PRODUCER_ID:
        _resize(piece.producer_ids, rows * 8)
    if piece.columns & _HEADERS:
        _resize(piece.lists, (rows + 1) * 4)
        _resize(piece.lists_valid, (rows + 7) >> 3)
    piece.row_capacity = rows
    return 0


@cython.cfunc
@cython.exceptval(-1)
def grow_rows(piece: Piece) -> cython.int:
    """Have room for more rows, where a row more did not fit."""
    if piece.rows == piece.row_capacity:
        _reserve_rows(piece, min(2 * piece.row_capacity, piece.rows_max))
    return 0


@cython.cfunc
@cython.exceptval(-1)
def grow_pair(
    piece: Piece, key_bytes: cython.Py_ssize_t, value_bytes: cython.Py_ssize_t
) -> cython.int:
    """Have room for a key and a value of these lengths, and for one of each in every row."""
    rows: cython.Py_ssize_t = piece.row_capacity - piece.rows
    _grow_blobs(piece.key, rows, key_bytes)
    return _grow_blobs(piece.value, rows, value_bytes)


@cython.cfunc
@cython.exceptval(-1)
def grow_headers(
    piece: Piece,
    count: cython.Py_ssize_t,
    key_bytes: cython.Py_ssize_t,
    value_bytes: cython.Py_ssize_t,
) -> cython.int:
    """Have room for this many headers more, with keys and values of these lengths in all."""
    _grow_blobs(piece.header_key, count, key_bytes)
    return _grow_blobs(piece.header_value, count, value_bytes)


@cython.cfunc
@cython.exceptval(-1)
def repeat_constants(
    piece: Piece,
    timestamp_type: cython.int,
    leader_epoch: cython.int,
    producer_id: cython.longlong,
) -> cython.int:
    """Write into the new rows what is the same for all records of a batch."""
    row: cython.Py_ssize_t
    if piece.columns & _TIMESTAMP_TYPE:
        for row in range(piece.constant_rows, piece.rows):
            piece.timestamp_types.ints[row] = timestamp_type
    if piece.columns & _LEADER_EPOCH:
        for row in range(piece.constant_rows, piece.rows):
            piece.leader_epochs.ints[row] = leader_epoch
    if piece.columns & _PRODUCER_ID:
        for row in range(piece.constant_rows, piece.rows):
            piece.producer_ids.longs[row] = producer_id
    piece.constant_rows = piece.rows
    return 0


@cython.cfunc
def taken_columns(piece: Piece) -> object:
    """Hand the columns over: the bytes of numbers, or what Arrow's layout consists of."""
    rows: cython.Py_ssize_t = piece.rows
    given: dict[str, object] = {}
    if piece.columns & _OFFSET:
        given["offset"] = _taken(piece.offsets, rows * 8)
    if piece.columns & _TIMESTAMP:
        given["timestamp"] = _taken(piece.timestamps, rows * 8)
    if piece.columns & _TIMESTAMP_TYPE:
        given["timestampType"] = _taken(piece.timestamp_types, rows * 4)
    if piece.columns & _LEADER_EPOCH:
        given["leaderEpoch"] = _taken(piece.leader_epochs, rows * 4)
    if piece.columns & _PRODUCER_ID:
        given["producerId"] = _taken(piece.producer_ids, rows * 8)
    if piece.columns & _KEY:
        given["key"] = _taken_blobs(piece.key)
    if piece.columns & _VALUE:
        given["value"] = _taken_blobs(piece.value)
    if piece.columns & _HEADERS:
        given["headers"] = _taken_headers(piece)
    piece.row_capacity = 0
    return given


@cython.cfunc
def _taken_headers(piece: Piece) -> object:
    """How many lists are null, which are not, where each ends, headers in all, keys, values."""
    nulls: cython.Py_ssize_t = piece.list_nulls
    count: cython.Py_ssize_t = piece.header_key.count
    validity: bytearray = _taken(piece.lists_valid, (piece.rows + 7) >> 3)
    ends: bytearray = _taken(piece.lists, (piece.rows + 1) * 4)
    is_ascii: cython.bint = piece.header_key_bits < 128
    keys: object = _taken_blobs(piece.header_key)
    values: object = _taken_blobs(piece.header_value)
    return nulls, validity if nulls else None, ends, count, keys, values, is_ascii
