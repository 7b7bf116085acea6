"""Who a quota is for: a user, a client id, an address, or the default of one of these."""

import argparse
from collections.abc import Sequence
from typing import Final

from ottla.cli import Refused
from ottla.cli.client.arguments import ClusterArguments

DEFAULT: Final = "<default>"
_TYPES: Final = (("user", "user"), ("client", "client-id"), ("address", "ip"))


class EntityArguments(ClusterArguments):
    """What was typed."""

    user: str | None
    client: str | None
    address: str | None


def declare_entity(parser: argparse.ArgumentParser) -> None:
    """For whom."""
    group = parser.add_argument_group("for whom", f"{DEFAULT} is anyone without a quota.")
    group.add_argument("--user", metavar="NAME", help="a user")
    group.add_argument("--client", metavar="ID", help="a client id; with --user, of that user")
    group.add_argument("--address", metavar="IP", help="an address")


def entity_of(given: EntityArguments) -> list[tuple[str, str | None]]:
    """The parts of an entity that were typed: type and name, None for the default."""
    typed = {"user": given.user, "client": given.client, "address": given.address}
    parts: list[tuple[str, str | None]] = []
    for option, kind in _TYPES:
        name = typed[option]
        if name is not None:
            parts.append((kind, None if name == DEFAULT else name))
    return parts


def required_entity(given: EntityArguments) -> list[tuple[str, str | None]]:
    """The same where there must be one."""
    parts = entity_of(given)
    if not parts:
        raise Refused("say for whom: --user, --client or --address")
    return parts


def shown_entity(parts: Sequence[tuple[str, str | None]]) -> str:
    """An entity as people read it."""
    return " ".join(f"{kind}={DEFAULT if name is None else name}" for kind, name in parts)


def shown_value(value: float) -> str:
    """A limit, without a point if it is a whole number."""
    return str(int(value)) if value.is_integer() else str(value)
