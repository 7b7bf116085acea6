"""What a level of metadata.version allows, and in which version each record is written at it."""

from typing import Final, NamedTuple

from ottla.api.metadata_records import (
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
)
from ottla.wire.fields import Message

METADATA_VERSION: Final = "metadata.version"


class Level(NamedTuple):
    """A step of metadata.version; `changes_records` says that there is no safe way back over it."""

    level: int
    name: str
    changes_records: bool


LEVELS: Final = {
    row.level: row
    for row in (
        Level(7, "3.3-IV3", changes_records=True),
        Level(8, "3.4-IV0", changes_records=True),
        Level(9, "3.5-IV0", changes_records=False),
        Level(10, "3.5-IV1", changes_records=False),
        Level(11, "3.5-IV2", changes_records=True),
        Level(12, "3.6-IV0", changes_records=False),
        Level(13, "3.6-IV1", changes_records=True),
        Level(14, "3.6-IV2", changes_records=True),
        Level(15, "3.7-IV0", changes_records=True),
        Level(16, "3.7-IV1", changes_records=False),
        Level(17, "3.7-IV2", changes_records=True),
        Level(18, "3.7-IV3", changes_records=False),
        Level(19, "3.7-IV4", changes_records=False),
        Level(20, "3.8-IV0", changes_records=False),
        Level(21, "3.9-IV0", changes_records=False),
        Level(22, "4.0-IV0", changes_records=False),
        Level(23, "4.0-IV1", changes_records=True),
        Level(24, "4.0-IV2", changes_records=False),
        Level(25, "4.0-IV3", changes_records=False),
        Level(26, "4.1-IV0", changes_records=False),
        Level(27, "4.1-IV1", changes_records=False),
        Level(28, "4.2-IV0", changes_records=False),
        Level(29, "4.2-IV1", changes_records=False),
        Level(30, "4.3-IV0", changes_records=True),
    )
}
LEVEL_MIN: Final = min(LEVELS)
LEVEL_MAX: Final = max(LEVELS)

# From which level on the log may hold what.
ZK_MIGRATION: Final = 8
SCRAM: Final = 11
ISR_SHRINK_KEEPS_EPOCH: Final = 12
METADATA_TRANSACTIONS: Final = 13
DELEGATION_TOKENS: Final = 14
CONTROLLER_REGISTRATION: Final = 15
DIRECTORIES: Final = 17
ELIGIBLE_LEADER_REPLICAS: Final = 23
CORDONED_DIRECTORIES: Final = 30


def record_version(record: Message, level: int) -> int:
    """The version in which Kafka writes a record at a level of metadata.version."""
    match record:
        case RegisterBrokerRecord():
            steps = (ZK_MIGRATION, DIRECTORIES, CORDONED_DIRECTORIES)
            return 1 + sum(level >= step for step in steps)
        case PartitionRecord() | PartitionChangeRecord():
            return sum(level >= step for step in (DIRECTORIES, ELIGIBLE_LEADER_REPLICAS))
        case BrokerRegistrationChangeRecord():
            return _least_version(record)
        case _:
            return 0


def _least_version(change: BrokerRegistrationChangeRecord) -> int:
    """This record alone is written in the lowest version that holds what it says."""
    if change.cordoned_log_dirs is not None:
        return 3
    says_more = change.in_controlled_shutdown or change.fenced
    # One that says nothing says that no directory is left.
    if change.log_dirs or not says_more:
        return 2
    return 1 if change.in_controlled_shutdown else 0


def same_records(low: int, high: int) -> bool:
    """Whether records look the same at two levels, so that one may go from one to the other."""
    low, high = sorted((low, high))
    return not any(LEVELS[level].changes_records for level in range(low + 1, high + 1))
