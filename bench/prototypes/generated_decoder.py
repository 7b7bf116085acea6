"""The codec that was not chosen: a Python function written out for one class and version.

It does what such a generator does at its best: one `struct` call for a run of fixed-width fields,
lengths read in line, no constructor called. Only what a Fetch request of a flexible version needs.
"""

import struct
from collections.abc import Callable
from typing import Any

from ottla.wire.fields import Field, Message, Struct

_FORMATS = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uuid": "16s"}
_HEAD = "def decode(data):\n def varint(at, low):\n  shift = 7\n  low &= 127\n  while True:\n"
_HEAD += "   byte = data[at]\n   at += 1\n   low |= (byte & 127) << shift\n"
_HEAD += "   if byte < 128: return low, at\n   shift += 7\n at = 0\n"


def generated_decoder(cls: type[Message], version: int) -> Callable[[bytes], Message]:
    """Write and compile the function."""
    scope: dict[str, Any] = {"new": object.__new__, "Struct": struct.Struct}
    lines = _struct(cls, version, "m", 1, scope)
    source = _HEAD + "\n".join([*lines, " return m"])
    exec(source, scope)
    made: Callable[[bytes], Message] = scope["decode"]
    return made


def _struct(
    cls: type[Struct], version: int, name: str, depth: int, scope: dict[str, Any]
) -> list[str]:
    pad = " " * depth
    scope[f"class_{name}"] = cls
    lines = [f"{pad}{name} = new(class_{name})", f"{pad}{name}.unknown_tags = None"]
    run: list[Field] = []
    for field in cls.fields:
        if version in field.tagged or version not in field.versions:
            scope[f"{name}_{field.name}"] = field.default
            lines.append(f"{pad}{name}.{field.name} = {name}_{field.name}")
        elif field.kind in _FORMATS:
            run.append(field)
        else:
            lines += _run(run, name, pad, scope)
            run = []
            lines += _sized(field, version, name, depth, scope)
    lines += _run(run, name, pad, scope)
    tags = f"{pad}if data[at]: raise ValueError('tagged fields')"
    return [*lines, tags, f"{pad}at += 1"]


def _run(run: list[Field], name: str, pad: str, scope: dict[str, Any]) -> list[str]:
    """A run of fixed-width fields in one call."""
    if not run:
        return []
    layout = struct.Struct(">" + "".join(_FORMATS[field.kind] for field in run))
    unpack = f"unpack_{name}_{run[0].name}"
    scope[unpack] = layout.unpack_from
    targets = ", ".join(f"{name}.{field.name}" for field in run)
    return [f"{pad}{targets}, = {unpack}(data, at)", f"{pad}at += {layout.size}"]


def _sized(field: Field, version: int, name: str, depth: int, scope: dict[str, Any]) -> list[str]:
    """A string or an array, with its length in front."""
    pad = " " * depth
    lines = [f"{pad}n = data[at]", f"{pad}at += 1", f"{pad}if n > 127: n, at = varint(at, n)"]
    lines.append(f"{pad}n -= 1")
    if field.kind == "string":
        lines.append(f"{pad}if n < 0 or at + n > len(data): raise ValueError('length')")
        lines.append(f"{pad}{name}.{field.name} = data[at : at + n].decode()")
        return [*lines, f"{pad}at += n"]
    assert field.kind == "array"
    assert field.element is not None
    items, item = f"{name}_{field.name}_items", f"{name}_{field.name}_item"
    lines.append(f"{pad}if n < 0 or n > len(data) - at: raise ValueError('length')")
    lines.append(f"{pad}{name}.{field.name} = {items} = []")
    lines.append(f"{pad}for _ in range(n):")
    if field.struct is not None:
        lines += _struct(field.struct, version, item, depth + 1, scope)
    else:
        size = struct.calcsize(">" + _FORMATS[field.element.kind])
        scope[f"unpack_{item}"] = struct.Struct(">" + _FORMATS[field.element.kind]).unpack_from
        lines.append(f"{pad} {item} = unpack_{item}(data, at)[0]")
        lines.append(f"{pad} at += {size}")
    return [*lines, f"{pad} {items}.append({item})"]
