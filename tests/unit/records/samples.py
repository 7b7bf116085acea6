"""Batches that tests start from."""

from ottla.records.batch import BatchHeader
from ottla.records.builder import BatchOptions, Row, assemble, write_batch

T = 1_700_000_000_000
INFLATED_BYTES_MAX = 1 << 24


def rows(count: int, base_offset: int = 0) -> list[Row]:
    """Records with a key, a value and, each third of them, a header."""
    return [
        (
            base_offset + index,
            T + index,
            b"key-%d" % index,
            b"value-%d" % index,
            [("trace", b"%d" % index)] if index % 3 == 0 else [],
        )
        for index in range(count)
    ]


def batch(count: int = 3, options: BatchOptions | None = None) -> bytearray:
    """A batch of some records."""
    options = options or BatchOptions()
    return write_batch(rows(count, options.base_offset), options)


def with_header(sent: bytes | bytearray, **fields: int) -> bytearray:
    """The same records under a header changed, with a checksum that is right."""
    return assemble(BatchHeader.parse(sent)._replace(**fields), sent[61:])


def with_section(section: bytes, count: int = 1, **fields: int) -> bytearray:
    """A batch of any bytes as its records."""
    header = BatchHeader.parse(batch(1))
    header = header._replace(records_count=count, last_offset_delta=count - 1)
    return assemble(header._replace(**fields), section)
