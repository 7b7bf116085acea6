from typing import Any, Final

from cython import Pointer

PyBUF_SIMPLE: Final[int]
PyBUF_WRITABLE: Final[int]

class Py_buffer:
    buf: Pointer[Any]
    len: int

def PyObject_GetBuffer(source: object, view: Pointer[Py_buffer], flags: int) -> int: ...
def PyBuffer_Release(view: Pointer[Py_buffer]) -> None: ...
