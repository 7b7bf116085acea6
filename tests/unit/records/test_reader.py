"""What a reader of batches refuses before it reads a record."""

from types import ModuleType

import pytest

from ottla.kernels import records
from ottla.kernels.faults import InvalidValue, LimitExceeded
from ottla.records.reader import read_records
from tests.unit.kernels.twins import uncompiled
from tests.unit.records.batch_bytes import Batch, Record

INT64_MAX = 2**63 - 1
RECORDS = [Record(0), Record(1)]


def test_offsets_go_up_to_the_largest_number_there_is() -> None:
    batch = Batch(RECORDS, base_offset=INT64_MAX - 1).written()
    assert [record.offset for record in read_records(batch, 0)] == [INT64_MAX - 1, INT64_MAX]


@pytest.mark.parametrize("kernel", [records, uncompiled("records")])
def test_no_offset_is_past_the_largest_number_there_is(kernel: ModuleType) -> None:
    batch = Batch(RECORDS, base_offset=INT64_MAX).written()
    with pytest.raises(InvalidValue, match="base offset 9223372036854775807 and 1 more"):
        kernel.list_records(batch)


@pytest.mark.parametrize("as_views", [False, True])
def test_headers_may_not_take_much_more_memory_than_bytes(as_views: bool) -> None:
    """Two bytes make a pair; as gzip packs them, one of its bytes makes five hundred."""
    batch = Batch([Record(headers=[(b"", None)] * 500_000)]).written()
    with pytest.raises(LimitExceeded, match="its headers would take more memory"):
        list(read_records(batch, 0, as_views=as_views))


def test_a_record_may_have_many_headers() -> None:
    batch = Batch([Record(headers=[(b"name", b"value")] * 50_000)]).written()
    (record,) = read_records(batch, 0)
    assert record.headers == [("name", b"value")] * 50_000
