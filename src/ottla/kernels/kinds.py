"""The kinds of field that a message has, by name; a kernel counts them in this order."""

from typing import Any, Final, TypeAlias

KINDS: Final = (
    "bool", "int8", "int16", "uint16", "int32", "uint32", "int64",
    "float64", "uuid", "string", "bytes", "records", "array", "struct",
)  # fmt: skip

# Bits of a step's flags.
COMPACT: Final = 1
NULLABLE: Final = 2
IGNORABLE: Final = 4

Buffer: TypeAlias = bytes | bytearray | memoryview
Value: TypeAlias = Any
"""What a field holds. Its kind says what that is, at run time, where no type checker can follow."""
