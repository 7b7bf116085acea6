"""A topic's options as the broker needs them: plain values, read once when they change."""

from dataclasses import dataclass
from typing import Final

from ottla.config import log as rows
from ottla.config.settings import Settings
from ottla.records.check import Rules
from ottla.records.compression import Codec
from ottla.storage.log_options import LogOptions
from ottla.storage.segment import SegmentOptions

AS_PRODUCED: Final = None
_CODECS: Final = {
    "uncompressed": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
}


@dataclass(frozen=True, slots=True)
class TopicOptions:
    """What is demanded of batches, and what becomes of them."""

    rules: Rules
    log: LogOptions
    codec: Codec | None = AS_PRODUCED
    level: int | None = None
    in_sync_min: int = 1


def read_topic_options(settings: Settings) -> TopicOptions:
    """Read them from a topic's settings."""
    policy = settings[rows.LOG_CLEANUP_POLICY]
    codec = _CODECS.get(settings[rows.COMPRESSION_TYPE])
    return TopicOptions(
        rules=Rules(
            batch_bytes_max=settings[rows.MESSAGE_MAX_BYTES],
            is_compacted="compact" in policy,
            is_append_time=settings[rows.LOG_MESSAGE_TIMESTAMP_TYPE] == "LogAppendTime",
            before_max_ms=settings[rows.LOG_MESSAGE_TIMESTAMP_BEFORE_MAX_MS],
            after_max_ms=settings[rows.LOG_MESSAGE_TIMESTAMP_AFTER_MAX_MS],
        ),
        log=_log_options(settings, policy),
        codec=codec,
        level=_level(settings, codec),
        in_sync_min=settings[rows.MIN_INSYNC_REPLICAS],
    )


def _log_options(settings: Settings, policy: list[str]) -> LogOptions:
    segment_bytes = settings[rows.LOG_SEGMENT_BYTES]
    segment = SegmentOptions(
        index_interval_bytes=settings[rows.LOG_INDEX_INTERVAL_BYTES],
        index_bytes_max=settings[rows.LOG_INDEX_SIZE_MAX_BYTES],
        allocated_bytes=segment_bytes if settings[rows.LOG_PREALLOCATE] else 0,
    )
    return LogOptions(
        segment=segment,
        segment_bytes=segment_bytes,
        segment_ms=settings[rows.LOG_ROLL_MS],
        segment_jitter_ms=settings[rows.LOG_ROLL_JITTER_MS],
        is_deleted="delete" in policy,
        is_compacted="compact" in policy,
        retention_ms=settings[rows.LOG_RETENTION_MS],
        retention_bytes=settings[rows.LOG_RETENTION_BYTES],
        flush_messages=settings[rows.LOG_FLUSH_INTERVAL_MESSAGES],
        flush_ms=settings[rows.LOG_FLUSH_INTERVAL_MS],
        file_delete_delay_ms=settings[rows.LOG_SEGMENT_DELETE_DELAY_MS],
    )


def _level(settings: Settings, codec: Codec | None) -> int | None:
    """How hard a codec tries; None leaves it to the codec."""
    if codec is Codec.GZIP:
        level = settings[rows.COMPRESSION_GZIP_LEVEL]
        return None if level == -1 else level
    if codec is Codec.LZ4:
        return settings[rows.COMPRESSION_LZ4_LEVEL]
    return settings[rows.COMPRESSION_ZSTD_LEVEL] if codec is Codec.ZSTD else None
