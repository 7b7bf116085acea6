"""The metadata log and those who vote on it."""

from typing import Final

from ottla.config.kinds import BOOLEAN, INT, LIST, LONG, STRING
from ottla.config.option import HIGH, LOW, GiB, MiB, Option, days, hours, seconds

# fmt: off
METADATA_LOG_DIR: Final = Option(
    "metadata.log.dir", STRING, default=None, importance=HIGH,
    doc="The directory of the metadata log, where it is not the first log directory.")
METADATA_LOG_SEGMENT_BYTES: Final = Option(
    "metadata.log.segment.bytes", INT, default=GiB(1), at_least=MiB(8), importance=HIGH,
    doc="Roll a new segment of the metadata log at this size.")
METADATA_LOG_SEGMENT_MS: Final = Option(
    "metadata.log.segment.ms", LONG, default=days(7), importance=HIGH,
    doc="Roll a new segment of the metadata log at this age.")
METADATA_LOG_MAX_RECORD_BYTES_BETWEEN_SNAPSHOTS: Final = Option(
    "metadata.log.max.record.bytes.between.snapshots", LONG, default=MiB(20), at_least=1,
    importance=HIGH, doc="Take a snapshot after so many bytes of metadata records.")
METADATA_LOG_MAX_SNAPSHOT_INTERVAL_MS: Final = Option(
    "metadata.log.max.snapshot.interval.ms", LONG, default=hours(1), at_least=0, importance=HIGH,
    doc="Take a snapshot at least so often while records come; 0: only by size.")
METADATA_MAX_RETENTION_BYTES: Final = Option(
    "metadata.max.retention.bytes", LONG, default=MiB(100), importance=HIGH,
    doc="Keep so much of the metadata log and its snapshots; -1: no limit.")
METADATA_MAX_RETENTION_MS: Final = Option(
    "metadata.max.retention.ms", LONG, default=days(7), importance=HIGH,
    doc="Keep the metadata log and its snapshots for so long; -1: no limit.")
METADATA_MAX_IDLE_INTERVAL_MS: Final = Option(
    "metadata.max.idle.interval.ms", INT, default=500, at_least=0, importance=LOW,
    doc="Write a record that says nothing this often while nothing happens; 0: never.")
CONTROLLER_QUORUM_VOTERS: Final = Option(
    "controller.quorum.voters", LIST, default=[], importance=HIGH,
    doc="All voters, each as id@host:port, where the log does not hold them.")
CONTROLLER_QUORUM_BOOTSTRAP_SERVERS: Final = Option(
    "controller.quorum.bootstrap.servers", LIST, default=[], importance=HIGH,
    doc="Some addresses by which the voters are found.")
CONTROLLER_QUORUM_AUTO_JOIN_ENABLE: Final = Option(
    "controller.quorum.auto.join.enable", BOOLEAN, default=False, importance=LOW,
    doc="Let this controller join the voters by itself.")
CONTROLLER_QUORUM_ELECTION_TIMEOUT_MS: Final = Option(
    "controller.quorum.election.timeout.ms", INT, default=seconds(1), at_least=0, importance=HIGH,
    doc="Ask to be elected after so long without a leader.")
CONTROLLER_QUORUM_ELECTION_BACKOFF_MAX_MS: Final = Option(
    "controller.quorum.election.backoff.max.ms", INT, default=seconds(1), at_least=0,
    importance=HIGH, doc="Wait at most so long before asking again.")
CONTROLLER_QUORUM_FETCH_TIMEOUT_MS: Final = Option(
    "controller.quorum.fetch.timeout.ms", INT, default=seconds(2), at_least=0, importance=HIGH,
    doc="Look for another leader after so long without an answer to a fetch.")
CONTROLLER_QUORUM_REQUEST_TIMEOUT_MS: Final = Option(
    "controller.quorum.request.timeout.ms", INT, default=seconds(2), at_least=0,
    doc="Give up a request to another voter after so long.")
CONTROLLER_QUORUM_APPEND_LINGER_MS: Final = Option(
    "controller.quorum.append.linger.ms", INT, default=25, at_least=0,
    doc="Wait so long for more records before they are written.")
CONTROLLER_QUORUM_FETCH_MAX_BYTES: Final = Option(
    "controller.quorum.fetch.max.bytes", INT, default=MiB(1), at_least=1, importance=LOW,
    doc="Fetch no more of the metadata log at once.")
CONTROLLER_QUORUM_FETCH_SNAPSHOT_MAX_BYTES: Final = Option(
    "controller.quorum.fetch.snapshot.max.bytes", INT, default=MiB(1), at_least=1, importance=LOW,
    doc="Fetch no more of a snapshot at once.")
