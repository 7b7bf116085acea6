"""Hold an entry of a transaction index against the log: there must be the abort that it names.

What proves an entry's first offset and last stable offset is the whole transaction, so of these
only what is impossible is noticed: a first offset past the marker, or at another producer's batch.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from ottla.kernels.faults import Malformed
from ottla.records.batch import BatchHeader, checksum
from ottla.records.control import ControlKey, ControlType
from ottla.records.reader import read_records
from ottla.storage.transaction_index import AbortedTransaction

_MARKER_BYTES_MAX: Final = 4096

ReadBatch: TypeAlias = Callable[[int], bytes | None]
"""Gives the batch with an offset, or the first past it."""


def is_in_log(aborted: AbortedTransaction, base_offset: int, read_batch: ReadBatch) -> bool:
    """Is there the marker that an entry names, and nothing that contradicts its first offset?"""
    first, last = aborted.first_offset, aborted.last_offset
    if not (0 <= first <= last and 0 <= aborted.last_stable_offset <= last + 1):
        return False
    try:
        return _is_marker(read_batch(last), aborted) and (
            first < base_offset or _may_begin(read_batch(first), aborted)
        )
    except Malformed:
        return False


def _is_marker(data: bytes | None, aborted: AbortedTransaction) -> bool:
    """Is that the producer's abort marker?"""
    if data is None or len(data) > _MARKER_BYTES_MAX:
        return False
    header = BatchHeader.parse(data)
    if checksum(data) != header.crc or header.last_offset != aborted.last_offset:
        return False
    if not header.is_control or header.producer_id != aborted.producer_id:
        return False
    record = next(read_records(data, _MARKER_BYTES_MAX), None)
    return record is not None and ControlKey.parse(record.key).type == ControlType.ABORT


def _may_begin(data: bytes | None, aborted: AbortedTransaction) -> bool:
    """May a transaction begin at this batch, or was it cleaned away that did?"""
    if data is None:
        return False
    header = BatchHeader.parse(data)
    if header.base_offset > aborted.first_offset:
        return True
    return (
        header.base_offset == aborted.first_offset
        and header.producer_id == aborted.producer_id
        and header.is_transactional
        and not header.is_control
    )
