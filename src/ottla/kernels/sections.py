"""Go from batch to batch of a run, and give the records section of each that may have wanted rows.

A run is what a segment's byte range or a Fetch answer holds: whole batches of magic 2, one behind
the other, the last perhaps cut off. Headers are judged first: a batch that is not wanted is
neither checked nor decompressed. A fault leaves the walk where it is.

Aborted transactions are left out as a consumer does that reads committed records only: batches of
a producer, from the first offset of its aborted transaction until its abort marker. So markers
are followed in batches that are not wanted, too.
"""

try:
    import cython
except ImportError:
    from ottla.kernels.shadow import cython

from collections.abc import Callable, Sequence

from ottla.kernels.faults import InvalidValue, Truncated
from ottla.kernels.selection import INT64_MAX, INT64_MIN, OF_RECORDS, Buffer, Selection

if cython.compiled:
    from cython.cimports.cpython.memoryview import PyMemoryView_GET_BUFFER

_HEADER_BYTES = cython.declare(cython.Py_ssize_t, 61)
_RECORD_BYTES_MIN = cython.declare(cython.Py_ssize_t, 7)

_CODEC = cython.declare(cython.int, 7)
_CODEC_MAX = cython.declare(cython.int, 4)
_TRANSACTIONAL = cython.declare(cython.int, 16)
_CONTROL = cython.declare(cython.int, 32)

# Numbers of more than 31 bits have names, or C would compute with Python's integers.
_SIGN_32 = cython.declare(cython.longlong, 1 << 31)
_MASK_32 = cython.declare(cython.longlong, (1 << 32) - 1)
_TWO_TO_32 = cython.declare(cython.longlong, 1 << 32)
_INT64_MAX = cython.declare(cython.longlong, INT64_MAX)


@cython.final
@cython.cclass
class Sections:
    """The walk over a run, and the section that it has come to.

    `checksum(view)` gives a CRC-32C; None leaves it out. `decompress(codec, view, bytes_max)` gives
    a buffer that must stay as it is only until the next call. `aborted` are (producer id, first
    offset, last offset) of the transactions to leave out.
    """

    # The run.
    source: memoryview
    wire: cython.p_const_uchar
    wire_bytes: cython.Py_ssize_t
    checksum: Callable[[memoryview], int] | None
    decompress: Callable[[int, memoryview, int], Buffer]
    decompressed_bytes_max: cython.Py_ssize_t
    # What is wanted of it.
    by_record: cython.bint
    start_offset: cython.longlong
    end_offset: cython.longlong
    start_timestamp: cython.longlong
    # Transactions whose first offset is yet to come, and last offsets by producer of the others.
    aborted: list[tuple[int, int, int]]
    aborting: dict[int, int]
    # The batch.
    batch_at: cython.Py_ssize_t
    batch_end: cython.Py_ssize_t
    base_offset: cython.longlong
    leader_epoch: cython.int
    attributes: cython.int
    last_offset_delta: cython.longlong
    base_timestamp: cython.longlong
    max_timestamp: cython.longlong
    producer_id: cython.longlong
    record_count: cython.Py_ssize_t
    # Its records, unless the header says all that is wanted.
    is_counted: cython.bint
    is_compressed: cython.bint
    section: memoryview
    data: cython.p_const_uchar
    begin: cython.Py_ssize_t
    end: cython.Py_ssize_t

    def __init__(
        self,
        source: Buffer,
        wanted: Selection,
        checksum: Callable[[memoryview], int] | None,
        decompress: Callable[[int, memoryview, int], Buffer],
        aborted: Sequence[tuple[int, int, int]],
    ) -> None:
        self.source = memoryview(source).cast("B")
        self.wire = _pointer(self.source)
        self.wire_bytes = len(self.source)
        self.checksum = checksum
        self.decompress = decompress
        self.decompressed_bytes_max = wanted.decompressed_bytes_max
        self.by_record = (wanted.columns & OF_RECORDS) != 0 or (
            wanted.start_timestamp > INT64_MIN or wanted.end_timestamp < INT64_MAX
        )
        self.start_offset = wanted.start_offset
        self.end_offset = wanted.end_offset
        self.start_timestamp = wanted.start_timestamp
        self.aborted = sorted(aborted, key=_first_offset, reverse=True)
        self.aborting = {}
        self.batch_at = self.batch_end = 0
        self.section = self.source


def _first_offset(transaction: tuple[int, int, int]) -> int:
    return transaction[1]


@cython.cfunc
def _pointer(view: memoryview) -> cython.p_const_uchar:
    """Where a view's bytes begin; valid as long as the view is held."""
    if cython.compiled:
        start = cython.cast(cython.p_const_uchar, PyMemoryView_GET_BUFFER(view).buf)
    else:
        start = view
    return start


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _int32(data: cython.p_const_uchar, at: cython.Py_ssize_t) -> cython.longlong:
    value: cython.longlong = (
        (cython.cast(cython.uint, data[at]) << 24)
        | (cython.cast(cython.uint, data[at + 1]) << 16)
        | (cython.cast(cython.uint, data[at + 2]) << 8)
        | data[at + 3]
    )
    return (value ^ _SIGN_32) - _SIGN_32


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _int64(data: cython.p_const_uchar, at: cython.Py_ssize_t) -> cython.longlong:
    return _int32(data, at) * _TWO_TO_32 + (_int32(data, at + 4) & _MASK_32)


@cython.cfunc
@cython.exceptval(-1)
def next_section(walk: Sections) -> cython.int:
    """Come to the next batch that may have wanted rows; 0 if there is none, or a cut-off one."""
    length: cython.longlong
    while walk.wire_bytes - walk.batch_at >= 12:
        length = _int32(walk.wire, walk.batch_at + 8)
        if length > walk.wire_bytes - walk.batch_at - 12:
            return 0
        _read_header(walk, length)
        if walk.base_offset >= walk.end_offset:
            return 0
        if _is_wanted(walk):
            _open(walk)
            return 1
        walk.batch_at = walk.batch_end
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _read_header(walk: Sections, length: cython.longlong) -> cython.int:
    at: cython.Py_ssize_t = walk.batch_at
    if length >= 14 and walk.wire[at + 16] != 2:
        raise InvalidValue(f"magic {walk.wire[at + 16]} is not that of a batch", at)
    if length < _HEADER_BYTES - 12:
        raise InvalidValue(f"a batch of {length} bytes", at)
    walk.batch_end = at + 12 + length
    walk.base_offset = _int64(walk.wire, at)
    walk.leader_epoch = _int32(walk.wire, at + 12)
    walk.attributes = (walk.wire[at + 21] << 8) | walk.wire[at + 22]
    walk.last_offset_delta = _int32(walk.wire, at + 23)
    walk.base_timestamp = _int64(walk.wire, at + 27)
    walk.max_timestamp = _int64(walk.wire, at + 35)
    walk.producer_id = _int64(walk.wire, at + 43)
    walk.record_count = _int32(walk.wire, at + 57)
    if walk.base_offset < 0 or walk.last_offset_delta < 0:
        raise InvalidValue("a negative offset", at)
    if walk.base_offset >= _INT64_MAX - walk.last_offset_delta:
        raise InvalidValue("the next offset has more than 63 bits", at)
    if walk.record_count < 0 or walk.record_count > walk.last_offset_delta + 1:
        raise InvalidValue(f"{walk.record_count} records in a batch", at)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _is_wanted(walk: Sections) -> cython.int:
    """By its header, and by what the transactions before it came to."""
    if walk.producer_id >= 0 and (walk.aborted or walk.aborting) and _is_aborted(walk):
        return 0
    return (
        (walk.attributes & _CONTROL) == 0
        and walk.record_count > 0
        and walk.base_offset + walk.last_offset_delta >= walk.start_offset
        and walk.max_timestamp >= walk.start_timestamp
    )


@cython.cfunc
@cython.exceptval(-1)
def _is_aborted(walk: Sections) -> cython.int:
    producer_id: int = walk.producer_id
    last_offset: int = walk.base_offset + walk.last_offset_delta
    while walk.aborted and _first_offset(walk.aborted[len(walk.aborted) - 1]) <= last_offset:
        began: tuple[int, int, int] = walk.aborted.pop()
        walk.aborting[began[0]] = began[2]
    until: int | None = walk.aborting.get(producer_id)
    if until is None:
        return 0
    if walk.attributes & _CONTROL:
        if walk.record_count > 0:
            _open(walk)
            if _is_abort_marker(walk.section[walk.begin : walk.end], walk.batch_at):
                del walk.aborting[producer_id]
        return 0
    return (walk.attributes & _TRANSACTIONAL) != 0 and walk.base_offset <= until


def _is_abort_marker(section: memoryview, position: int) -> bool:
    """A control record's key is a version and a type of two bytes each; type 0 is abort."""
    try:
        attributes_at = _after_varint(section, 0)
        offset_at = _after_varint(section, attributes_at + 1)
        key_at = _after_varint(section, _after_varint(section, offset_at))
        return section[key_at + 2] == 0 and section[key_at + 3] == 0
    except IndexError:
        raise Truncated("a control record without a type", position) from None


def _after_varint(section: memoryview, at: int) -> int:
    while section[at] > 127:
        at += 1
    return at + 1


@cython.cfunc
@cython.exceptval(-1)
def _compare_checksum(walk: Sections) -> cython.int:
    """Unless checksums are left out."""
    at: cython.Py_ssize_t = walk.batch_at
    stored: cython.longlong = _int32(walk.wire, at + 17) & _MASK_32
    checksum = walk.checksum
    if checksum is not None and checksum(walk.source[at + 21 : walk.batch_end]) != stored:
        raise InvalidValue(f"the checksum of the batch at offset {walk.base_offset} differs", at)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _open(walk: Sections) -> cython.int:
    """Check the batch's bytes and find its records."""
    at: cython.Py_ssize_t = walk.batch_at
    codec: cython.int = walk.attributes & _CODEC
    _compare_checksum(walk)
    walk.is_counted = not walk.by_record and (
        walk.base_offset >= walk.start_offset
        and walk.base_offset + walk.last_offset_delta < walk.end_offset
        and (walk.attributes & _CONTROL) == 0
    )
    walk.is_compressed = codec != 0 and not walk.is_counted
    walk.section = walk.source
    walk.data = walk.wire
    walk.begin = at + _HEADER_BYTES
    walk.end = walk.batch_end
    if walk.is_compressed:
        if codec > _CODEC_MAX:
            raise InvalidValue(f"compression codec {codec}", at)
        packed: memoryview = walk.source[walk.begin : walk.end]
        raw = walk.decompress(codec, packed, walk.decompressed_bytes_max)
        walk.section = memoryview(raw).cast("B")
        walk.data = _pointer(walk.section)
        walk.begin = 0
        walk.end = len(walk.section)
    if not walk.is_counted and walk.record_count * _RECORD_BYTES_MIN > walk.end - walk.begin:
        raise Truncated(f"{walk.record_count} records cannot be in the batch", at)
    return 0
