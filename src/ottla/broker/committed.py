"""The image of what is committed: the newest snapshot, and the metadata log after it."""

from typing import Final

from ottla.broker.quorum_files import metadata_records
from ottla.broker.quorum_log import MetadataLog
from ottla.core.metadata.image import Image
from ottla.core.quorum.log import OffsetAndEpoch
from ottla.records.scan import scan

READ_BYTES: Final = 1 << 20


class Committed:
    """What a broker goes by; it never takes anything back."""

    __slots__ = ("_log", "appended_ms", "end", "image")

    def __init__(self, log: MetadataLog) -> None:
        """Take up the newest snapshot, if there is one."""
        self._log = log
        self.image: Final = Image()
        self.end = OffsetAndEpoch(0, 0)
        """Up to where it is replayed."""
        self.appended_ms = 0
        """When the last record below the end was appended."""
        snapshot = log.latest_snapshot
        if snapshot is not None:
            size_bytes = log.snapshot_bytes(snapshot) or 0
            for record, _ in metadata_records(log.read_snapshot(snapshot, 0, size_bytes)):
                self.image.replay(record)
            self.end = snapshot

    def catch_up(self, high_watermark: int) -> int:
        """Replay what has been committed since; give how many bytes that was."""
        replayed_bytes = 0
        while self.end.end_offset < high_watermark:
            data = self._log.read(self.end.end_offset, READ_BYTES)
            position = 0
            while position < len(data):
                part = scan(data, position)
                for row in part.rows:
                    if row.last_offset >= high_watermark:
                        return replayed_bytes
                    if row.base_offset < self.end.end_offset:
                        continue
                    batch = data[row.position : row.position + row.size_bytes]
                    for record, _ in metadata_records(batch):
                        self.image.replay(record)
                    replayed_bytes += row.size_bytes
                    self.end = OffsetAndEpoch(row.last_offset + 1, row.partition_leader_epoch)
                    self.appended_ms = row.max_timestamp
                position = part.end_position
        return replayed_bytes
