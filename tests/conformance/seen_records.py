"""The records of a log's bytes, as a client shows them."""

from collections.abc import Iterable, Iterator

from ottla.records.batch import BatchHeader, batch_at
from ottla.records.message_set import CREATE_TIME, LOG_APPEND_TIME, entries, messages_of
from ottla.records.reader import read_records
from ottla.records.scan import BatchRow, Stop, scan
from ottla.storage.transaction_index import AbortedTransaction
from ottla.wire.fields import Buffer
from tests.conformance.clients import Seen

INFLATED_BYTES_MAX = 1 << 24


def seen_records(
    data: bytes, aborted: Iterable[AbortedTransaction] = (), end_offset: int = 2**63 - 1
) -> list[Seen]:
    """All records of whole batches below an offset, but for those of aborted transactions."""
    gone = [(one.producer_id, one.first_offset, one.last_offset) for one in aborted]
    return [
        one
        for row in _rows(data)
        if row.base_offset < end_offset and not _is_aborted(row, gone)
        for one in _seen(data, row)
    ]


def _rows(data: bytes) -> Iterator[BatchRow]:
    position = 0
    while True:
        found = scan(data, position)
        yield from found.rows
        position = found.end_position
        if found.stop is not Stop.FULL:
            assert found.stop is Stop.END, found.stop
            return


def _is_aborted(row: BatchRow, gone: list[tuple[int, int, int]]) -> bool:
    return any(
        row.producer_id == producer and first <= row.base_offset <= last
        for producer, first, last in gone
    )


def _seen(data: bytes, row: BatchRow) -> Iterator[Seen]:
    if row.magic < 2:
        (entry,) = entries(memoryview(data)[row.position : row.position + row.size_bytes])
        for message in messages_of(entry):
            shown = (message.timestamp_type, message.timestamp)
            yield Seen(message.offset, *shown, _bytes(message.key), _bytes(message.value))
        return
    batch = batch_at(data, row.position)
    header = BatchHeader.parse(batch)
    if header.is_control:
        return
    kind = LOG_APPEND_TIME if header.is_append_time else CREATE_TIME
    for record in read_records(batch, INFLATED_BYTES_MAX):
        headers = tuple((name, _bytes(value)) for name, value in record.headers)
        shown = (record.offset, kind, record.timestamp)
        yield Seen(*shown, _bytes(record.key), _bytes(record.value), headers)


def _bytes(content: Buffer | None) -> bytes | None:
    return None if content is None else bytes(content)
