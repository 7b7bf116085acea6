"""Resources as people type them: `topic/orders`, `broker/1`, `broker` for all brokers."""

from typing import Final, NamedTuple

from ottla.cli import Refused
from ottla.cli.client.cluster import Cluster
from ottla.cli.client.connection import Connection

TYPES: Final = {"topic": 2, "broker": 4, "logger": 8, "client-metrics": 16, "group": 32}
FORMS: Final = "topic/NAME, broker/ID, broker (all of them), group/NAME, client-metrics/NAME"
_OF_ONE_BROKER: Final = (TYPES["broker"], TYPES["logger"])


class Resource(NamedTuple):
    """What configs are set on, as the protocol names it."""

    type: int
    name: str

    def __str__(self) -> str:
        return f"{kind_of(self)}/{self.name}" if self.name else kind_of(self)

    def connection(self, cluster: Cluster) -> Connection:
        """Whom to ask: a broker knows its own best."""
        if self.type in _OF_ONE_BROKER and self.name:
            return cluster.broker(int(self.name))
        return cluster.anyone()


def kind_of(resource: Resource) -> str:
    """The word for a resource's type."""
    return next(name for name, number in TYPES.items() if number == resource.type)


def parse_resource(text: str) -> Resource:
    """Read what was typed."""
    kind, separator, name = text.partition("/")
    number = TYPES.get(kind)
    if number is None or (not name and (separator or kind != "broker")):
        raise Refused(f"{text!r} is no resource; write {FORMS}")
    if number in _OF_ONE_BROKER and name and not (name.isascii() and name.isdigit()):
        raise Refused(f"{name!r} in {text!r} is no broker's id, which is a number")
    return Resource(number, name)
