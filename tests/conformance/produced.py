"""What a client produced, checked as a broker does and read by us."""

from ottla.errors import ErrorCode
from ottla.records.batch import BatchHeader
from ottla.records.check import Rules, check
from ottla.records.message_set import messages
from ottla.records.message_set_check import check_message_set
from ottla.records.reader import read_records
from tests.conformance.clients import Sent
from tests.conformance.drawn_logs import NOW_MS
from tests.conformance.one_partition import BASE_OFFSET_STEP, Produced

INFLATED_BYTES_MAX = 1 << 24


def accepted_batch(one: Produced) -> tuple[BatchHeader, list[Sent]]:
    """A batch that breaks no rule, by its header and its records."""
    verdict = check(one.records, Rules(), NOW_MS)
    assert verdict.error == ErrorCode.NONE, f"{verdict.reason}: {one.records.hex()}"
    records = list(read_records(one.records, INFLATED_BYTES_MAX))
    assert [record.offset for record in records] == list(range(len(records)))
    assert verdict.max_timestamp == max(record.timestamp for record in records)
    header = BatchHeader.parse(one.records)
    assert header.max_timestamp == verdict.max_timestamp
    return header, [
        Sent(
            record.timestamp,
            _bytes(record.key),
            _bytes(record.value),
            tuple((name, _bytes(value)) for name, value in record.headers),
        )
        for record in records
    ]


def accepted_message_set(one: Produced) -> tuple[tuple[int, int], list[Sent]]:
    """A message set that breaks no rule, by its magic and codec and its messages."""
    verdict = check_message_set(one.records, Rules(), NOW_MS)
    assert verdict.error == ErrorCode.NONE, f"{verdict.reason}: {one.records.hex()}"
    found = [
        Sent(message.timestamp, _bytes(message.key), _bytes(message.value))
        for message in messages(one.records)
    ]
    assert len(found) == len(verdict.messages)
    return (verdict.magic, verdict.codec), found


def told_offsets(counts: list[int]) -> list[int]:
    """The offsets that a producer is told of batches of so many records."""
    return [
        BASE_OFFSET_STEP * batch + index
        for batch, count in enumerate(counts)
        for index in range(count)
    ]


def _bytes(content: bytes | bytearray | memoryview | None) -> bytes | None:
    return None if content is None else bytes(content)
