"""Which epochs of a checkpoint are kept where the batches do not tell all."""

from typing import Final

import pytest

from ottla.records.builder import BatchOptions, write_batch
from ottla.records.scan import BatchRow, scan
from ottla.storage.checkpoints import EpochEntry
from ottla.storage.later_epochs import LaterEpochs

# By name: what the checkpoint says, the batches as (base offset, records, epoch), what holds.
CASES: Final = {
    "cleaned away": ([(6, 228)], [(220, 8, 4), (258, 2, 6)], [(4, 220), (6, 228)]),
    "cleaned away whole": ([(5, 228), (6, 240)], [(240, 9, 6)], [(5, 228), (6, 240)]),
    "none at the end": ([(6, 228)], [(220, 8, 4)], [(4, 220), (6, 228)]),
    "cut, then one epoch more": ([(6, 150)], [(120, 90, 7)], [(7, 120)]),
    "cut, then the same epoch on": ([(6, 150)], [(100, 50, 5), (150, 9, 5)], [(5, 100)]),
    "begins within a batch": ([(6, 150)], [(140, 20, 5)], [(5, 140)]),
    "began without records": ([(5, 100)], [(100, 9, 6)], [(6, 100)]),
    "older than what comes": ([(6, 150)], [(100, 50, 5), (150, 9, 7)], [(5, 100), (7, 150)]),
    "batches without an epoch": ([(6, 150)], [(100, 90, -1)], [(6, 150)]),
    "before the offset": ([(3, 50), (6, 150)], [(150, 9, 6)], [(6, 150)]),
}


def rows_of(batches: list[tuple[int, int, int]]) -> list[BatchRow]:
    """The rows of batches as they would lie in a log."""
    data = b"".join(
        write_batch(
            [(base + index, 1, None, b"x", ()) for index in range(count)],
            BatchOptions(base_offset=base, partition_leader_epoch=epoch),
        )
        for base, count, epoch in batches
    )
    return scan(data).rows


@pytest.mark.parametrize("name", CASES)
def test_an_entry_stays_unless_a_batch_speaks_against_it(name: str) -> None:
    said, batches, expected = CASES[name]
    rows = rows_of(batches)
    found: list[tuple[int, int]] = []
    for row in rows:
        if row.partition_leader_epoch > (found[-1][0] if found else -1):
            found.append((row.partition_leader_epoch, row.base_offset))
    later = LaterEpochs([EpochEntry(*entry) for entry in said], 100)
    later.note(rows[:1])
    later.note(rows[1:])
    assert later.joined(found) == expected
