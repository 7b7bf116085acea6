"""Write messages as bytes, following a plan: one plan per (class, version).

A value that the version cannot carry is an error that names its field, never a silent loss.
Records are not copied: they leave as they were given, between the parts that were written.
"""

try:
    import cython
except ImportError:
    from ottla.kernels.shadow import cython

import struct
from collections.abc import Iterable
from operator import index
from typing import SupportsIndex, TypeAlias

from ottla.kernels.faults import Unencodable
from ottla.kernels.kinds import COMPACT, IGNORABLE, KINDS, NULLABLE, Buffer, Value

if cython.compiled:
    from cython.cimports.cpython.bytes import PyBytes_FromStringAndSize
    from cython.cimports.cpython.mem import PyMem_Free, PyMem_Malloc, PyMem_Realloc
    from cython.cimports.cpython.object import Py_TYPE
    from cython.cimports.cpython.unicode import PyUnicode_AsUTF8AndSize
    from cython.cimports.libc.string import memcpy, memmove

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


@cython.final
@cython.cclass
class EncodeStep:
    """One field in one version: where it is kept, how it is written, when it may be left out."""

    name: str
    kind: cython.int
    compact: cython.bint
    nullable: cython.bint
    ignorable: cython.bint
    slot: object
    default: object
    element: object
    plan: object

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
        self.compact = (flags & COMPACT) != 0
        self.nullable = (flags & NULLABLE) != 0
        self.ignorable = (flags & IGNORABLE) != 0


@cython.final
@cython.cclass
class EncodePlan:
    """All fields of one class in one version: in wire order, the tagged, the absent."""

    name: str
    steps: list[EncodeStep]
    tagged: list[tuple[int, EncodeStep]]
    absent: list[EncodeStep]
    every: list[EncodeStep]
    unknown: object
    flexible: cython.bint

    def __init__(
        self,
        cls: type[object],
        steps: list[EncodeStep],
        tagged: dict[int, EncodeStep],
        absent: list[EncodeStep],
        unknown: object,
        flexible: bool,
    ) -> None:
        self.name = cls.__qualname__
        self.steps = steps
        self.tagged = sorted(tagged.items())
        self.absent = absent
        self.every = [*steps, *tagged.values(), *absent]
        self.unknown = unknown
        self.flexible = flexible


@cython.cfunc
@cython.inline
def _get(slot: object, instance: object) -> Value:
    if cython.compiled:
        return Py_TYPE(slot).tp_descr_get(slot, instance, None)
    return slot.__get__(instance)


@cython.final
@cython.freelist(8)
@cython.cclass
class _Output:
    """Bytes written so far, and where the records that were not copied belong between them."""

    data: cython.p_uchar
    length: cython.Py_ssize_t
    capacity: cython.Py_ssize_t
    foreign: list[tuple[int, Buffer]] | None
    foreign_bytes: cython.Py_ssize_t

    def __init__(self) -> None:
        self.length = 0
        self.capacity = 256
        self.foreign = None
        self.foreign_bytes = 0
        if cython.compiled:
            self.data = cython.cast(cython.p_uchar, PyMem_Malloc(self.capacity))
            if self.data is cython.NULL:
                raise MemoryError
        else:
            self.data = bytearray(self.capacity)

    def __dealloc__(self) -> None:
        if cython.compiled:
            PyMem_Free(self.data)


@cython.cfunc
@cython.exceptval(-1)
def _grow(output: _Output, needed: cython.Py_ssize_t) -> cython.int:
    capacity: cython.Py_ssize_t = output.capacity
    while capacity < needed:
        capacity *= 2
    if cython.compiled:
        data: cython.p_uchar = cython.cast(cython.p_uchar, PyMem_Realloc(output.data, capacity))
        if data is cython.NULL:
            raise MemoryError
        output.data = data
    else:
        output.data.extend(bytes(capacity - output.capacity))
    output.capacity = capacity
    return 0


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def _reserve(output: _Output, count: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Make room at the end; return where it begins."""
    at: cython.Py_ssize_t = output.length
    if at + count > output.capacity:
        _grow(output, at + count)
    output.length = at + count
    return at


@cython.cfunc
@cython.exceptval(-1)
def _write_integer(output: _Output, value: cython.longlong, width: cython.Py_ssize_t) -> cython.int:
    at: cython.Py_ssize_t = _reserve(output, width)
    while width > 0:
        width -= 1
        output.data[at + width] = value & 255
        value >>= 8
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _write_uvarint(output: _Output, value: cython.ulonglong) -> cython.int:
    while value > 127:
        output.data[_reserve(output, 1)] = (value & 127) | 128
        value >>= 7
    output.data[_reserve(output, 1)] = value
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _write_bytes(output: _Output, value: bytes) -> cython.int:
    length: cython.Py_ssize_t = len(value)
    at: cython.Py_ssize_t = _reserve(output, length)
    if cython.compiled:
        memcpy(output.data + at, cython.cast(cython.p_char, value), length)
    else:
        output.data[at : at + length] = value
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _write_length(step: EncodeStep, output: _Output, length: cython.longlong) -> cython.int:
    """Write a length as the field's version does; -1 is null."""
    if length < 0 and not step.nullable:
        raise Unencodable("null is not allowed in this version")
    # Kafka holds strings to 16 bits, and all else to 32, where it writes a varint too.
    if length > 32767 and (step.kind == _STRING or length > 2147483647):
        what = "a string" if step.kind == _STRING else "one field"
        raise Unencodable(f"{length} bytes are too many for {what}")
    if step.compact:
        return _write_uvarint(output, length + 1)
    return _write_integer(output, length, 2 if step.kind == _STRING else 4)


@cython.cfunc
@cython.exceptval(-1)
def _write_number(kind: cython.int, value: Value, output: _Output) -> cython.int:
    number: cython.longlong = 0
    if kind in (_BOOL, _FLOAT64):
        return _write_no_integer(kind, value, output)
    if cython.compiled and isinstance(value, int):
        number = value
    else:
        number = _whole(value)
    if kind == _INT32 and -2147483648 <= number <= 2147483647:
        return _write_integer(output, number, 4)
    if kind == _INT64:
        return _write_integer(output, number, 8)
    if kind == _INT16 and -32768 <= number <= 32767:
        return _write_integer(output, number, 2)
    if kind == _INT8 and -128 <= number <= 127:
        return _write_integer(output, number, 1)
    if kind == _UINT16 and 0 <= number <= 65535:
        return _write_integer(output, number, 2)
    if kind == _UINT32 and 0 <= number <= 4294967295:
        return _write_integer(output, number, 4)
    raise Unencodable(f"{value} is out of range for {KINDS[kind]}")


@cython.cfunc
@cython.exceptval(-1)
def _write_no_integer(kind: cython.int, value: Value, output: _Output) -> cython.int:
    if kind == _FLOAT64:
        return _write_bytes(output, struct.pack(">d", value))
    if value is not True and value is not False:
        raise TypeError("expected True or False")
    return _write_integer(output, value is True, 1)


def _whole(value: SupportsIndex) -> int:
    """A number of 64 bits. C itself would cut the fraction off a float without a word."""
    number = index(value)
    if not -(1 << 63) <= number < 1 << 63:
        raise OverflowError(f"{number} does not fit 64 bits")
    return number


@cython.cfunc
@cython.exceptval(-1)
def _write_string(step: EncodeStep, value: Value, output: _Output) -> cython.int:
    length: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t
    if cython.compiled:
        text: cython.p_const_char = PyUnicode_AsUTF8AndSize(value, cython.address(length))
        _write_length(step, output, length)
        at = _reserve(output, length)
        memcpy(output.data + at, text, length)
    else:
        encoded = str.encode(value)
        _write_length(step, output, len(encoded))
        _write_bytes(output, encoded)
    return 0


def _listed(value: Iterable[Value]) -> list[Value]:
    """A list of a tuple, but not of a string, which would become an array of its letters."""
    if not issubclass(type(value), tuple):
        raise TypeError("expected a list")
    return list(value)


def _copied(value: Value) -> bytes:
    """The bytes of any buffer; a number or a list, which `bytes` would take, is an error."""
    return memoryview(value).tobytes()


def _range_bytes(value: Value) -> int:
    """How long a range of a file is, which its sender reads; that is what it says last."""
    *_, size = value
    if not isinstance(size, int) or size < 0:
        raise TypeError("it is no range of a file")
    return size


def _as_octets(value: Value) -> Buffer:
    """A buffer of which `len` tells the bytes, as those who send it expect; itself if it is one."""
    view = memoryview(value)
    if not view.c_contiguous:
        raise TypeError("its bytes do not lie side by side")
    return value if view.format == "B" and view.ndim == 1 else view.cast("B")


@cython.cfunc
@cython.exceptval(-1)
def _write_blob(step: EncodeStep, value: Value, output: _Output) -> cython.int:
    if not isinstance(value, bytes):
        if step.kind == _RECORDS and isinstance(value, tuple):
            return _write_foreign(step, value, output, _range_bytes(value))
        value = _as_octets(value) if step.kind == _RECORDS else _copied(value)
    length: cython.Py_ssize_t = len(value)
    if step.kind == _UUID:
        if length != 16:
            raise Unencodable(f"a uuid has 16 bytes, not {length}")
        return _write_bytes(output, value)
    if step.kind == _RECORDS:
        return _write_foreign(step, value, output, length)
    _write_length(step, output, length)
    return _write_bytes(output, value)


@cython.cfunc
@cython.exceptval(-1)
def _write_foreign(
    step: EncodeStep, value: Value, output: _Output, length: cython.Py_ssize_t
) -> cython.int:
    """Write the length of what is sent as it was given."""
    _write_length(step, output, length)
    if output.foreign is None:
        output.foreign = []
    output.foreign.append((output.length, value))
    output.foreign_bytes += length
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _write_array(step: EncodeStep, value: Iterable[Value], output: _Output) -> cython.int:
    elements: list[Value] = value if isinstance(value, list) else _listed(value)
    length: cython.Py_ssize_t = len(elements)
    element: EncodeStep = cython.cast(EncodeStep, step.element)
    index: cython.Py_ssize_t = 0
    _write_length(step, output, length)
    try:
        for index in range(length):
            _write(element, elements[index], output)
    except Unencodable as fault:
        fault.path.append(index)
        raise
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _write_inner(step: EncodeStep, value: Value, output: _Output) -> cython.int:
    if step.nullable:
        _write_integer(output, -1 if value is None else 1, 1)
        if value is None:
            return 0
    return _write_struct(cython.cast(EncodePlan, step.plan), value, output)


@cython.cfunc
@cython.exceptval(-1)
def _write(step: EncodeStep, value: Value, output: _Output) -> cython.int:
    """Write one value of any kind; a value of another type is ours to report, with its place."""
    kind: cython.int = step.kind
    try:
        if kind < _UUID:
            return _write_number(kind, value, output)
        if kind == _STRUCT:
            return _write_inner(step, value, output)
        if value is None:
            if kind == _UUID:
                raise Unencodable("null is not allowed here")
            return _write_length(step, output, -1)
        if kind == _STRING:
            return _write_string(step, value, output)
        if kind == _ARRAY:
            return _write_array(step, value, output)
        return _write_blob(step, value, output)
    except Unencodable:
        raise
    except (
        TypeError,
        OverflowError,
        ValueError,
        AttributeError,
        BufferError,
        struct.error,
    ) as error:
        raise Unencodable(f"{value!r:.60} is no {KINDS[kind]}: {error}") from error


@cython.cfunc
@cython.exceptval(-1)
def _is_default(step: EncodeStep, value: Value) -> cython.bint:
    if value is step.default:
        return True
    try:
        if step.kind == _STRUCT:
            return (
                value is not None
                and step.default is not None
                and _is_blank(cython.cast(EncodePlan, step.plan), value)
            )
        same: cython.bint = value == step.default
    except (TypeError, ValueError, AttributeError):
        # Not even comparable: whoever writes it says what is wrong with it, and where.
        return False
    return same


@cython.cfunc
@cython.exceptval(-1)
def _is_blank(plan: EncodePlan, instance: object) -> cython.bint:
    """Does every field of a struct, in whatever version, hold its default?"""
    step: EncodeStep
    for entry in plan.every:
        step = cython.cast(EncodeStep, entry)
        if not _is_default(step, _get(step.slot, instance)):
            return False
    return _get(plan.unknown, instance) is None


@cython.cfunc
@cython.exceptval(-1)
def _write_struct(plan: EncodePlan, instance: object, output: _Output) -> cython.int:
    step: EncodeStep | None = None
    try:
        for entry in plan.steps:
            step = cython.cast(EncodeStep, entry)
            _write(step, _get(step.slot, instance), output)
        for entry in plan.absent:
            step = cython.cast(EncodeStep, entry)
            if not step.ignorable and not _is_default(step, _get(step.slot, instance)):
                raise Unencodable("is set, but this version does not have it")
        step = None
        if plan.flexible:
            _write_tagged(plan, instance, output)
        elif _get(plan.unknown, instance):
            raise Unencodable("unknown tagged fields need a flexible version")
    except Unencodable as fault:
        if step is not None:
            fault.path.append(step.name)
        raise
    except (TypeError, AttributeError) as error:
        wrong = Unencodable(f"{type(instance).__name__} is not the struct it should be: {error}")
        if step is not None:
            wrong.path.append(step.name)
        raise wrong from error
    return 0


_TaggedValue: TypeAlias = tuple[int, EncodeStep | None, Value]


@cython.cfunc
@cython.exceptval(-1)
def _write_tagged(plan: EncodePlan, instance: object, output: _Output) -> cython.int:
    """The section that ends a flexible struct: fields that differ from their default, by tag."""
    step: EncodeStep
    value: Value
    unknown: Value = _get(plan.unknown, instance)
    present: list[_TaggedValue] | None = None
    if plan.tagged or unknown:
        present = []
        for tag, entry in plan.tagged:
            step = cython.cast(EncodeStep, entry)
            value = _get(step.slot, instance)
            if not _is_default(step, value):
                present.append((tag, step, value))
        if unknown:
            present = sorted([*present, *_unknown_fields(plan, unknown)], key=_tag_of)
    if not present:
        return _write_uvarint(output, 0)
    _write_uvarint(output, len(present))
    for tag, known, value in present:
        _write_uvarint(output, tag)
        _write_sized(known, value, output)
    return 0


def _tag_of(field: _TaggedValue) -> int:
    return field[0]


def _unknown_fields(plan: EncodePlan, unknown: Value) -> list[_TaggedValue]:
    """What came without being known, to be written as it came."""
    known = {tag for tag, _ in plan.tagged}
    fields: list[_TaggedValue] = []
    try:
        for tag, value in unknown.items():
            if not isinstance(tag, int) or not 0 <= tag < 1 << 32:
                raise TypeError(f"{tag!r:.60} is no tag")
            if tag in known:
                raise Unencodable(f"tag {tag} is given both as a field and as an unknown tag")
            fields.append((tag, None, _copied(value)))
    except Unencodable:
        raise
    except (TypeError, ValueError, AttributeError) as error:
        raise Unencodable(f"unknown_tags are bytes by tag: {error}") from error
    return fields


@cython.cfunc
@cython.exceptval(-1)
def _write_sized(entry: object, value: Value, output: _Output) -> cython.int:
    """Write a tagged value, then push it up to make room for its size in front."""
    if entry is None:
        _write_uvarint(output, len(value))
        return _write_bytes(output, value)
    step: EncodeStep = cython.cast(EncodeStep, entry)
    at: cython.Py_ssize_t = output.length
    try:
        # What says that a struct is null is a varint of zero here, where elsewhere it is a byte.
        if value is None and step.kind == _STRUCT and step.nullable:
            _write_uvarint(output, 0)
        else:
            _write(step, value, output)
    except Unencodable as fault:
        fault.path.append(step.name)
        raise
    size: cython.Py_ssize_t = output.length - at
    _write_uvarint(output, size)
    moved: cython.Py_ssize_t = output.length - at - size
    front: bytes
    if cython.compiled:
        front = PyBytes_FromStringAndSize(
            cython.cast(cython.p_char, output.data + at + size), moved
        )
        memmove(output.data + at + moved, output.data + at, size)
        memcpy(output.data + at, cython.cast(cython.p_char, front), moved)
    else:
        front = bytes(output.data[at + size : at + size + moved])
        output.data[at + moved : at + moved + size] = output.data[at : at + size]
        output.data[at : at + moved] = front
    return 0


@cython.cfunc
def _piece(output: _Output, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> bytes:
    if cython.compiled:
        return PyBytes_FromStringAndSize(cython.cast(cython.p_char, output.data + at), end - at)
    return bytes(output.data[at:end])


def encode(
    plan: EncodePlan,
    instance: object,
    front: tuple[EncodePlan, object] | None = None,
    framed: bool = False,
) -> list[Buffer]:
    """Write a struct as parts to be sent in order: bytes, and records as they were given.

    Records may be a tuple that ends in their size: a range of a file, read when it is sent.

    `front`, a pair of plan and struct, goes before it (a message's header); `framed` puts the
    length of everything, as four bytes, before that.
    """
    output: _Output = _Output()
    at: cython.Py_ssize_t = 0
    written: EncodePlan = plan
    try:
        if framed:
            _write_integer(output, 0, 4)
        if front is not None:
            written = front[0]
            _write_struct(written, front[1], output)
        written = plan
        _write_struct(plan, instance, output)
    except Unencodable as fault:
        fault.path.append(written.name)
        raise
    if framed:
        end: cython.Py_ssize_t = output.length
        total: cython.Py_ssize_t = end + output.foreign_bytes - 4
        if total > 2147483647:
            raise Unencodable(f"{total} bytes are too many for one frame")
        output.length = 0
        _write_integer(output, total, 4)
        output.length = end
    if output.foreign is None:
        return [_piece(output, 0, output.length)]
    parts: list[Buffer] = []
    for cut, value in output.foreign:
        parts.append(_piece(output, at, cut))
        parts.append(value)
        at = cut
    if at < output.length:
        parts.append(_piece(output, at, output.length))
    return parts
