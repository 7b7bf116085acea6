"""Records as Arrow: the columns that are asked for, of a run of batches.

A run is what a segment's byte range or a Fetch answer holds. The columns are those of Spark's own
Kafka source, of the same types, and two of the batch: `leaderEpoch` and `producerId`. A column
that is not asked for is neither copied nor allocated, and what lies behind the last wanted field
of a record is not even read. Control records are never rows.

This is the only module that needs pyarrow (the extra `arrow`); the kernels fill plain memory,
which becomes Arrow's without a copy.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

import pyarrow as pa
from fastcrc.crc32 import iscsi as crc32c

from ottla.kernels import selection
from ottla.kernels.arrow import Run
from ottla.kernels.selection import INT64_MAX, INT64_MIN, Selection
from ottla.records.compression import INFLATED_BYTES_MAX
from ottla.records.scratch import Scratch
from ottla.wire.fields import Buffer

_BITS: Final = {
    "key": selection.KEY,
    "value": selection.VALUE,
    "topic": 0,
    "partition": 0,
    "offset": selection.OFFSET,
    "timestamp": selection.TIMESTAMP,
    "timestampType": selection.TIMESTAMP_TYPE,
    "headers": selection.HEADERS,
    "leaderEpoch": selection.LEADER_EPOCH,
    "producerId": selection.PRODUCER_ID,
}

SPARK_COLUMNS: Final = tuple(_BITS)[:8]
"""The columns of Spark's Kafka source, in its order."""

_Blobs: TypeAlias = tuple[int, bytearray | None, bytearray, bytearray]
_Headers: TypeAlias = tuple[int, bytearray | None, bytearray, int, _Blobs, _Blobs, bool]


@dataclass(frozen=True, slots=True)
class Window:
    """Which rows: offsets and timestamps (in milliseconds) from a start to before an end."""

    start_offset: int = 0
    end_offset: int = INT64_MAX
    start_timestamp: int = INT64_MIN
    end_timestamp: int = INT64_MAX


@dataclass(frozen=True, slots=True)
class Shape:
    """How large each Arrow batch is at most, and which of Arrow's types it has.

    One record larger than `bytes_max` is a batch of its own. Kafka's timestamps are milliseconds,
    Spark's are microseconds; one too large for these is a fault, as in Spark.
    """

    rows_max: int = 8192
    bytes_max: int = 1 << 20
    large: bool = False
    timestamp_unit: Literal["ms", "us"] = "us"


@dataclass(frozen=True, slots=True)
class Aborted:
    """An aborted transaction: Fetch tells where it begins, a transaction index also where it ends.

    Its batches are left out from the first offset to the abort marker, or to the last offset.
    """

    producer_id: int
    first_offset: int
    last_offset: int = INT64_MAX


EVERY_ROW: Final = Window()
DEFAULT_SHAPE: Final = Shape()


class Columns:
    """Some columns, ready to be read from any number of runs."""

    def __init__(
        self,
        names: Sequence[str],
        shape: Shape = DEFAULT_SHAPE,
        *,
        check_crcs: bool = True,
        inflated_bytes_max: int = INFLATED_BYTES_MAX,
    ) -> None:
        unknown = [name for name in names if name not in _BITS]
        if unknown or len(set(names)) < len(names):
            raise ValueError(f"columns are some of {', '.join(_BITS)}, each once: {names}")
        self.names = tuple(names)
        self.shape = shape
        self.check_crcs = check_crcs
        self.inflated_bytes_max = inflated_bytes_max
        self.schema = pa.schema([(name, _type_of(name, shape)) for name in names])

    def read(
        self,
        run: Buffer,
        window: Window = EVERY_ROW,
        aborted: Sequence[Aborted] = (),
        topic: str = "",
        partition: int = 0,
    ) -> "Reading":
        """Read a run, one Arrow batch after the other; `aborted` makes it read committed."""
        return Reading(self, self._run(run, window, aborted), topic, partition)

    def table(
        self, run: Buffer, window: Window = EVERY_ROW, aborted: Sequence[Aborted] = ()
    ) -> pa.Table:
        """Read a run to its end."""
        return pa.Table.from_batches(list(self.read(run, window, aborted)), self.schema)

    def _run(self, run: Buffer, window: Window, aborted: Sequence[Aborted]) -> Run:
        shape = self.shape
        wanted = Selection(
            columns=sum(_BITS[name] for name in self.names),
            start_offset=window.start_offset,
            end_offset=window.end_offset,
            start_timestamp=window.start_timestamp,
            end_timestamp=window.end_timestamp,
            rows_max=shape.rows_max,
            bytes_max=shape.bytes_max,
            large=shape.large,
            timestamp_factor=1000 if shape.timestamp_unit == "us" else 1,
            decompressed_bytes_max=self.inflated_bytes_max,
        )
        ranges = [(each.producer_id, each.first_offset, each.last_offset) for each in aborted]
        return Run(run, wanted, crc32c if self.check_crcs else None, Scratch().decompress, ranges)


class Reading(Iterator[pa.RecordBatch]):
    """One pass over a run. After a fault, the batches before it have been given."""

    def __init__(self, columns: Columns, run: Run, topic: str, partition: int) -> None:
        self._schema = columns.schema
        self._run = run
        self._constants: dict[str, pa.Scalar] = {
            "topic": pa.scalar(topic, pa.string()),
            "partition": pa.scalar(partition, pa.int32()),
        }
        self._repeated: dict[str, pa.Array] = {}

    @property
    def position(self) -> int:
        """The run's bytes up to here are read: at the end, where it is cut off or was cut short."""
        return self._run.position

    def __next__(self) -> pa.RecordBatch:
        rows = self._run.fill()
        if rows == 0:
            raise StopIteration
        taken = cast("dict[str, object]", self._run.take())
        if not self._schema.names:
            # Only a struct without fields can tell how many rows a batch without columns has.
            rows_only = pa.StructArray.from_buffers(pa.struct([]), rows, [None])
            return pa.RecordBatch.from_struct_array(rows_only)
        arrays = [self._array(field, rows, taken) for field in self._schema]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _array(self, field: pa.Field, rows: int, taken: dict[str, object]) -> pa.Array:
        if field.name in self._constants:
            return self._constant(field.name, rows)
        content = taken[field.name]
        if field.name == "headers":
            return _headers(field.type, rows, cast("_Headers", content))
        if isinstance(content, bytearray):
            return pa.Array.from_buffers(field.type, rows, [None, pa.py_buffer(content)])
        return _blobs(field.type, rows, cast("_Blobs", content))

    def _constant(self, name: str, rows: int) -> pa.Array:
        """All batches share the same repeated value."""
        repeated = self._repeated.get(name)
        if repeated is None or len(repeated) < rows:
            repeated = self._repeated[name] = pa.repeat(self._constants[name], rows)
        return repeated.slice(0, rows)


def _type_of(name: str, shape: Shape) -> pa.DataType:
    blob = pa.large_binary() if shape.large else pa.binary()
    types = {
        "key": blob,
        "value": blob,
        "topic": pa.string(),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "timestamp": pa.timestamp(shape.timestamp_unit, "UTC"),
        "timestampType": pa.int32(),
        "headers": pa.list_(
            pa.field("element", pa.struct([("key", pa.string()), ("value", blob)]))
        ),
        "leaderEpoch": pa.int32(),
        "producerId": pa.int64(),
    }
    return types[name]


def _buffer(content: bytearray | None) -> pa.Buffer | None:
    return None if content is None else pa.py_buffer(content)


def _blobs(kind: pa.DataType, count: int, content: _Blobs) -> pa.Array:
    nulls, validity, ends, octets = content
    buffers = [_buffer(validity), _buffer(ends), _buffer(octets)]
    return pa.Array.from_buffers(kind, count, buffers, nulls)


def _headers(kind: pa.DataType, rows: int, content: _Headers) -> pa.Array:
    nulls, validity, ends, count, keys, values, is_ascii = content
    pair = kind.field(0).type
    key_array = _blobs(pair.field(0).type, count, keys)
    if not is_ascii:
        key_array = _readable(key_array)
    children = [key_array, _blobs(pair.field(1).type, count, values)]
    pairs = pa.Array.from_buffers(pair, count, [None], 0, children=children)
    return pa.Array.from_buffers(
        kind, rows, [_buffer(validity), _buffer(ends)], nulls, children=[pairs]
    )


def _readable(keys: pa.Array) -> pa.Array:
    """Like Kafka's clients, put replacement characters for what is not UTF-8."""
    try:
        keys.validate(full=True)
    except pa.ArrowInvalid:
        octets = cast("list[bytes]", keys.view(pa.binary()).to_pylist())
        texts = [str(key, "utf-8", "replace") for key in octets]
        return pa.array(texts, pa.string())
    return keys
