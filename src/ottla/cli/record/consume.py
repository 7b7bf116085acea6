"""`ottla record consume`: print records of a topic."""

import argparse

from ottla.cli.client.arguments import declare_cluster
from ottla.cli.log import arguments as shared
from ottla.cli.log.arguments import Arguments
from ottla.cli.terminal import Terminal


class ConsumeArguments(Arguments):
    """What was typed."""

    name: str
    bootstrap: str | None
    timeout: float
    follow: bool
    committed: bool
    partition: list[int]


class Consume:
    """The verb."""

    operands = "TOPIC"
    description = (
        "Print records of a topic, from the beginning to what is the end now, or on and on with\n"
        "--follow. No group is joined, and no offset is stored."
    )
    examples = (
        "  ottla record consume orders\n"
        "  ottla record consume orders --follow --from now\n"
        "  ottla record consume orders --from -1h --to -30m --key customer-7\n"
        "  ottla record consume orders --partition 3 --offset 100..110 --json | jq .value\n"
        "  ottla record consume __consumer_offsets --from -1h"
    )

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name", metavar="TOPIC", help="its name")
        parser.add_argument(
            "-f", "--follow", action="store_true", help="go on with what is appended later"
        )
        parser.add_argument(
            "--committed", action="store_true", help="only what no transaction holds or has aborted"
        )
        parser.add_argument(
            "--partition", type=int, action="append", default=[], metavar="N", help="only these"
        )
        shared.declare_window(parser)
        shared.declare_conditions(parser)
        shared.declare_forms(parser)
        declare_cluster(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        from ottla.cli.record.consuming import consume  # noqa: PLC0415  Help needs none of it.

        return consume(ConsumeArguments(**vars(arguments)), terminal)


def command() -> Consume:
    """What the table of verbs asks for."""
    return Consume()
