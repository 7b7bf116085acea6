"""`ottla quota set`: limit a user, a client or an address."""

import argparse

from ottla.cli import EXIT_FINE, Refused
from ottla.cli.client.arguments import declare_cluster, pairs
from ottla.cli.quota.change import ChangeQuotaArguments, change
from ottla.cli.quota.entities import declare_entity
from ottla.cli.terminal import Terminal


class SetArguments(ChangeQuotaArguments):
    """What was typed."""

    changes: list[str]


class Set:
    """The verb."""

    operands = "QUOTA=VALUE..."
    description = (
        "Limit what a user, a client or an address may do: producer_byte_rate,\n"
        "consumer_byte_rate (bytes a second and broker), request_percentage,\n"
        "controller_mutation_rate, and for an address connection_creation_rate."
    )
    examples = (
        "  ottla quota set --user alice producer_byte_rate=1048576\n"
        "  ottla quota set --user '<default>' request_percentage=50"
    )

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("changes", nargs="+", metavar="QUOTA=VALUE", help="what is to be")
        parser.add_argument("--dry-run", action="store_true", help="only ask whether it could be")
        declare_entity(parser)
        declare_cluster(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        given = SetArguments(**vars(arguments))
        changes: dict[str, float | None] = {}
        for key, text in pairs(given.changes, "QUOTA=VALUE").items():
            try:
                changes[key] = float(text)
            except ValueError:
                raise Refused(f"{text!r} in {key}={text} is no number") from None
        change(given, changes, terminal)
        return EXIT_FINE


def command() -> Set:
    """What the table of verbs asks for."""
    return Set()
