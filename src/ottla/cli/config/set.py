"""`ottla config set`: give configs of a resource other values."""

import argparse

from ottla.cli import EXIT_FINE
from ottla.cli.client.arguments import declare_cluster, pairs
from ottla.cli.config.change import ChangeConfigArguments, change
from ottla.cli.config.resources import FORMS
from ottla.cli.terminal import Terminal


class SetArguments(ChangeConfigArguments):
    """What was typed."""

    changes: list[str]


class Set:
    """The verb."""

    operands = "RESOURCE NAME=VALUE..."
    description = "Give configs of a resource other values. What each was before is said."
    examples = (
        "  ottla config set topic/orders retention.ms=86400000 cleanup.policy=compact,delete\n"
        "  ottla config set broker log.cleaner.threads=2 --dry-run"
    )

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("resource", metavar="RESOURCE", help=FORMS)
        parser.add_argument("changes", nargs="+", metavar="NAME=VALUE", help="what is to be")
        parser.add_argument("--dry-run", action="store_true", help="only ask whether it could be")
        declare_cluster(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        given = SetArguments(**vars(arguments))
        change(given, dict[str, str | None](pairs(given.changes, "NAME=VALUE")), terminal)
        return EXIT_FINE


def command() -> Set:
    """What the table of verbs asks for."""
    return Set()
