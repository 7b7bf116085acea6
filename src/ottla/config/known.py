"""Every option that has a row, in one table."""

from typing import Final

from ottla.config import broker, listeners, log, quorum, quotas, replication, topics
from ottla.config.table import Table

KNOWN: Final = Table.of(broker, listeners, quorum, topics, log, replication, quotas)
