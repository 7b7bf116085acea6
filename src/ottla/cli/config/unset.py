"""`ottla config unset`: let configs of a resource have their defaults again."""

import argparse

from ottla.cli import EXIT_FINE
from ottla.cli.client.arguments import declare_cluster
from ottla.cli.config.change import ChangeConfigArguments, change
from ottla.cli.config.resources import FORMS
from ottla.cli.terminal import Terminal


class UnsetArguments(ChangeConfigArguments):
    """What was typed."""

    names: list[str]


class Unset:
    """The verb."""

    operands = "RESOURCE NAME..."
    description = "Let configs of a resource have their defaults again. What each was is said."
    examples = "  ottla config unset topic/orders retention.ms"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("resource", metavar="RESOURCE", help=FORMS)
        parser.add_argument("names", nargs="+", metavar="NAME", help="what is to be as by default")
        parser.add_argument("--dry-run", action="store_true", help="only ask whether it could be")
        declare_cluster(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        given = UnsetArguments(**vars(arguments))
        change(given, dict.fromkeys(given.names), terminal)
        return EXIT_FINE


def command() -> Unset:
    """What the table of verbs asks for."""
    return Unset()
