"""What an uncompiled kernel needs of Cython's own module, for a machine that has neither.

A kernel says `import cython`. The compiler takes the types and decorators away; without it they
must be there and do nothing, and Cython itself is a build tool that an installed Ottla lacks.
"""

from typing import Final, TypeVar

_T = TypeVar("_T")

compiled: Final = False

# Types only matter to the compiler: uncompiled they are names that annotations may mention.
Py_ssize_t = int
schar = int
uchar = int
short = int
ushort = int
uint = int
longlong = int
ulonglong = int
size_t = int
bint = bool
double = float
p_char = bytearray
p_uchar = bytearray
p_const_uchar = memoryview
NULL: Final = None


def _as_it_is(thing: _T) -> _T:
    return thing


cclass = cfunc = inline = final = ccall = _as_it_is
