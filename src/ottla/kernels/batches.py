"""Walk a run of batches by their headers alone: list them, or find one by offset or by time.

Entries of magic 0 and 1 share the first seventeen bytes with batches, so mixed logs are walked
too; such an entry shows its offset as both base and last. The loops hold no lock and look at no
checksum: they say where bytes stop being batches, and why.
"""

try:
    import cython
except ImportError:
    from ottla.kernels.shadow import cython

if cython.compiled:
    from cython.cimports.cpython.buffer import (
        Py_buffer,
        PyBUF_SIMPLE,
        PyBuffer_Release,
        PyObject_GetBuffer,
    )
    from cython.cimports.cpython.bytearray import PyByteArray_AS_STRING
else:
    Py_buffer = object

from ottla.kernels.faults import InvalidValue
from ottla.kernels.kinds import Buffer

# What ended a walk. The numbers are this module's public face, in the order of `records.scan.Stop`.
_END = cython.declare(cython.int, 0)
_FULL = cython.declare(cython.int, 1)
_FOUND = cython.declare(cython.int, 2)
_TORN = cython.declare(cython.int, 3)
_LENGTH = cython.declare(cython.int, 4)
_MAGIC = cython.declare(cython.int, 5)
_FIELDS = cython.declare(cython.int, 6)
_ORDER = cython.declare(cython.int, 7)

_UINT32_MAX = cython.declare(cython.longlong, 4294967295)
_INT64_MAX = cython.declare(cython.longlong, 9223372036854775807)

COLUMNS = 14
_COLUMNS = cython.declare(cython.Py_ssize_t, COLUMNS)


@cython.final
@cython.freelist(8)
@cython.cclass
class Run:
    """The bytes walked over, and the header that the walk is at."""

    view: Py_buffer
    data: cython.p_const_uchar
    position: cython.Py_ssize_t
    end: cython.Py_ssize_t
    beyond: cython.Py_ssize_t
    size: cython.Py_ssize_t
    magic: cython.int
    base_offset: cython.longlong
    last_offset: cython.longlong
    max_timestamp: cython.longlong
    offset_before: cython.longlong
    stop: cython.int

    def __dealloc__(self) -> None:
        if cython.compiled and self.data is not cython.NULL:
            PyBuffer_Release(cython.address(self.view))


@cython.cfunc
def opened(source: Buffer, position: cython.Py_ssize_t) -> Run:
    run: Run = Run()
    if cython.compiled:
        PyObject_GetBuffer(source, cython.address(run.view), PyBUF_SIMPLE)
        run.data = cython.cast(cython.p_const_uchar, run.view.buf)
        run.end = run.view.len
        if run.data is cython.NULL:  # An empty buffer may have no address, but must be released.
            run.data = cython.cast(cython.p_const_uchar, b"")
    else:
        run.data = memoryview(source).cast("B")
        run.end = len(run.data)
    if position < 0 or position > run.end:
        raise InvalidValue("a walk begins outside of the bytes", position)
    run.position = position
    run.beyond = 0
    run.size = 0
    run.offset_before = -1
    return run


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _int(run: Run, at: cython.Py_ssize_t, width: cython.Py_ssize_t) -> cython.longlong:
    """A big-endian signed integer of the current header, `at` bytes from its start."""
    value: cython.longlong = run.data[run.position + at]
    end: cython.Py_ssize_t = run.position + at + width
    if value > 127:
        value -= 256
    at = run.position + at + 1
    while at < end:
        value = value * 256 + run.data[at]
        at += 1
    return value


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _look(run: Run) -> cython.int:
    """Read the header at the position, and say why if there is none."""
    left: cython.Py_ssize_t = run.end - run.position
    length: cython.longlong
    least: cython.longlong
    if left + run.beyond == 0:
        return _END
    if left < 17:
        return _TORN
    length = _int(run, 8, 4)
    run.magic = cython.cast(cython.int, _int(run, 16, 1))
    if length < 14:
        return _LENGTH
    if run.magic < 0 or run.magic > 2:
        return _MAGIC
    least = 49 if run.magic == 2 else 14 if run.magic == 0 else 22
    if length < least:
        return _LENGTH
    if left < least + 12 or length > left + run.beyond - 12:
        return _TORN
    run.size = cython.cast(cython.Py_ssize_t, length) + 12
    run.base_offset = _int(run, 0, 8)
    run.last_offset = run.base_offset
    run.max_timestamp = -1
    if run.magic == 1:
        run.max_timestamp = _int(run, 18, 8)
    elif run.magic == 2:
        run.max_timestamp = _int(run, 35, 8)
        return _look_deeper(run)
    return _FIELDS if run.base_offset < 0 else _FOUND


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _look_deeper(run: Run) -> cython.int:
    """Derive a batch's last offset; one that offsets cannot have is no batch."""
    last_offset_delta: cython.longlong = _int(run, 23, 4)
    if run.base_offset < 0 or last_offset_delta < 0 or _int(run, 57, 4) < 0:
        return _FIELDS
    if run.base_offset > _INT64_MAX - last_offset_delta:
        return _FIELDS
    run.last_offset = run.base_offset + last_offset_delta
    return _FOUND


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def step(run: Run) -> cython.int:
    """Go past the last header looked at and read the next; offsets must rise."""
    stop: cython.int
    run.position += run.size
    run.size = 0
    stop = _look(run)
    if stop == _FOUND and run.base_offset <= run.offset_before:
        stop = _ORDER
    if stop == _FOUND:
        run.offset_before = run.last_offset
    else:
        run.size = 0
    return stop


@cython.cfunc
@cython.exceptval(check=False)
@cython.nogil
def row_value(run: Run, column: cython.Py_ssize_t) -> cython.longlong:
    """A column of the current batch, as `records.scan.BatchRow` names them."""
    if column == 0:
        return run.position
    if column == 1:
        return run.size
    if column == 2:
        return run.magic
    if column == 3:
        return _int(run, 21, 2) if run.magic == 2 else _int(run, 17, 1)
    if column == 4:
        return run.base_offset
    if column == 5:
        return run.last_offset
    if column == 7:
        return run.max_timestamp
    return _rare_value(run, column)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
@cython.nogil
def _rare_value(run: Run, column: cython.Py_ssize_t) -> cython.longlong:
    if run.magic < 2:
        if column == 13:
            return _int(run, 12, 4) & _UINT32_MAX
        return run.max_timestamp if column == 6 else -1
    if column == 13:
        return _int(run, 17, 4) & _UINT32_MAX
    if column == 6:
        return _int(run, 27, 8)
    if column == 8:
        return _int(run, 43, 8)
    if column == 9:
        return _int(run, 51, 2)
    if column == 10:
        return _int(run, 53, 4)
    if column == 11:
        return _int(run, 57, 4)
    return _int(run, 12, 4)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill(run: Run, cells: cython.p_longlong, capacity: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Write rows until there are no more batches or no more room; why is left in `stop`."""
    row: cython.Py_ssize_t = 0
    column: cython.Py_ssize_t
    run.stop = _FULL
    while row < capacity:
        run.stop = step(run)
        if run.stop != _FOUND:
            break
        for column in range(_COLUMNS):
            cells[row * _COLUMNS + column] = row_value(run, column)
        row += 1
    if run.stop == _FOUND:
        run.stop = _FULL
    return row


def scan(source: Buffer, position: cython.Py_ssize_t, rows: bytearray) -> tuple[int, int, int]:
    """List batches from a position into rows of int64 until the rows are full or batches end.

    Gives how many rows were written, where the walk stopped, and why.
    """
    run: Run = opened(source, position)
    count: cython.Py_ssize_t
    capacity: cython.Py_ssize_t = len(rows) // (8 * _COLUMNS)
    cells: cython.p_longlong
    if cython.compiled:
        cells = cython.cast(cython.p_longlong, PyByteArray_AS_STRING(rows))
        with cython.nogil:
            count = _fill(run, cells, capacity)
    else:
        cells = memoryview(rows).cast("q")
        count = _fill(run, cells, capacity)
    return count, run.position + run.size, run.stop


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _seek(run: Run, last_offset: cython.longlong, timestamp: cython.longlong) -> cython.void:
    """Go on to the first batch whose last offset and largest time both reach so far."""
    run.stop = step(run)
    while run.stop == _FOUND:
        if run.last_offset >= last_offset and run.max_timestamp >= timestamp:
            break
        run.stop = step(run)


def find_batch(
    source: Buffer,
    position: cython.Py_ssize_t,
    last_offset: cython.longlong,
    timestamp: cython.longlong,
) -> tuple[int, int, int]:
    """Find the first batch whose last offset and largest time both reach so far.

    Gives where it is, its size, and what was met; the size is 0 if there is no such batch.
    """
    run: Run = opened(source, position)
    if cython.compiled:
        with cython.nogil:
            _seek(run, last_offset, timestamp)
    else:
        _seek(run, last_offset, timestamp)
    return run.position, run.size, run.stop


def find_header(
    source: Buffer,
    position: cython.Py_ssize_t,
    last_offset: cython.longlong,
    timestamp: cython.longlong,
    beyond: cython.Py_ssize_t,
) -> tuple[int, int, int, int, int, int]:
    """Find a batch as `find_batch` does, where `beyond` more bytes follow that are not here.

    Only a header must lie within the bytes. Gives where it is, the batch's size, what was met, and
    the batch's base offset, last offset and largest time, which mean something if it was found. A
    walk that leaves the bytes stops torn, at the place from which on bytes are needed.
    """
    run: Run = opened(source, position)
    run.beyond = beyond
    if cython.compiled:
        with cython.nogil:
            _seek(run, last_offset, timestamp)
    else:
        _seek(run, last_offset, timestamp)
    if run.stop != _FOUND:
        return run.position, 0, run.stop, -1, -1, -1
    return run.position, run.size, run.stop, run.base_offset, run.last_offset, run.max_timestamp
