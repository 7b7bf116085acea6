"""Check the records of a batch: their structure, and what its header says of them."""

from ottla.api.control_records import read_control_key
from ottla.cli.log.batches import Batch
from ottla.cli.log.records import INFLATED_BYTES_MAX, is_control, records_of
from ottla.kernels import records as kernel
from ottla.kernels.faults import Malformed
from ottla.records.batch import APPEND_TIME_BIT
from ottla.records.message_set import entries, inner_entries
from ottla.records.reader import inflate


def fault_of(batch: Batch) -> str | None:
    """What is wrong with the records of a batch, if anything."""
    try:
        if batch.row.magic < 2:
            return _fault_of_messages(batch)
        return _fault_of_records(batch) or (_fault_of_control(batch) if is_control(batch) else None)
    except Malformed as fault:
        return f"the records cannot be read: {fault.reason}"


def records_count(batch: Batch) -> int:
    """How many records a batch has; a message of before batches is at least one."""
    return 1 if batch.row.magic < 2 else batch.row.records_count


def _fault_of_records(batch: Batch) -> str | None:
    row = batch.row
    inflated = inflate(batch.view, INFLATED_BYTES_MAX)
    fault, index, max_timestamp, *_ = kernel.check_records(batch.view, inflated, 0, 0, 0)
    if fault:
        return f"record {index}: {kernel.FAULTS[fault]}"
    if row.records_count > row.last_offset - row.base_offset + 1:
        return f"{row.records_count} records, where there are fewer offsets"
    if not row.attributes & APPEND_TIME_BIT and max_timestamp > row.max_timestamp:
        return f"a record has the time {max_timestamp}, the header's largest is {row.max_timestamp}"
    return None


def _fault_of_messages(batch: Batch) -> str | None:
    for entry in entries(batch.view):
        if entry.codec:
            inner_entries(entry, INFLATED_BYTES_MAX, with_checksums=True)
    return None


def _fault_of_control(batch: Batch) -> str | None:
    for record in records_of(batch):
        if record.key is None:
            return f"the control record at offset {record.offset} has no key"
        read_control_key(record.key)
    return None
