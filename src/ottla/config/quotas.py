"""Over how long quotas are measured."""

from typing import Final

from ottla.config.kinds import INT
from ottla.config.option import LOW, Option

# fmt: off
QUOTA_WINDOW_NUM: Final = Option(
    "quota.window.num", INT, default=11, at_least=1, importance=LOW,
    doc="How many windows the rates of clients are measured over.")
QUOTA_WINDOW_SIZE_SECONDS: Final = Option(
    "quota.window.size.seconds", INT, default=1, at_least=1, importance=LOW,
    doc="How long such a window is.")
REPLICATION_QUOTA_WINDOW_NUM: Final = Option(
    "replication.quota.window.num", INT, default=11, at_least=1, importance=LOW,
    doc="How many windows the rates of replication are measured over.")
REPLICATION_QUOTA_WINDOW_SIZE_SECONDS: Final = Option(
    "replication.quota.window.size.seconds", INT, default=1, at_least=1, importance=LOW,
    doc="How long such a window is.")
CONTROLLER_QUOTA_WINDOW_NUM: Final = Option(
    "controller.quota.window.num", INT, default=11, at_least=1, importance=LOW,
    doc="How many windows the changes of partitions are measured over.")
CONTROLLER_QUOTA_WINDOW_SIZE_SECONDS: Final = Option(
    "controller.quota.window.size.seconds", INT, default=1, at_least=1, importance=LOW,
    doc="How long such a window is.")
