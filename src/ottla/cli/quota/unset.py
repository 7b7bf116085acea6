"""`ottla quota unset`: let a user, a client or an address have no quota of its own."""

import argparse

from ottla.cli import EXIT_FINE
from ottla.cli.client.arguments import declare_cluster
from ottla.cli.quota.change import ChangeQuotaArguments, change
from ottla.cli.quota.entities import declare_entity
from ottla.cli.terminal import Terminal


class UnsetArguments(ChangeQuotaArguments):
    """What was typed."""

    quotas: list[str]


class Unset:
    """The verb."""

    operands = "QUOTA..."
    description = "Let a user, a client or an address have no quota of its own."
    examples = "  ottla quota unset --user alice producer_byte_rate"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("quotas", nargs="+", metavar="QUOTA", help="what is to be no more")
        parser.add_argument("--dry-run", action="store_true", help="only ask whether it could be")
        declare_entity(parser)
        declare_cluster(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        given = UnsetArguments(**vars(arguments))
        change(given, dict.fromkeys(given.quotas), terminal)
        return EXIT_FINE


def command() -> Unset:
    """What the table of verbs asks for."""
    return Unset()
