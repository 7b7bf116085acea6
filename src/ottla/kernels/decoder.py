"""Read messages from bytes, following a plan: one plan per (class, version).

A plan is a flat list of steps, one a field, worked out once in Python; the loops here only follow
it. Nothing is allocated by a length that the bytes left could not fill, and every object is
charged to an allowance before it is made. Records are not copied: they decode to a view.

A message is a tree, so reference counts alone free it. What is made here is therefore taken out of
the cyclic collector's sight, which would otherwise walk a big message again and again while it is
being read (more than half of the time, for the metadata of 100 topics). Whoever puts a message
into one of its own fields makes a leak.
"""

try:
    import cython
except ImportError:
    from ottla.kernels.shadow import cython

import struct

from ottla.kernels.faults import InvalidValue, LimitExceeded, Malformed, Truncated
from ottla.kernels.kinds import COMPACT, KINDS, NULLABLE, Buffer, Value

if cython.compiled:
    from cython.cimports.cpython.buffer import (
        Py_buffer,
        PyBUF_SIMPLE,
        PyBuffer_Release,
        PyObject_GetBuffer,
    )
    from cython.cimports.cpython.bytes import PyBytes_FromStringAndSize
    from cython.cimports.cpython.memoryview import (
        PyMemoryView_FromObject,
        PyMemoryView_GET_BUFFER,
    )
    from cython.cimports.cpython.object import Py_TYPE, PyObject, PyTypeObject
    from cython.cimports.cpython.unicode import PyUnicode_DecodeUTF8
    from cython.cimports.ottla.kernels.collector import PyObject_GC_UnTrack

# What the objects of one message may take beyond four times its bytes, unless a caller says less.
SLACK_BYTES = 64 << 20

# The kinds of field by number, where C can see them.
_BOOL = cython.declare(cython.int, KINDS.index("bool"))
_INT8 = cython.declare(cython.int, KINDS.index("int8"))
_INT16 = cython.declare(cython.int, KINDS.index("int16"))
_UINT16 = cython.declare(cython.int, KINDS.index("uint16"))
_INT32 = cython.declare(cython.int, KINDS.index("int32"))
_UINT32 = cython.declare(cython.int, KINDS.index("uint32"))
_INT64 = cython.declare(cython.int, KINDS.index("int64"))
_FLOAT64 = cython.declare(cython.int, KINDS.index("float64"))
_UUID = cython.declare(cython.int, KINDS.index("uuid"))
_STRING = cython.declare(cython.int, KINDS.index("string"))
_BYTES = cython.declare(cython.int, KINDS.index("bytes"))
_RECORDS = cython.declare(cython.int, KINDS.index("records"))
_ARRAY = cython.declare(cython.int, KINDS.index("array"))
_STRUCT = cython.declare(cython.int, KINDS.index("struct"))

_NO_ARGUMENTS: tuple[object, ...] = ()

# Numbers of more than 31 bits have names, or C would compute with Python's integers.
_SIGN_32 = cython.declare(cython.longlong, 1 << 31)
_TWO_TO_32 = cython.declare(cython.longlong, 1 << 32)

# Kafka takes no longer string, not even where a varint could say its length.
_STRING_LENGTH_MAX = cython.declare(cython.Py_ssize_t, 32767)

# What CPython spends at most on each kind of object, rounded up to the allocator's step.
_INT_BYTES = cython.declare(cython.Py_ssize_t, 32)
_STRING_BYTES = cython.declare(cython.Py_ssize_t, 80)
_BLOB_BYTES = cython.declare(cython.Py_ssize_t, 64)
_VIEW_BYTES = cython.declare(cython.Py_ssize_t, 208)
_LIST_BYTES = cython.declare(cython.Py_ssize_t, 72)
_DICT_BYTES = cython.declare(cython.Py_ssize_t, 400)


@cython.final
@cython.cclass
class DecodeStep:
    """One field in one version: what it is, where it is kept, what stands in when it is absent."""

    name: str
    kind: cython.int
    compact: cython.bint
    nullable: cython.bint
    slot: object
    default: object
    element: object
    plan: object
    element_bytes_min: cython.Py_ssize_t

    def __init__(
        self,
        name: str,
        kind: str,
        slot: object = None,
        default: object = None,
        inner: object = None,
        flags: int = 0,
    ) -> None:
        self.name = name
        self.kind = KINDS.index(kind)
        self.slot = slot
        self.default = default
        self.element = inner if kind == "array" else None
        self.plan = inner if kind == "struct" else None
        self.element_bytes_min = 0
        if kind == "array":
            self.element_bytes_min = _wire_bytes_min(cython.cast(DecodeStep, inner))
        self.compact = (flags & COMPACT) != 0
        self.nullable = (flags & NULLABLE) != 0


@cython.final
@cython.cclass
class DecodePlan:
    """All fields of one class in one version: those on the wire in order, the tagged, the absent.

    `wire_bytes_min` is the least that one such struct takes on the wire, `object_bytes` the most
    that the object and its numbers take in memory; both bound arrays before they are allocated.
    """

    name: str
    cls: type[object]
    steps: list[DecodeStep]
    tagged: dict[int, DecodeStep]
    defaults: list[DecodeStep]
    unknown: object
    flexible: cython.bint
    object_bytes: cython.Py_ssize_t
    wire_bytes_min: cython.Py_ssize_t

    def __init__(
        self,
        cls: type[object],
        steps: list[DecodeStep],
        tagged: dict[int, DecodeStep],
        absent: list[DecodeStep],
        unknown: object,
        flexible: bool,
    ) -> None:
        self.name = cls.__qualname__
        self.cls = cls
        self.steps = steps
        self.tagged = tagged
        self.defaults = [*absent, *tagged.values()]
        self.unknown = unknown
        self.flexible = flexible
        self.object_bytes = cls.__basicsize__ + 32 + sum(map(_object_bytes, [*steps, *absent]))
        self.object_bytes += sum(map(_object_bytes, tagged.values()))
        self.wire_bytes_min = sum(map(_wire_bytes_min, steps)) + bool(flexible)

    def decode(self, source: Buffer, slack_bytes: cython.Py_ssize_t = SLACK_BYTES) -> Value:
        """Read the one struct that the bytes hold, as `decode_prefix` does."""
        cursor: _Cursor = _Cursor()
        instance: object = _decoded_from(self, source, 0, slack_bytes, cursor)
        if cursor.position != cursor.end:
            over: cython.Py_ssize_t = cursor.end - cursor.position
            raise InvalidValue(f"{over} bytes are left over after {self.name}", cursor.position)
        return instance

    def decode_prefix(
        self,
        source: Buffer,
        position: cython.Py_ssize_t = 0,
        slack_bytes: cython.Py_ssize_t = SLACK_BYTES,
    ) -> tuple[Value, int]:
        """Read one struct at a position; give it and where it ended.

        Objects may take `slack_bytes` beyond four times the bytes that are left; records are views
        that keep `source` alive.
        """
        cursor: _Cursor = _Cursor()
        return _decoded_from(self, source, position, slack_bytes, cursor), cursor.position


def _object_bytes(step: DecodeStep) -> int:
    """What a field costs whatever the bytes say: numbers, and the empty list of an absent array."""
    return _INT_BYTES if step.kind < _UUID else _LIST_BYTES if step.kind == _ARRAY else 0


def _wire_bytes_min(step: DecodeStep) -> int:
    """The fewest bytes that a field can take."""
    if step.kind == _STRUCT:
        return 1 if step.nullable else cython.cast(DecodePlan, step.plan).wire_bytes_min
    if step.kind < _STRING:
        return (1, 1, 2, 2, 4, 4, 8, 8, 16)[step.kind]
    if step.compact:
        return 1
    return 2 if step.kind == _STRING else 4


@cython.final
@cython.freelist(8)
@cython.cclass
class _Cursor:
    """Where a decoder is in its bytes, and what it may still allocate."""

    data: cython.p_const_uchar
    source: Buffer
    view: memoryview | None
    position: cython.Py_ssize_t
    end: cython.Py_ssize_t
    allowance: cython.Py_ssize_t


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def _take(cursor: _Cursor, count: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Step over bytes that must be there; return where they begin."""
    position: cython.Py_ssize_t = cursor.position
    if count > cursor.end - position:
        raise Truncated(f"needs {count} bytes, {cursor.end - position} are left", position)
    cursor.position = position + count
    return position


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def _charge(cursor: _Cursor, count: cython.Py_ssize_t) -> cython.int:
    """Account for memory before it is allocated."""
    cursor.allowance -= count
    if cursor.allowance < 0:
        raise LimitExceeded("its objects would take more memory than it may cost", cursor.position)
    return 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _uint32_at(data: cython.p_const_uchar, at: cython.Py_ssize_t) -> cython.uint:
    return (
        (cython.cast(cython.uint, data[at]) << 24)
        | (cython.cast(cython.uint, data[at + 1]) << 16)
        | (cython.cast(cython.uint, data[at + 2]) << 8)
        | data[at + 3]
    )


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _int32_at(data: cython.p_const_uchar, at: cython.Py_ssize_t) -> cython.longlong:
    value: cython.longlong = _uint32_at(data, at)
    return (value ^ _SIGN_32) - _SIGN_32


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _int64_at(data: cython.p_const_uchar, at: cython.Py_ssize_t) -> cython.longlong:
    return _int32_at(data, at) * _TWO_TO_32 + _uint32_at(data, at + 4)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _int16_at(data: cython.p_const_uchar, at: cython.Py_ssize_t) -> cython.longlong:
    value: cython.longlong = (cython.cast(cython.uint, data[at]) << 8) | data[at + 1]
    return (value ^ 32768) - 32768


@cython.cfunc
@cython.exceptval(-1)
def _uvarint(cursor: _Cursor) -> cython.longlong:
    """An unsigned varint of at most five bytes and 32 bits."""
    value: cython.longlong = 0
    shift: cython.int = 0
    byte: cython.longlong
    at: cython.Py_ssize_t = cursor.position
    if at < cursor.end and cursor.data[at] < 128:
        cursor.position = at + 1
        return cursor.data[at]
    while shift < 35:
        at = _take(cursor, 1)
        byte = cursor.data[at]
        value |= (byte & 127) << shift
        if byte < 128:
            if value >= _TWO_TO_32:
                break
            return value
        shift += 7
    raise InvalidValue("a varint of more than 32 bits", cursor.position)


@cython.cfunc
@cython.exceptval(-2)
def _length(step: DecodeStep, cursor: _Cursor) -> cython.longlong:
    """A length as the field's version writes it; -1 is null, and only where null is allowed."""
    length: cython.longlong
    if step.compact:
        length = _uvarint(cursor) - 1
    elif step.kind == _STRING:
        length = _int16_at(cursor.data, _take(cursor, 2))
    else:
        length = _int32_at(cursor.data, _take(cursor, 4))
    if length < 0 and (length != -1 or not step.nullable):
        why = "null is not allowed here" if length == -1 else f"negative length {length}"
        raise InvalidValue(why, cursor.position)
    return length


@cython.cfunc
def _decoded(step: DecodeStep, cursor: _Cursor) -> object:
    """Read one value of any kind."""
    kind: cython.int = step.kind
    if kind == _INT32:
        return _int32_at(cursor.data, _take(cursor, 4))
    if kind == _STRING:
        return _decoded_string(step, cursor)
    if kind == _INT64:
        return _int64_at(cursor.data, _take(cursor, 8))
    if kind == _INT16:
        return _int16_at(cursor.data, _take(cursor, 2))
    if kind == _ARRAY:
        return _decoded_array(step, cursor)
    if kind == _STRUCT:
        return _decoded_inner(step, cursor)
    if kind >= _UUID:
        return _decoded_blob(step, cursor)
    return _decoded_rare_number(kind, cursor)


@cython.cfunc
def _decoded_rare_number(kind: cython.int, cursor: _Cursor) -> object:
    at: cython.Py_ssize_t
    small: cython.longlong
    if kind == _BOOL:
        return cursor.data[_take(cursor, 1)] != 0
    if kind == _INT8:
        small = cursor.data[_take(cursor, 1)]
        return (small ^ 128) - 128
    if kind == _UINT16:
        return _int16_at(cursor.data, _take(cursor, 2)) & 65535
    if kind == _UINT32:
        return _uint32_at(cursor.data, _take(cursor, 4))
    at = _take(cursor, 8)
    return struct.unpack_from(">d", cursor.source, at)[0]


@cython.cfunc
def _decoded_string(step: DecodeStep, cursor: _Cursor) -> object:
    """Like Apache Kafka, bytes that are not UTF-8 become replacement characters."""
    length: cython.Py_ssize_t = _length(step, cursor)
    if length < 0:
        return None
    if length > _STRING_LENGTH_MAX:
        raise InvalidValue(f"{length} bytes are too many for a string", cursor.position)
    at: cython.Py_ssize_t = _take(cursor, length)
    _charge(cursor, _STRING_BYTES + 4 * length)
    if cython.compiled:
        return PyUnicode_DecodeUTF8(
            cython.cast(cython.p_char, cursor.data + at), length, b"replace"
        )
    return str(cursor.data[at : at + length], "utf-8", "replace")


@cython.cfunc
def _copied(cursor: _Cursor, at: cython.Py_ssize_t, length: cython.Py_ssize_t) -> bytes:
    if cython.compiled:
        return PyBytes_FromStringAndSize(cython.cast(cython.p_char, cursor.data + at), length)
    return bytes(cursor.data[at : at + length])


@cython.cfunc
def _viewed(cursor: _Cursor, at: cython.Py_ssize_t, length: cython.Py_ssize_t) -> object:
    """A view of some of the bytes: what slicing gives, without the objects that slicing takes."""
    if cursor.view is None:
        cursor.view = memoryview(cursor.source).cast("B")
    if cython.compiled:
        part: object = PyMemoryView_FromObject(cursor.view)
        window = PyMemoryView_GET_BUFFER(part)
        window.buf = cython.cast(cython.p_char, window.buf) + at
        window.len = length
        window.shape[0] = length
        return part
    return cursor.view[at : at + length]


@cython.cfunc
def _decoded_blob(step: DecodeStep, cursor: _Cursor) -> object:
    """A uuid, bytes, or records; only records stay a view."""
    length: cython.Py_ssize_t
    at: cython.Py_ssize_t
    if step.kind == _UUID:
        at = _take(cursor, 16)
        _charge(cursor, _BLOB_BYTES)
        return _copied(cursor, at, 16)
    length = _length(step, cursor)
    if length < 0:
        return None
    at = _take(cursor, length)
    if step.kind == _RECORDS:
        _charge(cursor, 2 * _VIEW_BYTES)
        return _viewed(cursor, at, length)
    _charge(cursor, _BLOB_BYTES + length)
    return _copied(cursor, at, length)


@cython.cfunc
def _decoded_inner(step: DecodeStep, cursor: _Cursor) -> object:
    """A struct within a struct; a nullable one has a byte in front that is negative for null."""
    if step.nullable and cursor.data[_take(cursor, 1)] > 127:
        return None
    return _decoded_struct(cython.cast(DecodePlan, step.plan), cursor)


@cython.cfunc
def _decoded_array(step: DecodeStep, cursor: _Cursor) -> object:
    length: cython.Py_ssize_t = _length(step, cursor)
    if length < 0:
        return None
    element: DecodeStep = cython.cast(DecodeStep, step.element)
    is_struct: cython.bint = element.kind == _STRUCT and not element.nullable
    if step.element_bytes_min * length > cursor.end - cursor.position:
        raise Truncated(
            f"{length} elements cannot be in {cursor.end - cursor.position} bytes", cursor.position
        )
    _charge(cursor, _LIST_BYTES + 8 * length)
    if element.kind < _UUID:
        _charge(cursor, _INT_BYTES * length)
    result: list[object] = _new_list(length)
    index: cython.Py_ssize_t = 0
    try:
        if is_struct:
            plan: DecodePlan = cython.cast(DecodePlan, element.plan)
            for index in range(length):
                result[index] = _decoded_struct(plan, cursor)
        elif element.kind == _INT32:
            at: cython.Py_ssize_t = _take(cursor, 4 * length)
            for index in range(length):
                result[index] = _int32_at(cursor.data, at + 4 * index)
        else:
            for index in range(length):
                result[index] = _decoded(element, cursor)
    except Malformed as fault:
        fault.path.append(index)
        raise
    return result


@cython.cfunc
@cython.inline
def _new(plan: DecodePlan) -> object:
    """An instance with every slot empty: no constructor is called."""
    cls: object = plan.cls
    if cython.compiled:
        instance: object = cython.cast(cython.pointer(PyTypeObject), cls).tp_new(
            cls, cython.cast(cython.pointer(PyObject), _NO_ARGUMENTS), cython.NULL
        )
        PyObject_GC_UnTrack(instance)
        return instance
    return object.__new__(plan.cls)


@cython.cfunc
@cython.inline
def _new_list(length: cython.Py_ssize_t) -> list[object]:
    result: list[object] = [None] * length
    if cython.compiled:
        PyObject_GC_UnTrack(result)
    return result


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def _put(slot: object, instance: object, value: object) -> cython.int:
    if cython.compiled:
        Py_TYPE(slot).tp_descr_set(slot, instance, value)
    else:
        slot.__set__(instance, value)
    return 0


@cython.cfunc
def _decoded_struct(plan: DecodePlan, cursor: _Cursor) -> object:
    _charge(cursor, plan.object_bytes)
    instance: object = _new(plan)
    steps: list[DecodeStep] = plan.steps
    defaults: list[DecodeStep] = plan.defaults
    step: DecodeStep
    index: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t
    try:
        for index in range(len(steps)):
            step = cython.cast(DecodeStep, steps[index])
            # Most fields are numbers of these three sizes, so they do without a call.
            at = cursor.position
            if step.kind == _INT32 and cursor.end - at >= 4:
                cursor.position = at + 4
                _put(step.slot, instance, _int32_at(cursor.data, at))
            elif step.kind == _INT64 and cursor.end - at >= 8:
                cursor.position = at + 8
                _put(step.slot, instance, _int64_at(cursor.data, at))
            elif step.kind == _INT16 and cursor.end - at >= 2:
                cursor.position = at + 2
                _put(step.slot, instance, _int16_at(cursor.data, at))
            else:
                _put(step.slot, instance, _decoded(step, cursor))
    except Malformed as fault:
        fault.path.append(cython.cast(DecodeStep, steps[index]).name)
        raise
    # Only lists are made anew; every other default cannot be changed.
    for index in range(len(defaults)):
        step = cython.cast(DecodeStep, defaults[index])
        is_list: cython.bint = step.kind == _ARRAY and step.default is not None
        _put(step.slot, instance, _new_list(0) if is_list else step.default)
    _put(plan.unknown, instance, None)
    if plan.flexible:
        _decode_tagged(plan, instance, cursor)
    return instance


@cython.cfunc
@cython.exceptval(-1)
def _decode_tagged(plan: DecodePlan, instance: object, cursor: _Cursor) -> cython.int:
    """The section that ends a flexible struct; what is not known is kept as it came."""
    count: cython.longlong = _uvarint(cursor)
    unknown: dict[int, bytes] | None = None
    while count > 0:
        count -= 1
        tag: cython.longlong = _uvarint(cursor)
        size: cython.Py_ssize_t = _uvarint(cursor)
        at: cython.Py_ssize_t = _take(cursor, size)
        known: object = plan.tagged.get(tag)
        if known is not None:
            _decode_within(cython.cast(DecodeStep, known), instance, cursor, at)
            continue
        if unknown is None:
            _charge(cursor, _DICT_BYTES)
            unknown = {}
            _put(plan.unknown, instance, unknown)
        _charge(cursor, _DICT_BYTES + size)
        unknown[tag] = _copied(cursor, at, size)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _decode_within(
    step: DecodeStep, instance: object, cursor: _Cursor, at: cython.Py_ssize_t
) -> cython.int:
    """Read a tagged field from exactly the bytes that its size gives it."""
    outer_end: cython.Py_ssize_t = cursor.end
    field_end: cython.Py_ssize_t = cursor.position
    cursor.end = field_end
    cursor.position = at
    try:
        _put(step.slot, instance, _decoded_tagged(step, cursor))
        if cursor.position != field_end:
            raise InvalidValue("a tagged field is shorter than its size says", cursor.position)
    except Malformed as fault:
        fault.path.append(step.name)
        raise
    cursor.end = outer_end
    return 0


@cython.cfunc
def _decoded_tagged(step: DecodeStep, cursor: _Cursor) -> object:
    """A tagged field. What says that a struct is null is a varint of zero here, no signed byte."""
    if step.kind != _STRUCT or not step.nullable:
        return _decoded(step, cursor)
    if _uvarint(cursor) == 0:
        return None
    return _decoded_struct(cython.cast(DecodePlan, step.plan), cursor)


@cython.cfunc
def _decoded_from(
    plan: DecodePlan,
    source: Buffer,
    position: cython.Py_ssize_t,
    slack_bytes: cython.Py_ssize_t,
    cursor: _Cursor,
) -> object:
    cursor.source = source
    cursor.view = None
    cursor.position = position
    if cython.compiled:
        view = cython.declare(Py_buffer)
        PyObject_GetBuffer(source, cython.address(view), PyBUF_SIMPLE)
        cursor.data = cython.cast(cython.p_const_uchar, view.buf)
        cursor.end = view.len
    else:
        cursor.data = memoryview(source).cast("B")
        cursor.end = len(cursor.data)
    try:
        if position < 0 or position > cursor.end:
            raise Truncated("begins past the end of the bytes", position)
        cursor.allowance = 4 * (cursor.end - position) + slack_bytes
        return _decoded_struct(plan, cursor)
    except Malformed as fault:
        fault.path.append(plan.name)
        raise
    finally:
        if cython.compiled:
            PyBuffer_Release(cython.address(view))
