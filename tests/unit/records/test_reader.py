"""What a reader of batches refuses before it reads a record."""

from types import ModuleType

import pytest

from ottla.kernels import records
from ottla.kernels.faults import InvalidValue
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
