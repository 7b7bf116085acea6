"""Know the last offset of each key of a log, and keep of its batches what that says, run by run.

A map holds a hash of sixteen bytes and an offset for each key, in memory that is given to it and
never grows. `fill` takes the keys of a run of batches in; `choose` writes out what is kept of one.
Both go over a whole run without the lock and without a Python object for any record.

Batches lie open: of a compressed one, the caller gives the header and behind it the section
inflated, and compresses what comes out again. What was changed has no checksum yet.
"""

try:
    import cython
except ImportError:
    from ottla.kernels.shadow import cython

from ottla.kernels.faults import InvalidValue
from ottla.kernels.kinds import Buffer

if cython.compiled:
    from cython.cimports.cpython.bytearray import PyByteArray_AS_STRING, PyByteArray_Resize
    from cython.cimports.libc.string import memcpy, memset
    from cython.cimports.ottla.kernels.cleaning import difference, put_varint, zigzag
    from cython.cimports.ottla.kernels.records import Walk, enter, hold, raise_fault, step
    from cython.cimports.ottla.kernels.siphash import SipHash, digest, keyed
else:
    from ottla.kernels.cleaning import difference, put_varint, zigzag
    from ottla.kernels.records import Walk, enter, hold, raise_fault, step
    from ottla.kernels.siphash import SipHash, digest, keyed

ENTRY_BYTES = 24
"""What a key takes of the map: its hash and its offset."""
FILL_CELLS = 3
"""Of a batch that `fill` is given: position, size, and whether its keys count."""
CHOOSE_CELLS = 6
"""Of a batch that `choose` is given: position, size, bits; and then: bytes written, records
kept, and whether the batch is another than it was."""

# Bits of a batch that `choose` is given.
DISCARDS = 1  # None of its records stays.
KEEPS_EMPTY = 2  # If none stays, its header does.
IS_CONTROL = 4  # Its records have no keys to be told apart by, and all stay.
ENDS_NOTHING = 8  # A marker that no record needs any longer: it gets a delete horizon.

_DISCARDS = cython.declare(cython.longlong, DISCARDS)
_KEEPS_EMPTY = cython.declare(cython.longlong, KEEPS_EMPTY)
_IS_CONTROL = cython.declare(cython.longlong, IS_CONTROL)
_ENDS_NOTHING = cython.declare(cython.longlong, ENDS_NOTHING)

_FILL_CELLS = cython.declare(cython.Py_ssize_t, FILL_CELLS)
_CHOOSE_CELLS = cython.declare(cython.Py_ssize_t, CHOOSE_CELLS)
_ENTRY_BYTES = cython.declare(cython.Py_ssize_t, ENTRY_BYTES)
_ENTRY_WORDS = cython.declare(cython.Py_ssize_t, 3)
_HEADER_BYTES = cython.declare(cython.Py_ssize_t, 61)
_RECORD_BYTES_MIN = cython.declare(cython.Py_ssize_t, 7)
# A time told from another base takes at most nine bytes more, and the length at most one.
_GROWTH_BYTES_MAX = cython.declare(cython.Py_ssize_t, 10)
_HORIZON_BIT = cython.declare(cython.int, 64)
_CODEC_BITS = cython.declare(cython.int, 7)
_APPEND_TIME_BIT = cython.declare(cython.int, 8)


@cython.final
@cython.cclass
class OffsetMap:
    """The last offset of each key, and up to which offset keys were taken in.

    Places are tried one after the other from where the hash says. An entry is its hash, of two
    words, and its offset and one more, so that zeros are no entry.
    """

    hashed: SipHash
    held: bytearray
    words: cython.p_ulonglong
    slots: cython.Py_ssize_t
    entries: cython.Py_ssize_t
    entries_max: cython.Py_ssize_t
    latest: cython.longlong

    def __init__(self, memory: bytearray, secret: bytes, entries_max: cython.Py_ssize_t) -> None:
        """Be empty; the memory is cleared, and is nobody else's from now on."""
        self.hashed = keyed(secret)
        self.held = memory
        self.slots = len(memory) // _ENTRY_BYTES
        if entries_max < 1 or entries_max >= self.slots:
            raise InvalidValue(f"{self.slots} places cannot hold {entries_max} keys, and one free")
        self.entries = 0
        self.entries_max = entries_max
        self.latest = -1
        if cython.compiled:
            memset(PyByteArray_AS_STRING(memory), 0, len(memory))
            self.words = cython.cast(cython.p_ulonglong, PyByteArray_AS_STRING(memory))
        else:
            memory[:] = bytes(len(memory))
            self.words = memoryview(memory)[: self.slots * _ENTRY_BYTES].cast("Q")

    def __len__(self) -> int:
        return self.entries

    @property
    def is_full(self) -> bool:
        """Is there no room for another key?"""
        return self.entries >= self.entries_max

    @property
    def latest_offset(self) -> int:
        """Up to which offset all keys were taken in; -1 at first."""
        return self.latest

    def advance(self, offset: cython.longlong) -> None:
        """Say that all keys up to an offset were taken in."""
        self.latest = max(self.latest, offset)

    def put(self, key: Buffer, offset: cython.longlong) -> None:
        """Take one key in, for which there must be room."""
        walk: Walk = Walk()
        hold(walk, key)
        digest(self.hashed, walk.data, 0, walk.end)
        _put(self, offset)

    def get(self, key: Buffer) -> int:
        """The last offset of a key; -1 if it was not taken in."""
        walk: Walk = Walk()
        hold(walk, key)
        digest(self.hashed, walk.data, 0, walk.end)
        return _offset(self)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _place(keys: OffsetMap) -> cython.Py_ssize_t:
    """Where the entry is of the hash made last, or where it would be; one is always free."""
    low: cython.ulonglong = keys.hashed.low
    high: cython.ulonglong = keys.hashed.high
    end: cython.Py_ssize_t = keys.slots * _ENTRY_WORDS
    at: cython.Py_ssize_t = cython.cast(
        cython.Py_ssize_t, low % cython.cast(cython.ulonglong, keys.slots)
    )
    at *= _ENTRY_WORDS
    while keys.words[at + 2] != 0 and (keys.words[at] != low or keys.words[at + 1] != high):
        at += _ENTRY_WORDS
        if at == end:
            at = 0
    return at


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _put(keys: OffsetMap, offset: cython.longlong) -> cython.void:
    at: cython.Py_ssize_t = _place(keys)
    if keys.words[at + 2] == 0:
        keys.entries += 1
        keys.words[at] = keys.hashed.low
        keys.words[at + 1] = keys.hashed.high
    keys.words[at + 2] = cython.cast(cython.ulonglong, offset) + 1
    keys.latest = offset


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _offset(keys: OffsetMap) -> cython.longlong:
    return cython.cast(cython.longlong, keys.words[_place(keys) + 2]) - 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _begin(walk: Walk, cells: cython.p_longlong, at: cython.Py_ssize_t) -> cython.void:
    """Stand before the first record of the batch that some cells name."""
    position: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, cells[at])
    enter(walk, position, position + cython.cast(cython.Py_ssize_t, cells[at + 1]))
    if walk.count < 0 or walk.count > (walk.end - walk.position) // _RECORD_BYTES_MIN:
        walk.fault = 1


@cython.cfunc
def _opened(source: Buffer, places: bytearray, cells: cython.Py_ssize_t) -> Walk:
    """Take hold of a run, whose places must be within it."""
    walk: Walk = Walk()
    hold(walk, source)
    if len(places) % (8 * cells):
        raise InvalidValue(f"{len(places)} bytes are no whole places")
    numbers = memoryview(places).cast("q")
    at: cython.Py_ssize_t
    for at in range(0, len(numbers), cells):
        position: cython.longlong = numbers[at]
        size: cython.longlong = numbers[at + 1]
        if position < 0 or size < _HEADER_BYTES or size > walk.end - position:
            raise InvalidValue("a batch is not among the bytes", at // cells)
    return walk


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill_batch(keys: OffsetMap, walk: Walk, start_offset: cython.longlong) -> cython.bint:
    """Take the keys of one batch in; was there room for all?"""
    offset: cython.longlong
    while step(walk):
        offset = walk.base_offset + walk.offset_delta
        if walk.key_bytes >= 0 and offset >= start_offset:
            if keys.entries >= keys.entries_max:
                return False
            digest(keys.hashed, walk.data, walk.key_at, walk.key_bytes)
            _put(keys, offset)
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill(
    keys: OffsetMap,
    walk: Walk,
    cells: cython.p_longlong,
    count: cython.Py_ssize_t,
    start_offset: cython.longlong,
) -> cython.Py_ssize_t:
    done: cython.Py_ssize_t
    last_offset: cython.longlong
    for done in range(count):
        _begin(walk, cells, done * _FILL_CELLS)
        last_offset = walk.base_offset + walk.last_offset_delta
        if (
            cells[done * _FILL_CELLS + 2] != 0
            and walk.fault == 0
            and not _fill_batch(keys, walk, start_offset)
        ):
            return done
        if walk.fault != 0:
            return done
        if last_offset >= start_offset:
            keys.latest = last_offset
    return count


def fill(keys: OffsetMap, source: Buffer, places: bytearray, start_offset: cython.longlong) -> int:
    """Take in the keys of a run's records at or past an offset; give how many batches that was.

    Fewer than were given means that the map is full: the next one may have been taken in in part,
    as the latest offset says.
    """
    walk: Walk = _opened(source, places, _FILL_CELLS)
    count: cython.Py_ssize_t = len(places) // (8 * _FILL_CELLS)
    done: cython.Py_ssize_t
    cells: cython.p_longlong
    if cython.compiled:
        cells = cython.cast(cython.p_longlong, PyByteArray_AS_STRING(places))
        with cython.nogil:
            done = _fill(keys, walk, cells, count, start_offset)
    else:
        cells = memoryview(places).cast("q")
        done = _fill(keys, walk, cells, count, start_offset)
    raise_fault(walk)
    return done


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_kept(keys: OffsetMap, walk: Walk, keeps_tombstones: cython.bint) -> cython.bint:
    """Is the record past all that was taken in, or the last of its key and no spent tombstone?"""
    offset: cython.longlong = walk.base_offset + walk.offset_delta
    if offset > keys.latest:
        return True
    if walk.key_bytes < 0:
        return False
    digest(keys.hashed, walk.data, walk.key_at, walk.key_bytes)
    return offset >= _offset(keys) and (walk.value_bytes >= 0 or keeps_tombstones)


@cython.final
@cython.cclass
class _Choice:
    """Where what is kept goes, and what is known of the batch that is looked at."""

    out: cython.p_uchar
    at: cython.Py_ssize_t
    marks: cython.p_uchar
    now_ms: cython.longlong
    horizon_ms: cython.longlong
    kept: cython.longlong
    has_tombstone: cython.bint
    has_horizon: cython.bint


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _mark(keys: OffsetMap, walk: Walk, choice: _Choice, bits: cython.longlong) -> cython.void:
    """Mark the records of a batch that stay."""
    keeps_tombstones: cython.bint = not choice.has_horizon or choice.now_ms < walk.base_timestamp
    stays: cython.bint
    choice.kept = 0
    choice.has_tombstone = False
    if bits & _DISCARDS:
        return
    while step(walk):
        stays = (bits & _IS_CONTROL) != 0 or _is_kept(keys, walk, keeps_tombstones)
        choice.marks[walk.index - 1] = stays
        if stays:
            choice.kept += 1
            if walk.value_bytes < 0:
                choice.has_tombstone = True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _copy(
    walk: Walk, choice: _Choice, position: cython.Py_ssize_t, size: cython.Py_ssize_t
) -> cython.void:
    at: cython.Py_ssize_t = choice.at
    if cython.compiled:
        memcpy(choice.out + at, walk.data + position, size)
    else:
        choice.out[at : at + size] = walk.data[position : position + size]
    choice.at = at + size


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _set_fixed(
    out: cython.p_uchar, at: cython.Py_ssize_t, width: cython.int, value: cython.longlong
) -> cython.void:
    """Write a big-endian integer."""
    while width > 0:
        width -= 1
        out[at + width] = cython.cast(cython.uchar, value & 255)
        value >>= 8


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _put_record(walk: Walk, choice: _Choice, base_timestamp: cython.longlong) -> cython.void:
    """Write the record that the walk went over, with its time told from a base."""
    rest: cython.Py_ssize_t = walk.position - walk.rest_at
    delta: cython.ulonglong = zigzag(difference(walk.timestamp, base_timestamp))
    size: cython.Py_ssize_t = 2
    left: cython.ulonglong = delta
    while left > 127:
        left >>= 7
        size += 1
    choice.at = put_varint(choice.out, choice.at, zigzag(size + rest))
    choice.out[choice.at] = walk.data[walk.body_at]
    choice.at = put_varint(choice.out, choice.at + 1, delta)
    _copy(walk, choice, walk.rest_at, rest)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _put_empty(
    walk: Walk, choice: _Choice, position: cython.Py_ssize_t, attributes: cython.int
) -> cython.void:
    """Write a header alone; its largest time still says how old the batch is."""
    at: cython.Py_ssize_t = choice.at
    _copy(walk, choice, position, _HEADER_BYTES)
    _set_fixed(choice.out, at + 8, 4, _HEADER_BYTES - 12)
    choice.out[at + 22] = cython.cast(cython.uchar, attributes & ~(_HORIZON_BIT | _CODEC_BITS))
    _set_fixed(choice.out, at + 27, 8, -1)
    _set_fixed(choice.out, at + 57, 4, 0)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _put_kept(
    walk: Walk, choice: _Choice, position: cython.Py_ssize_t, attributes: cython.int
) -> cython.void:
    """Write the batch with the marked records; it has a horizon if the choice has one."""
    start: cython.Py_ssize_t = choice.at
    base_timestamp: cython.longlong = choice.horizon_ms
    max_timestamp: cython.longlong = -1
    is_first: cython.bint = not choice.has_horizon
    enter(walk, position, walk.end)
    _copy(walk, choice, position, _HEADER_BYTES)
    while step(walk):
        if choice.marks[walk.index - 1] == 0:
            continue
        if is_first:
            base_timestamp = walk.timestamp
            is_first = False
        max_timestamp = max(max_timestamp, walk.timestamp)
        _put_record(walk, choice, base_timestamp)
    if choice.has_horizon:
        attributes |= _HORIZON_BIT
    if attributes & _APPEND_TIME_BIT:
        max_timestamp = walk.append_timestamp
    _set_fixed(choice.out, start + 8, 4, choice.at - start - 12)
    choice.out[start + 22] = cython.cast(cython.uchar, attributes)
    _set_fixed(choice.out, start + 27, 8, base_timestamp)
    _set_fixed(choice.out, start + 35, 8, max_timestamp)
    _set_fixed(choice.out, start + 57, 4, choice.kept)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _choose_batch(
    keys: OffsetMap, walk: Walk, choice: _Choice, cells: cython.p_longlong, cell: cython.Py_ssize_t
) -> cython.void:
    """Write what stays of one batch."""
    position: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, cells[cell])
    bits: cython.longlong = cells[cell + 2]
    start: cython.Py_ssize_t = choice.at
    horizon_ms: cython.longlong = choice.horizon_ms
    attributes: cython.int = walk.data[position + 22]
    changes: cython.bint = True
    _begin(walk, cells, cell)
    choice.has_horizon = (attributes & _HORIZON_BIT) != 0
    _mark(keys, walk, choice, bits)
    if walk.fault != 0:
        return
    if choice.kept == 0:
        if bits & _KEEPS_EMPTY:
            _put_empty(walk, choice, position, attributes)
    elif choice.kept < walk.count or (
        not choice.has_horizon and (choice.has_tombstone or bits & _ENDS_NOTHING)
    ):
        if choice.has_horizon:
            choice.horizon_ms = walk.base_timestamp
        elif choice.has_tombstone or bits & _ENDS_NOTHING:
            choice.has_horizon = True
        _put_kept(walk, choice, position, attributes)
        choice.horizon_ms = horizon_ms
    else:
        changes = False
        _copy(walk, choice, position, walk.end - position)
    cells[cell + 3] = choice.at - start
    cells[cell + 4] = choice.kept
    cells[cell + 5] = changes


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _choose(
    keys: OffsetMap,
    walk: Walk,
    choice: _Choice,
    cells: cython.p_longlong,
    count: cython.Py_ssize_t,
) -> cython.void:
    batch: cython.Py_ssize_t
    for batch in range(count):
        _choose_batch(keys, walk, choice, cells, batch * _CHOOSE_CELLS)
        if walk.fault != 0:
            return


@cython.cfunc
def _make_room(walk: Walk, places: bytearray, out: bytearray) -> bytearray:
    """Lengthen what is written to for the worst, and make room for the marks of any batch."""
    numbers = memoryview(places).cast("q")
    needed: cython.Py_ssize_t = 0
    records_max: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t
    for at in range(0, len(numbers), _CHOOSE_CELLS):
        position: cython.Py_ssize_t = numbers[at]
        size: cython.Py_ssize_t = numbers[at + 1]
        enter(walk, position, position + size)
        records: cython.Py_ssize_t = min(max(walk.count, 0), size // _RECORD_BYTES_MIN)
        needed += size + _GROWTH_BYTES_MAX * records
        records_max = max(records_max, records)
    if len(out) < needed:
        if cython.compiled:
            PyByteArray_Resize(out, needed)
        else:
            out.extend(bytes(needed - len(out)))
    return bytearray(records_max + 1)


def choose(
    keys: OffsetMap, source: Buffer, places: bytearray, out: bytearray, times: tuple[int, int]
) -> int:
    """Write what is kept of a run to the front of a buffer, which grows; give how much that is.

    `times` are now, and the horizon of tombstones and markers that have none yet. Of each batch its
    place then tells how many bytes there are of it, how many records, and if it was changed.
    """
    walk: Walk = _opened(source, places, _CHOOSE_CELLS)
    marks: bytearray = _make_room(walk, places, out)
    count: cython.Py_ssize_t = len(places) // (8 * _CHOOSE_CELLS)
    choice: _Choice = _Choice()
    choice.at = 0
    choice.now_ms, choice.horizon_ms = times
    walk.fault = 0
    if cython.compiled:
        choice.out = cython.cast(cython.p_uchar, PyByteArray_AS_STRING(out))
        choice.marks = cython.cast(cython.p_uchar, PyByteArray_AS_STRING(marks))
        cells: cython.p_longlong = cython.cast(cython.p_longlong, PyByteArray_AS_STRING(places))
        with cython.nogil:
            _choose(keys, walk, choice, cells, count)
    else:
        choice.out = memoryview(out)
        choice.marks = memoryview(marks)
        _choose(keys, walk, choice, memoryview(places).cast("q"), count)
        choice.out.release()
    raise_fault(walk)
    return choice.at
