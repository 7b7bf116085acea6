"""Make another batch of a batch: with fewer records, a delete horizon, or another codec.

What the log knows a batch by stays: base and last offset, sequences, producer, leader epoch.
"""

from ottla.kernels import cleaning, records
from ottla.kernels.faults import InvalidValue
from ottla.records.batch import (
    CODEC_BITS,
    DELETE_HORIZON_BIT,
    HEADER_BYTES,
    NO_TIMESTAMP,
    BatchHeader,
)
from ottla.records.builder import assemble
from ottla.records.compression import Codec, compress
from ottla.records.reader import inflate
from ottla.wire.fields import Buffer


class OpenBatch:
    """A batch with its records inflated and listed once, for hashing, choosing and keeping.

    `rows` are those of `kernels.records.list_records`; `keys` hashes by `kernels.cleaning`.
    """

    __slots__ = ("_batch", "_section", "header", "rows")

    def __init__(self, batch: Buffer, bytes_max: int) -> None:
        self.header = BatchHeader.parse(batch)
        self._batch = batch
        inflated = inflate(batch, bytes_max)
        self._section: Buffer = batch if inflated is None else inflated
        self.rows = records.list_records(batch, inflated)

    def key_hashes(self, secret: bytes) -> bytearray:
        """Sixteen bytes a record; of a record without a key they are zeros."""
        return cleaning.hash_keys(self._section, self.rows, secret)

    def keep(
        self, marks: bytes, delete_horizon_ms: int | None = None, level: int | None = None
    ) -> bytearray:
        """The batch with the records whose byte in `marks` is not zero.

        A horizon that the batch has already stays; one given is set if it has none.
        """
        header = self.header
        horizon = header.delete_horizon_ms
        if horizon is None:
            horizon = delete_horizon_ms
        section, count, base_timestamp, max_timestamp = cleaning.keep_records(
            self._section, self.rows, marks, horizon
        )
        if count == 0:
            return self._empty()
        attributes = header.attributes
        if horizon is not None:
            attributes |= DELETE_HORIZON_BIT
        if header.is_append_time:
            max_timestamp = header.max_timestamp
        if header.codec:
            section = compress(header.codec, section, level)
        kept = header._replace(
            attributes=attributes,
            base_timestamp=base_timestamp,
            max_timestamp=max_timestamp,
            records_count=count,
        )
        return assemble(kept, section)

    def _empty(self) -> bytearray:
        """A header alone; its largest time still says how old the batch is."""
        attributes = self.header.attributes & ~(DELETE_HORIZON_BIT | CODEC_BITS)
        return assemble(
            self.header._replace(
                attributes=attributes, base_timestamp=NO_TIMESTAMP, records_count=0
            ),
            b"",
        )


def recompress(
    batch: Buffer, codec: int, level: int | None = None, *, inflated: bytes | None = None
) -> bytearray:
    """The batch by another codec; `inflated` is its section if that is compressed now.

    Control batches that lie open are not for this: they stay as they are in every topic.
    """
    header = BatchHeader.parse(batch)
    if (header.codec != Codec.NONE) != (inflated is not None):
        raise InvalidValue("a compressed batch is recompressed from its inflated section", 21)
    section = memoryview(batch)[HEADER_BYTES:] if inflated is None else inflated
    attributes = header.attributes & ~CODEC_BITS | codec
    return assemble(
        header._replace(attributes=attributes),
        compress(codec, section, level) if codec else section,
    )
