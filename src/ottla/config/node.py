"""What a node reads besides its logs: sizes of requests and answers, sessions, new topics."""

from typing import Final

from ottla.config.kinds import BOOLEAN, INT
from ottla.config.option import HIGH, KiB, MiB, Option

# fmt: off
AUTO_CREATE_TOPICS_ENABLE: Final = Option(
    "auto.create.topics.enable", BOOLEAN, default=True, importance=HIGH,
    doc="Create a topic when a client first asks for it.")
NUM_PARTITIONS: Final = Option(
    "num.partitions", INT, default=1, at_least=1,
    doc="How many partitions a new topic has, where nobody says it.")
FETCH_MAX_BYTES: Final = Option(
    "fetch.max.bytes", INT, default=MiB(55), at_least=KiB(1),
    doc="Answer no fetch with more than this, but for a first batch that is larger.")
MAX_INCREMENTAL_FETCH_SESSION_CACHE_SLOTS: Final = Option(
    "max.incremental.fetch.session.cache.slots", INT, default=1000, at_least=0,
    doc="How many fetch sessions are kept.")
SOCKET_REQUEST_MAX_BYTES: Final = Option(
    "socket.request.max.bytes", INT, default=MiB(100), at_least=1, importance=HIGH,
    doc="Take no request that is larger than this.")
