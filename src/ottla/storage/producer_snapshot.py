"""Producer snapshots: what a partition knows of its producers below an offset.

The offset is the file's name. A checksum covers all that follows it, so a file that is read is the
one that was written; what is refused is rebuilt from the log.
"""

from collections.abc import Sequence
from typing import Final

from fastcrc.crc32 import iscsi as crc32c

from ottla.api.partition_files import ProducerSnapshot
from ottla.api.version_prefixed import NUMBER_BYTES, number_of, read_prefixed, write_prefixed
from ottla.kernels.faults import InvalidValue, Truncated

VERSION: Final = 1
CHECKSUM_END: Final = NUMBER_BYTES + 4


def parse_producer_snapshot(content: bytes) -> list[ProducerSnapshot.ProducerEntry]:
    """Read the file; Malformed if it is of another version, cut, or not as it was written."""
    version = number_of(content, "a producer snapshot")
    if version != VERSION:
        raise InvalidValue(f"version {version} is unknown, only {VERSION} is read", 0)
    if len(content) < CHECKSUM_END:
        raise Truncated("no room for a checksum", NUMBER_BYTES)
    stored = int.from_bytes(content[NUMBER_BYTES:CHECKSUM_END], "big")
    computed = crc32c(memoryview(content)[CHECKSUM_END:])
    if stored != computed:
        reason = f"the checksum is {stored:08x}, that of the bytes is {computed:08x}"
        raise InvalidValue(reason, NUMBER_BYTES)
    return read_prefixed(ProducerSnapshot, content)[0].producer_entries


def format_producer_snapshot(entries: Sequence[ProducerSnapshot.ProducerEntry]) -> bytes:
    """Write the file, its entries in the order given."""
    content = write_prefixed(ProducerSnapshot(crc=0, producer_entries=list(entries)), VERSION)
    checksum = crc32c(memoryview(content)[CHECKSUM_END:])
    return content[:NUMBER_BYTES] + checksum.to_bytes(4, "big") + content[CHECKSUM_END:]
