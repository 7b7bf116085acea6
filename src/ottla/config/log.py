"""What the log engine reads: segments, retention, indexes, flushing, timestamps, compaction."""

from typing import Final

from ottla.config.kinds import BOOLEAN, DOUBLE, INT, LIST, LONG, STRING
from ottla.config.option import (
    CLUSTER_WIDE,
    HIGH,
    LONG_MAX,
    LOW,
    GiB,
    KiB,
    MiB,
    Option,
    Scope,
    days,
    hours,
    minutes,
    seconds,
)

# fmt: off
LOG_DIR: Final = Option(
    "log.dir", LIST, default=["/tmp/kafka-logs"], may_be_empty=False, importance=HIGH,
    doc="The log directories, where log.dirs is not set.")
LOG_DIRS: Final = Option(
    "log.dirs", LIST, synonyms=(LOG_DIR,), may_be_empty=False, importance=HIGH,
    doc="The directories that hold the logs, one a device.")
LOG_DIR_FAILURE_TIMEOUT_MS: Final = Option(
    "log.dir.failure.timeout.ms", LONG, default=seconds(30), at_least=1, importance=LOW,
    doc="Stop if the controller has not learnt within this time that a log directory failed.")

LOG_SEGMENT_BYTES: Final = Option(
    "log.segment.bytes", INT, default=GiB(1), at_least=MiB(1), topic="segment.bytes",
    change=CLUSTER_WIDE, importance=HIGH,
    doc="Roll a new segment before the active one would hold more bytes than this.")
LOG_ROLL_HOURS: Final = Option(
    "log.roll.hours", INT, default=7 * 24, at_least=1, importance=HIGH,
    doc="Roll a new segment at this age, in hours, where log.roll.ms is not set.")
LOG_ROLL_MS: Final = Option(
    "log.roll.ms", LONG, synonyms=(LOG_ROLL_HOURS,), at_least=1, topic="segment.ms",
    change=CLUSTER_WIDE, importance=HIGH, doc="Roll a new segment at this age, even a small one.")
LOG_ROLL_JITTER_HOURS: Final = Option(
    "log.roll.jitter.hours", INT, default=0, at_least=0, importance=HIGH,
    doc="Spread rolling by age over so many hours, where log.roll.jitter.ms is not set.")
LOG_ROLL_JITTER_MS: Final = Option(
    "log.roll.jitter.ms", LONG, synonyms=(LOG_ROLL_JITTER_HOURS,), at_least=0,
    topic="segment.jitter.ms", change=CLUSTER_WIDE, importance=HIGH,
    doc="Roll by age earlier by a random time up to this, so that segments do not roll together.")
LOG_SEGMENT_DELETE_DELAY_MS: Final = Option(
    "log.segment.delete.delay.ms", LONG, default=minutes(1), at_least=0,
    topic="file.delete.delay.ms", change=CLUSTER_WIDE, importance=HIGH,
    doc="Keep the file of a deleted segment this long, for those that still read it.")
LOG_PREALLOCATE: Final = Option(
    "log.preallocate", BOOLEAN, default=False, topic="preallocate", change=CLUSTER_WIDE,
    doc="Give a new segment's file its full size at once.")

LOG_RETENTION_HOURS: Final = Option(
    "log.retention.hours", INT, default=7 * 24, importance=HIGH,
    doc="Keep segments so many hours, where neither minutes nor milliseconds are set.")
LOG_RETENTION_MINUTES: Final = Option(
    "log.retention.minutes", INT, default=None, importance=HIGH,
    doc="Keep segments so many minutes, where log.retention.ms is not set.")
LOG_RETENTION_MS: Final = Option(
    "log.retention.ms", LONG, synonyms=(LOG_RETENTION_MINUTES, LOG_RETENTION_HOURS), at_least=-1,
    unlimited=-1, not_zero=True, topic="retention.ms", change=CLUSTER_WIDE, importance=HIGH,
    doc="Delete a segment once its newest record is older than this; -1 keeps it for ever.")
LOG_RETENTION_BYTES: Final = Option(
    "log.retention.bytes", LONG, default=-1, topic="retention.bytes", change=CLUSTER_WIDE,
    importance=HIGH, doc="Delete a partition's oldest segments beyond this size; -1: no limit.")
LOG_RETENTION_CHECK_INTERVAL_MS: Final = Option(
    "log.retention.check.interval.ms", LONG, default=minutes(5), at_least=1,
    doc="How often to look for segments that may be deleted.")
LOG_CLEANUP_POLICY: Final = Option(
    "log.cleanup.policy", LIST, default=["delete"], one_of=("compact", "delete"),
    topic="cleanup.policy", change=CLUSTER_WIDE,
    doc="Delete old segments, compact them to the newest record of each key, both, or neither.")
LOG_LOCAL_RETENTION_MS: Final = Option(
    "log.local.retention.ms", LONG, default=-2, at_least=-2, topic="local.retention.ms",
    change=CLUSTER_WIDE, doc="Keep segments of the remote tier here this long; -2: as retention.")
LOG_LOCAL_RETENTION_BYTES: Final = Option(
    "log.local.retention.bytes", LONG, default=-2, at_least=-2, topic="local.retention.bytes",
    change=CLUSTER_WIDE, doc="Keep so much of the remote tier here; -2: as retention says.")

LOG_INDEX_SIZE_MAX_BYTES: Final = Option(
    "log.index.size.max.bytes", INT, default=MiB(10), at_least=4, topic="segment.index.bytes",
    change=CLUSTER_WIDE, doc="Roll a new segment once an index of the active one is this large.")
LOG_INDEX_INTERVAL_BYTES: Final = Option(
    "log.index.interval.bytes", INT, default=KiB(4), at_least=0, topic="index.interval.bytes",
    change=CLUSTER_WIDE, doc="Add an index entry after more than so many bytes of batches.")

MESSAGE_MAX_BYTES: Final = Option(
    "message.max.bytes", INT, default=MiB(1) + 12, at_least=0, topic="max.message.bytes",
    change=CLUSTER_WIDE, importance=HIGH, doc="Take no batch that is larger than this, compressed.")
COMPRESSION_TYPE: Final = Option(
    "compression.type", STRING, default="producer", topic="compression.type",
    one_of=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"), change=CLUSTER_WIDE,
    importance=HIGH, doc="Store batches compressed so, or as the producer sent them.")
COMPRESSION_GZIP_LEVEL: Final = Option(
    "compression.gzip.level", INT, default=-1, at_least=1, at_most=9, or_exactly=-1,
    topic="compression.gzip.level", change=CLUSTER_WIDE,
    doc="How hard gzip tries; -1 leaves it to gzip.")
COMPRESSION_LZ4_LEVEL: Final = Option(
    "compression.lz4.level", INT, default=9, at_least=1, at_most=17,
    topic="compression.lz4.level", change=CLUSTER_WIDE, doc="How hard lz4 tries.")
COMPRESSION_ZSTD_LEVEL: Final = Option(
    "compression.zstd.level", INT, default=3, at_least=-131072, at_most=22,
    topic="compression.zstd.level", change=CLUSTER_WIDE,
    doc="How hard zstd tries; below zero it is faster and packs less.")
LOG_MESSAGE_TIMESTAMP_TYPE: Final = Option(
    "log.message.timestamp.type", STRING, default="CreateTime", topic="message.timestamp.type",
    one_of=("CreateTime", "LogAppendTime"), change=CLUSTER_WIDE,
    doc="Keep the time that the producer gave a record, or stamp the time of the append.")
LOG_MESSAGE_TIMESTAMP_BEFORE_MAX_MS: Final = Option(
    "log.message.timestamp.before.max.ms", LONG, default=LONG_MAX, at_least=0,
    topic="message.timestamp.before.max.ms", change=CLUSTER_WIDE,
    doc="Refuse records whose time lies further than this before the broker's.")
LOG_MESSAGE_TIMESTAMP_AFTER_MAX_MS: Final = Option(
    "log.message.timestamp.after.max.ms", LONG, default=hours(1), at_least=0,
    topic="message.timestamp.after.max.ms", change=CLUSTER_WIDE,
    doc="Refuse records whose time lies further than this after the broker's.")
MIN_INSYNC_REPLICAS: Final = Option(
    "min.insync.replicas", INT, default=1, at_least=1, topic="min.insync.replicas",
    change=CLUSTER_WIDE, importance=HIGH,
    doc="With acks=all, take no batch while fewer replicas than this are in sync.")
UNCLEAN_LEADER_ELECTION_ENABLE: Final = Option(
    "unclean.leader.election.enable", BOOLEAN, default=False,
    topic="unclean.leader.election.enable", change=CLUSTER_WIDE, importance=HIGH,
    doc="Let a replica that was not in sync lead if no other is left, and lose what it lacks.")

LOG_FLUSH_INTERVAL_MESSAGES: Final = Option(
    "log.flush.interval.messages", LONG, default=LONG_MAX, at_least=1, topic="flush.messages",
    change=CLUSTER_WIDE, importance=HIGH,
    doc="Force a partition to the disk every so many records.")
LOG_FLUSH_SCHEDULER_INTERVAL_MS: Final = Option(
    "log.flush.scheduler.interval.ms", LONG, default=LONG_MAX, importance=HIGH,
    doc="How often to look whether a partition is due to be forced to the disk.")
LOG_FLUSH_INTERVAL_MS: Final = Option(
    "log.flush.interval.ms", LONG, synonyms=(LOG_FLUSH_SCHEDULER_INTERVAL_MS,), at_least=0,
    topic="flush.ms", change=CLUSTER_WIDE, importance=HIGH,
    doc="Force a partition to the disk once its oldest record not yet forced is this old.")
LOG_FLUSH_OFFSET_CHECKPOINT_INTERVAL_MS: Final = Option(
    "log.flush.offset.checkpoint.interval.ms", INT, default=minutes(1), at_least=0, importance=HIGH,
    doc="How often to write down up to where each log is on the disk.")
LOG_FLUSH_START_OFFSET_CHECKPOINT_INTERVAL_MS: Final = Option(
    "log.flush.start.offset.checkpoint.interval.ms", INT, default=minutes(1), at_least=0,
    importance=HIGH, doc="How often to write down where each log starts.")
LOG_INITIAL_TASK_DELAY_MS: Final = Option(
    "log.initial.task.delay.ms", LONG, default=seconds(30), at_least=0, importance=LOW,
    internal=True, doc="Wait this long after the start with the first deletion or flush.")

LOG_CLEANER_ENABLE: Final = Option(
    "log.cleaner.enable", BOOLEAN, default=True, deprecated="compacted topics need the cleaner.",
    doc="Run the cleaner; without it compacted topics grow without end.")
LOG_CLEANER_THREADS: Final = Option(
    "log.cleaner.threads", INT, default=1, at_least=0, change=CLUSTER_WIDE,
    doc="How many threads compact logs.")
LOG_CLEANER_DEDUPE_BUFFER_SIZE: Final = Option(
    "log.cleaner.dedupe.buffer.size", LONG, default=MiB(128), change=CLUSTER_WIDE,
    doc="Bytes for the offsets of keys, over all cleaner threads.")
LOG_CLEANER_IO_BUFFER_SIZE: Final = Option(
    "log.cleaner.io.buffer.size", INT, default=KiB(512), at_least=0, change=CLUSTER_WIDE,
    doc="Bytes for reading and writing, over all cleaner threads.")
LOG_CLEANER_IO_BUFFER_LOAD_FACTOR: Final = Option(
    "log.cleaner.io.buffer.load.factor", DOUBLE, default=0.9, change=CLUSTER_WIDE,
    doc="How full the cleaner's table of keys may be; fuller cleans more at once, but collides.")
LOG_CLEANER_IO_MAX_BYTES_PER_SECOND: Final = Option(
    "log.cleaner.io.max.bytes.per.second", DOUBLE, default=1.7976931348623157e308,
    change=CLUSTER_WIDE, doc="Let the cleaner read and write no more than this each second.")
LOG_CLEANER_BACKOFF_MS: Final = Option(
    "log.cleaner.backoff.ms", LONG, default=seconds(15), at_least=0, change=CLUSTER_WIDE,
    doc="How long the cleaner rests when there is nothing to clean.")
LOG_CLEANER_MIN_CLEANABLE_RATIO: Final = Option(
    "log.cleaner.min.cleanable.ratio", DOUBLE, default=0.5, at_least=0, at_most=1,
    topic="min.cleanable.dirty.ratio", change=CLUSTER_WIDE,
    doc="Compact a log once this part of its bytes has never been compacted.")
LOG_CLEANER_MIN_COMPACTION_LAG_MS: Final = Option(
    "log.cleaner.min.compaction.lag.ms", LONG, default=0, at_least=0,
    topic="min.compaction.lag.ms", change=CLUSTER_WIDE,
    doc="Leave a record out of compaction for this long.")
LOG_CLEANER_MAX_COMPACTION_LAG_MS: Final = Option(
    "log.cleaner.max.compaction.lag.ms", LONG, default=LONG_MAX, at_least=1,
    topic="max.compaction.lag.ms", change=CLUSTER_WIDE,
    doc="Compact a log once its oldest record not yet compacted is this old, whatever the ratio.")
LOG_CLEANER_DELETE_RETENTION_MS: Final = Option(
    "log.cleaner.delete.retention.ms", LONG, default=days(1), at_least=0,
    topic="delete.retention.ms", change=CLUSTER_WIDE,
    doc="Keep a tombstone this long after its compaction, so that every reader can see it.")

REMOTE_STORAGE_ENABLE: Final = Option(
    "remote.storage.enable", BOOLEAN, default=False, scope=Scope.TOPIC,
    doc="Copy the topic's closed segments to the remote tier.")
REMOTE_LOG_COPY_DISABLE: Final = Option(
    "remote.log.copy.disable", BOOLEAN, default=False, scope=Scope.TOPIC,
    doc="Copy no more to the remote tier, and go on reading what is there.")
REMOTE_LOG_DELETE_ON_DISABLE: Final = Option(
    "remote.log.delete.on.disable", BOOLEAN, default=False, scope=Scope.TOPIC,
    doc="Delete what is in the remote tier when the topic is taken out of it.")
LEADER_REPLICATION_THROTTLED_REPLICAS: Final = Option(
    "leader.replication.throttled.replicas", LIST, default=[], scope=Scope.TOPIC,
    pattern=r"\*|([0-9]+:[0-9]+)?(,([0-9]+:[0-9]+)?)*",
    doc="Replicas, as partition:broker, whose leader keeps to the replication quota; * for all.")
FOLLOWER_REPLICATION_THROTTLED_REPLICAS: Final = Option(
    "follower.replication.throttled.replicas", LIST, default=[], scope=Scope.TOPIC,
    pattern=r"\*|([0-9]+:[0-9]+)?(,([0-9]+:[0-9]+)?)*",
    doc="Replicas, as partition:broker, that keep to the replication quota; * for all.")
INTERNAL_SEGMENT_BYTES: Final = Option(
    "internal.segment.bytes", INT, default=None, scope=Scope.TOPIC, internal=True,
    doc="A segment size below the smallest allowed, for tests.")
