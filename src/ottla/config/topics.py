"""What a new topic has where nobody says it, and what may be done with topics."""

from typing import Final

from ottla.config.kinds import BOOLEAN, INT
from ottla.config.option import HIGH, Option

# fmt: off
AUTO_CREATE_TOPICS_ENABLE: Final = Option(
    "auto.create.topics.enable", BOOLEAN, default=True, importance=HIGH,
    doc="Create a topic when a client first asks for it.")
NUM_PARTITIONS: Final = Option(
    "num.partitions", INT, default=1, at_least=1,
    doc="How many partitions a new topic has, where nobody says it.")
DEFAULT_REPLICATION_FACTOR: Final = Option(
    "default.replication.factor", INT, default=1,
    doc="How many replicas a new topic's partitions have, where nobody says it.")
DELETE_TOPIC_ENABLE: Final = Option(
    "delete.topic.enable", BOOLEAN, default=True, importance=HIGH, doc="Let topics be deleted.")
