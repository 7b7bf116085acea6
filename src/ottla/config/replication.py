"""How brokers follow each other, and when leaderships move."""

from typing import Final

from ottla.config.kinds import BOOLEAN, INT, LONG, STRING
from ottla.config.option import CLUSTER_WIDE, HIGH, MiB, Option, seconds

# fmt: off
BROKER_SESSION_TIMEOUT_MS: Final = Option(
    "broker.session.timeout.ms", INT, default=seconds(9),
    doc="Fence a broker that was not heard of for so long.")
AUTO_LEADER_REBALANCE_ENABLE: Final = Option(
    "auto.leader.rebalance.enable", BOOLEAN, default=True, importance=HIGH,
    doc="Give partitions back to their preferred leaders by and by.")
LEADER_IMBALANCE_CHECK_INTERVAL_SECONDS: Final = Option(
    "leader.imbalance.check.interval.seconds", LONG, default=300, at_least=1, importance=HIGH,
    doc="How often to look for partitions whose preferred leader does not lead.")
REPLICA_LAG_TIME_MAX_MS: Final = Option(
    "replica.lag.time.max.ms", LONG, default=seconds(30), importance=HIGH,
    doc="A follower that has not caught up for so long is out of sync.")
REPLICA_FETCH_MAX_BYTES: Final = Option(
    "replica.fetch.max.bytes", INT, default=MiB(1), at_least=0,
    doc="Fetch no more of a partition at once from its leader.")
REPLICA_FETCH_RESPONSE_MAX_BYTES: Final = Option(
    "replica.fetch.response.max.bytes", INT, default=MiB(10), at_least=0,
    doc="Fetch no more in all at once from a leader.")
REPLICA_FETCH_MIN_BYTES: Final = Option(
    "replica.fetch.min.bytes", INT, default=1, importance=HIGH,
    doc="Wait for so much before a fetch from a leader is answered.")
REPLICA_FETCH_WAIT_MAX_MS: Final = Option(
    "replica.fetch.wait.max.ms", INT, default=500, importance=HIGH,
    doc="Wait at most so long for it.")
REPLICA_FETCH_BACKOFF_MS: Final = Option(
    "replica.fetch.backoff.ms", INT, default=seconds(1), at_least=0,
    doc="Wait so long after a fetch from a leader failed.")
REPLICA_SOCKET_TIMEOUT_MS: Final = Option(
    "replica.socket.timeout.ms", INT, default=seconds(30), importance=HIGH,
    doc="Give up a request to a leader after so long.")
REPLICA_HIGH_WATERMARK_CHECKPOINT_INTERVAL_MS: Final = Option(
    "replica.high.watermark.checkpoint.interval.ms", LONG, default=seconds(5), importance=HIGH,
    doc="How often to write down the high watermarks.")
NUM_REPLICA_FETCHERS: Final = Option(
    "num.replica.fetchers", INT, default=1, at_least=1, change=CLUSTER_WIDE, importance=HIGH,
    doc="How many connections to each leader fetch.")
NUM_REPLICA_ALTER_LOG_DIRS_THREADS: Final = Option(
    "num.replica.alter.log.dirs.threads", INT, default=None, importance=HIGH,
    doc="How many threads move partitions between log directories.")
REPLICA_SELECTOR_CLASS: Final = Option(
    "replica.selector.class", STRING, default=None,
    doc="Who chooses the replica that a consumer is sent to.")
FOLLOWER_FETCH_LAST_TIERED_OFFSET_ENABLE: Final = Option(
    "follower.fetch.last.tiered.offset.enable", BOOLEAN, default=False, change=CLUSTER_WIDE,
    doc="Let an empty follower begin where the remote tier ends.")
