"""How much of what a leader sent may be appended."""

from ottla.core.quorum.log import OffsetAndEpoch
from ottla.records.batch import batch_at, checksum
from ottla.records.scan import BatchRow, scan
from ottla.wire.fields import Buffer


def sound_bytes(data: Buffer, end: OffsetAndEpoch, epoch_max: int) -> int:
    """The size of the whole batches that go on from the end of a log, each as it was written."""
    position, offset, epoch = 0, end.end_offset, end.epoch
    while position < len(data):
        found = scan(data, position)
        for row in found.rows:
            if not _goes_on(data, row, OffsetAndEpoch(offset, epoch), epoch_max):
                return row.position
            offset, epoch = row.last_offset + 1, row.partition_leader_epoch
        if not found.rows:
            break
        position = found.end_position
    return position


def _goes_on(data: Buffer, row: BatchRow, end: OffsetAndEpoch, epoch_max: int) -> bool:
    return (
        row.magic == 2
        and row.base_offset == end.end_offset
        and end.epoch <= row.partition_leader_epoch <= epoch_max
        and checksum(batch_at(data, row.position)) == row.crc
    )
