# The one function of CPython's that Cython's own headers lack; see decoder.py for its use.
cdef extern from "Python.h":
    void PyObject_GC_UnTrack(object container)
