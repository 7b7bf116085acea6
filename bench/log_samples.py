"""Logs for measuring: of any size, filled through the log itself, all on one disk."""

from pathlib import Path

from ottla.broker.partition_history import PartitionHistory
from ottla.records.builder import BatchOptions, Row, write_batch
from ottla.records.scan import BatchRow, scan
from ottla.runtime.disk import SystemDisk
from ottla.storage.handles import Handles
from ottla.storage.log import Log
from ottla.storage.log_options import LogOptions
from ottla.storage.recovery import Findings, Opening, open_log

T = 1_700_000_000_000
RECORDS = 16
VALUE_BYTES = 990
DEFAULT = LogOptions()


class Batches:
    """Batches of some 16 KiB whose offsets go on; the records are the same in each."""

    def __init__(self, records: int = RECORDS, value_bytes: int = VALUE_BYTES) -> None:
        rows: list[Row] = [
            (n, T + n, b"key-%08d" % n, bytes(value_bytes), []) for n in range(records)
        ]
        self.data = write_batch(rows, BatchOptions())
        self.row = scan(self.data).rows[0]
        self.records = records

    def at(self, offset: int) -> tuple[bytearray, list[BatchRow]]:
        """The batch that begins at an offset, as a produce request would bring it."""
        self.data[0:8] = offset.to_bytes(8, "big")
        last_offset = offset + self.records - 1
        return self.data, [self.row._replace(base_offset=offset, last_offset=last_offset)]


def opened(
    folder: Path, *, is_clean: bool, options: LogOptions = DEFAULT, files_max: int = 1000
) -> tuple[Log, Findings]:
    """Open the log in a folder, with nothing known of it but how it ended."""
    handles = Handles(SystemDisk(), files_max)
    return open_log(handles, str(folder), options, PartitionHistory(), Opening(T, is_clean))


def fill(folder: Path, size_bytes: int, options: LogOptions = DEFAULT) -> int:
    """Fill a new log, and end as a killed process does; give how many bytes it has."""
    folder.mkdir(parents=True)
    log, _ = opened(folder, is_clean=True, options=options)
    batches = Batches()
    while log.size_bytes < size_bytes:
        for _ in range(1000):
            log.append([batches.at(log.end_offset)], T)
    return log.size_bytes
