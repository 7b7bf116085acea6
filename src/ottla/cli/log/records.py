"""The records of a batch of any magic, and those of them that are wanted."""

from collections.abc import Iterator
from typing import Final

from ottla.cli.log.batches import Batch
from ottla.cli.log.conditions import Wanted
from ottla.kernels import records as kernel
from ottla.records.batch import CONTROL_BIT, HEADER_BYTES
from ottla.records.message_set import entries, messages_of
from ottla.records.reader import Record, inflate, read_records

INFLATED_BYTES_MAX: Final = 128 << 20
"""What the records of one batch may take; more than any broker would have taken by default."""

_ROWS_AT_ONCE: Final = 256


def is_control(batch: Batch) -> bool:
    """Are these control records, which no application sees?"""
    return batch.row.magic == 2 and batch.row.attributes & CONTROL_BIT != 0


def records_of(batch: Batch) -> Iterator[Record]:
    """All records; Malformed if they cannot be read, after those that can."""
    return (
        _of_message(batch) if batch.row.magic < 2 else read_records(batch.view, INFLATED_BYTES_MAX)
    )


def wanted_records(batch: Batch, wanted: Wanted) -> Iterator[Record]:
    """The records that are wanted; a batch that cannot have one is not taken apart."""
    if not wanted.window.may_hold(batch.row):
        return
    if batch.row.magic < 2 or not wanted.conditions:
        yield from filter(wanted.holds, records_of(batch))
        return
    inflated = inflate(batch.view, INFLATED_BYTES_MAX)
    if not wanted.may_hold(batch.view[HEADER_BYTES:] if inflated is None else inflated):
        return
    walk = kernel.open_records(batch.view, inflated)
    while rows := kernel.read_records(walk, _ROWS_AT_ONCE, False):
        yield from filter(wanted.holds, (Record(*row) for row in rows))


def _of_message(batch: Batch) -> Iterator[Record]:
    for entry in entries(batch.view):
        for offset, timestamp, _, key, value in messages_of(entry, INFLATED_BYTES_MAX):
            yield Record(offset, timestamp, key, value, [])
