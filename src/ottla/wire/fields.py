"""How a message is declared: one typed class for all its versions, a version range per field.

    class HeartbeatRequest(Message, key=12, versions="0-4", flexible="4+"):
        group_id: str
        generation_id: int32
        member_id: str
        group_instance_id: str | None = field("3+", default=None, ignorable=True)

Annotations say the wire type; `field` says what they cannot: in which versions the field is there,
where it may be null, its tag, and what it holds where it is absent. A field without a default must
be given. A value other than the default, in a version that lacks the field, cannot be encoded,
unless the field is ignorable: then it is left out, as Kafka does. `wire/codec` turns these
declarations into plans for the kernels.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    NewType,
    NoReturn,
    TypeAlias,
    TypedDict,
    TypeVar,
    Union,
    Unpack,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
)

from ottla.kernels import kinds
from ottla.wire.versions import ALL, NO_VERSIONS, VersionRange

Buffer: TypeAlias = kinds.Buffer
Uuid = NewType("Uuid", bytes)
"""Sixteen bytes; `ottla.wire.uuids` has their text form."""

NO_ID: Final = Uuid(bytes(16))


@dataclass(frozen=True, slots=True)
class WireType:
    """A kind of the kernels, and what a field of it holds when nothing is said."""

    kind: str
    zero: object


int8: TypeAlias = Annotated[int, WireType("int8", 0)]
int16: TypeAlias = Annotated[int, WireType("int16", 0)]
uint16: TypeAlias = Annotated[int, WireType("uint16", 0)]
int32: TypeAlias = Annotated[int, WireType("int32", 0)]
uint32: TypeAlias = Annotated[int, WireType("uint32", 0)]
int64: TypeAlias = Annotated[int, WireType("int64", 0)]
float64: TypeAlias = Annotated[float, WireType("float64", 0.0)]
Records: TypeAlias = Annotated[bytes | memoryview, WireType("records", b"")]
"""Batches as they came: decoded to a view of the bytes given, encoded without being copied."""

_PLAIN: Final[dict[object, WireType]] = {
    bool: WireType("bool", False),
    str: WireType("string", ""),
    bytes: WireType("bytes", b""),
    Uuid: WireType("uuid", NO_ID),
}
_MISSING: Final = object()
_EMPTY: Final[tuple[object, ...]] = ([], ())

_S = TypeVar("_S", bound="Struct")


@dataclass(frozen=True, slots=True)
class _Options:
    """What `field` was told, until the class it stands in is made."""

    versions: VersionRange
    default: object
    nullable: VersionRange | None
    tag: int
    tagged: VersionRange | None
    ignorable: bool
    flexible: VersionRange
    init: bool


class FieldOptions(TypedDict, total=False):
    """What can be said of a field beside its versions."""

    default: Any  # What it holds in versions that lack it; without one it must be given.
    default_factory: Callable[[], Any]  # Only `list`: the default of an array is a new, empty one.
    nullable: str  # The versions that allow null, where they are not all that have the field.
    tag: int  # Its tag, in the versions that write it in the tagged section.
    tagged: str  # Those versions, where they are not all that have the field.
    ignorable: bool  # Left out without complaint by versions that lack it.
    flexible: str  # The flexible versions that write its length as a varint, where not all do.
    init: bool  # False for what every struct has beside its fields: it is not declared by them.


def field(versions: str = "0+", **options: Unpack[FieldOptions]) -> Any:
    """Say what an annotation cannot. A struct's default is its `blank`."""
    default: object = options.get("default", _MISSING)
    if "default_factory" in options:
        assert options["default_factory"] is list
        default = []
    nullable, tagged = options.get("nullable"), options.get("tagged")
    return _Options(
        VersionRange.parse(versions),
        default,
        VersionRange.parse(nullable) if nullable else None,
        options.get("tag", -1),
        VersionRange.parse(tagged) if tagged else None,
        options.get("ignorable", False),
        VersionRange.parse(options.get("flexible", "0+")),
        options.get("init", True),
    )


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a struct as declared, for all versions."""

    name: str
    kind: str
    struct: "type[Struct] | None"
    element: WireType | None
    versions: VersionRange
    nullable: VersionRange
    tag: int
    tagged: VersionRange
    ignorable: bool
    flexible: VersionRange
    required: bool
    default: object
    slot: object = None  # The descriptor that reads and writes it, once its class is made.


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class StructType(type):
    """Makes slots of a struct's annotations and keeps what they say as `fields`."""

    fields: tuple[Field, ...]

    def __new__(
        cls, name: str, bases: tuple[type, ...], body: dict[str, Any], **options: Any
    ) -> "StructType":
        """Take the declared fields out of the body, since a slot cannot have a class attribute."""
        annotations = {
            key: annotation
            for key, annotation in body.get("__annotations__", {}).items()
            if get_origin(annotation) is not ClassVar
        }
        said = {key: body.pop(key, field()) for key in annotations}
        declared = tuple(
            _field(key, annotation, said[key])
            for key, annotation in annotations.items()
            if said[key].init
        )
        slots = body.pop("__slots__", tuple(annotations))
        made = super().__new__(cls, name, bases, {**body, "__slots__": slots}, **options)
        if declared or not bases:
            made.fields = tuple(replace(one, slot=made.__dict__[one.name]) for one in declared)
        return made


def _field(name: str, annotation: object, options: _Options) -> Field:
    """Join an annotation and its options; an annotation that allows None is nullable throughout."""
    is_union = get_origin(annotation) in (Union, UnionType)
    members = get_args(annotation) if is_union else (annotation,)
    optional = NoneType in members
    wanted = [member for member in members if member is not NoneType]
    wire, struct, element = _wire_type(wanted[0])
    nullable = options.nullable or (options.versions if optional else NO_VERSIONS)
    tagged = options.tagged or (options.versions if options.tag >= 0 else NO_VERSIONS)
    required = options.default is _MISSING
    default = wire.zero if required else options.default
    # One that every version has is never absent, so that it may hold what no blank can: a list.
    if required and wire.kind == "struct" and struct is not None and options.versions != ALL:
        default = blank(struct)
    return Field(
        name,
        wire.kind,
        struct,
        element,
        options.versions,
        nullable,
        options.tag,
        tagged,
        options.ignorable,
        options.flexible,
        required,
        default,
    )


def _wire_type(
    annotation: object,
) -> tuple[WireType, "type[Struct] | None", WireType | None]:
    """What an annotation means: its kind, the struct in it, and for an array its element."""
    if annotation in _PLAIN:
        return _PLAIN[annotation], None, None
    if get_origin(annotation) is Annotated:
        return cast("WireType", get_args(annotation)[1]), None, None
    if get_origin(annotation) is list:
        element, struct, _ = _wire_type(get_args(annotation)[0])
        return WireType("array", []), struct, element
    assert isinstance(annotation, StructType), f"{annotation} is no wire type"
    return WireType("struct", None), cast("type[Struct]", annotation), None


class Struct(metaclass=StructType):
    """Some fields that belong together; equal to another of its class that holds the same."""

    # Tagged fields that the class does not know, by tag; they came so and are encoded so.
    unknown_tags: dict[int, bytes] | None = field(init=False)
    fields: ClassVar[tuple[Field, ...]]

    def __init__(self, **values: Any) -> None:
        """Compile this class's own constructor at the first use, then call it."""
        constructor = _constructor(type(self))
        type.__setattr__(type(self), "__init__", constructor)
        constructor(self, **values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Struct) or self.fields is not other.fields:
            return NotImplemented
        names = ("unknown_tags", *(one.name for one in self.fields))
        pairs = ((getattr(self, name), getattr(other, name)) for name in names)
        # A blank has tuples where others have lists; both are empty then.
        return all(
            one == another or (one in _EMPTY and another in _EMPTY) for one, another in pairs
        )

    def __hash__(self) -> NoReturn:
        raise TypeError(f"the fields of a {type(self).__name__} can change, so it has no hash")

    def __getstate__(self) -> tuple[None, dict[str, object]]:
        """What copies and pickles are made of; no view can be either, so records are copied."""
        names = ("unknown_tags", *(one.name for one in self.fields))
        state = {name: getattr(self, name) for name in names}
        views = {key: held.tobytes() for key, held in state.items() if type(held) is memoryview}
        return None, {**state, **views}

    def __repr__(self) -> str:
        shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in self.fields)
        return f"{type(self).__qualname__}({shown})"


def _constructor(cls: StructType) -> Callable[..., None]:
    """Write the constructor that someone would write by hand: keywords, defaults, fresh lists."""
    parameters, body = ["self", "*"], [" self.unknown_tags = None"]
    scope: dict[str, Any] = {}
    for one in cls.fields:
        value = one.name
        if one.required:
            parameters.append(one.name)
        else:
            scope[f"_{one.name}"] = one.default
            parameters.append(f"{one.name}=_{one.name}")
            if one.default == []:
                value = f"[] if {one.name} is _{one.name} else {one.name}"
        body.append(f" self.{one.name} = {value}")
    signature = ", ".join(parameters if cls.fields else ["self"])
    exec("\n".join([f"def __init__({signature}):", *body]), scope)
    return cast("Callable[..., None]", scope["__init__"])


_blanks: Final[dict[type[Struct], Struct]] = {}


def blank(cls: type[_S]) -> _S:
    """The one instance of a struct whose fields all hold their defaults; it cannot be changed."""
    if cls not in _blanks:
        body = {"__slots__": (), "__setattr__": _refuse_change, "__reduce__": _reduce_to_blank}
        frozen = cast("type[Struct]", StructType(cls.__name__, (cls,), body))
        instance = object.__new__(frozen)
        object.__setattr__(instance, "unknown_tags", None)
        for one in cls.fields:
            value = one.default
            if one.required and one.kind == "struct" and one.struct is not None:
                value = blank(one.struct)
            # A list in a shared default could be changed, an empty tuple cannot.
            object.__setattr__(instance, one.name, () if value == [] else value)
        _blanks[cls] = instance
    return cast("_S", _blanks[cls])


def _refuse_change(self: Struct, name: str, value: object) -> None:
    del value
    raise AttributeError(f"{name}: this {type(self).__name__} is the shared default; make another")


def _reduce_to_blank(self: Struct) -> tuple[Callable[..., Struct], tuple[type, ...]]:
    """A copy of the one instance, or its pickle read again, is that instance too."""
    return blank, type(self).__bases__


class Message(Struct):
    """What stands alone: a request, a response, a header, a record of one of the internal logs."""

    __slots__ = ()

    api_key: ClassVar[int]
    versions: ClassVar[VersionRange]
    flexible: ClassVar[VersionRange]

    def __init_subclass__(cls, *, versions: str, flexible: str = "none", key: int = -1) -> None:
        """Keep what the class statement says of the message as a whole."""
        cls.api_key = key
        cls.versions = VersionRange.parse(versions)
        cls.flexible = VersionRange.parse(flexible)
