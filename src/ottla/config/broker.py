"""What a broker is and how much it takes on: roles, ids, threads, requests, fetch sessions."""

from typing import Final

from ottla.config.kinds import BOOLEAN, INT, LIST, LONG, STRING
from ottla.config.option import CLUSTER_WIDE, HIGH, LOW, PER_BROKER, MiB, Option, minutes, seconds

# fmt: off
PROCESS_ROLES: Final = Option(
    "process.roles", LIST, one_of=("broker", "controller"), importance=HIGH,
    doc="Which of broker and controller this process is, or both.")
NODE_ID: Final = Option(
    "node.id", INT, at_least=0, importance=HIGH, doc="The number of this node in the cluster.")
BROKER_ID: Final = Option(
    "broker.id", INT, default=-1, importance=HIGH,
    doc="The number of this broker, where node.id is not set.")
BROKER_RACK: Final = Option(
    "broker.rack", STRING, default=None,
    doc="Where this broker stands; replicas are spread over racks.")
NUM_NETWORK_THREADS: Final = Option(
    "num.network.threads", INT, default=3, at_least=1, change=CLUSTER_WIDE, importance=HIGH,
    doc="How many threads of a listener read and write.")
NUM_IO_THREADS: Final = Option(
    "num.io.threads", INT, default=8, at_least=1, change=CLUSTER_WIDE, importance=HIGH,
    doc="How many threads work on requests and disks.")
BACKGROUND_THREADS: Final = Option(
    "background.threads", INT, default=10, at_least=1, change=CLUSTER_WIDE, importance=HIGH,
    doc="How many threads do what nobody waits for.")
NUM_RECOVERY_THREADS_PER_DATA_DIR: Final = Option(
    "num.recovery.threads.per.data.dir", INT, default=2, at_least=1, change=CLUSTER_WIDE,
    importance=HIGH, doc="How many threads a log directory has at the start and at the stop.")
QUEUED_MAX_REQUESTS: Final = Option(
    "queued.max.requests", INT, default=500, at_least=1, importance=HIGH,
    doc="Read no more requests while so many wait.")
QUEUED_MAX_REQUEST_BYTES: Final = Option(
    "queued.max.request.bytes", LONG, default=-1,
    doc="Read no more requests while so many bytes of them wait; -1: no limit.")
REQUEST_TIMEOUT_MS: Final = Option(
    "request.timeout.ms", INT, default=seconds(30), importance=HIGH,
    doc="Give up a request of this node to another after so long.")
MAX_REQUEST_PARTITION_SIZE_LIMIT: Final = Option(
    "max.request.partition.size.limit", INT, default=2000, at_least=1,
    doc="Describe no more partitions than this in one answer.")
FETCH_MAX_BYTES: Final = Option(
    "fetch.max.bytes", INT, default=MiB(55), at_least=1024,
    doc="Answer no fetch with more than this, but for a first batch that is larger.")
MAX_INCREMENTAL_FETCH_SESSION_CACHE_SLOTS: Final = Option(
    "max.incremental.fetch.session.cache.slots", INT, default=1000, at_least=0,
    doc="How many fetch sessions are kept.")
TELEMETRY_MAX_BYTES: Final = Option(
    "telemetry.max.bytes", INT, default=MiB(1), at_least=1, importance=LOW,
    doc="Take no more than this of metrics that a client pushes at once.")
CONTROLLED_SHUTDOWN_ENABLE: Final = Option(
    "controlled.shutdown.enable", BOOLEAN, default=True,
    doc="Move leaderships away before the broker stops.")
INITIAL_BROKER_REGISTRATION_TIMEOUT_MS: Final = Option(
    "initial.broker.registration.timeout.ms", INT, default=minutes(1),
    doc="Stop if the controller has not taken the registration by then.")
BROKER_HEARTBEAT_INTERVAL_MS: Final = Option(
    "broker.heartbeat.interval.ms", INT, default=seconds(2),
    doc="How often a broker tells the controller that it lives.")
CORDONED_LOG_DIRS: Final = Option(
    "cordoned.log.dirs", LIST, default=[], change=PER_BROKER,
    doc="Log directories that get no new partitions; * for all.")
