"""Neighbouring batches of a run that the kernels can take together, and those they cannot.

Batches of magic 2 that lie open go to a kernel all at once. A compressed one goes alone, inflated.
Messages of magic 0 and 1 are read one by one: the first cleaning makes batches of them.
"""

from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import groupby

from ottla.kernels.faults import Malformed
from ottla.records.batch import CODEC_BITS, HEADER_BYTES
from ottla.records.compression import decompress
from ottla.records.scan import BatchRow


class Kind(Enum):
    """How batches are gone through."""

    OPEN = "open"
    COMPRESSED = "compressed"
    MESSAGES = "messages"


def kind_of(row: BatchRow) -> Kind:
    """How one batch is gone through."""
    if row.magic < 2:
        return Kind.MESSAGES
    return Kind.COMPRESSED if row.attributes & CODEC_BITS else Kind.OPEN


def stretches(rows: Iterable[BatchRow]) -> Iterator[tuple[Kind, list[BatchRow]]]:
    """Cut a run where the kind changes."""
    for kind, some in groupby(rows, kind_of):
        yield kind, list(some)


def opened(data: memoryview, row: BatchRow, bytes_max: int) -> bytes:
    """The header of a compressed batch, and behind it what it holds, inflated."""
    header_end = row.position + HEADER_BYTES
    section = data[header_end : row.position + row.size_bytes]
    codec = row.attributes & CODEC_BITS
    # What cleaning left of a batch without records is a header, whatever codec that names.
    inflated = decompress(codec, section, bytes_max) if row.records_count else b""
    return b"".join((data[row.position : header_end], inflated))


def located(fault: Malformed, row: BatchRow) -> Malformed:
    """Let a fault within a batch tell which batch that is."""
    fault.path.append(f"the batch at offset {row.base_offset}")
    return fault
