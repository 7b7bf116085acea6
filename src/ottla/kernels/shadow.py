"""What an uncompiled kernel needs of Cython's own module, for a machine that has neither.

A kernel says `import cython`. The compiler takes the types and decorators away; without it they
must be there and do nothing, and Cython itself is a build tool that an installed Ottla lacks.
Types only matter to the compiler: uncompiled, each is a name that annotations may mention. Type
checkers read the stubs of `cython` instead of this.
"""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

__all__ = ["cython"]

_T = TypeVar("_T")

_TYPES: Final = """
    char schar uchar short ushort int uint long ulong longlong ulonglong size_t Py_ssize_t bint
    double float void p_void p_char p_const_char p_schar p_uchar p_const_uchar p_short p_ushort
    p_int p_const_int p_uint p_const_uint p_longlong p_const_longlong p_ulonglong p_size_t
    p_Py_ssize_t p_const_Py_ssize_t p_double
"""

compiled: Final = False
NULL: Final = None


def _as_it_is(thing: _T) -> _T:
    return thing


def _as_if_bare(*arguments: object, **options: object) -> Callable[[_T], _T]:
    """A decorator with arguments, none of which matter uncompiled."""
    del arguments, options
    return _as_it_is


class _Lock:
    """Python keeps its lock, whether a function or a block says that it needs none."""

    def __call__(self, thing: _T) -> _T:
        return thing

    def __enter__(self) -> None:
        pass

    def __exit__(self, *fault: object) -> None:
        pass


nogil = gil = _Lock()
cclass = cfunc = ccall = final = inline = internal = with_gil = no_gc = _as_it_is
freelist = exceptval = returns = _as_if_bare
boundscheck = wraparound = cdivision = nonecheck = _as_if_bare
likely = unlikely = _as_it_is


def declare(kind: object, value: _T) -> _T:
    """A typed name of the module is, uncompiled, its value."""
    del kind
    return value


def cast(kind: object, value: _T, *, typecheck: bool = False) -> _T:
    """Uncompiled, a value is already what it is."""
    del kind, typecheck
    return value


globals().update(dict.fromkeys(_TYPES.split(), object))

if TYPE_CHECKING:
    import cython
else:
    cython = sys.modules[__name__]
