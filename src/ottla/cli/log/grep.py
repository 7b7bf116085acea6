"""`ottla log grep`: find records by what is in their keys, values, headers or fields."""

import argparse
from typing import Final

from ottla.cli.log import arguments as shared
from ottla.cli.log.arguments import Arguments
from ottla.cli.terminal import Terminal

PLACES: Final = ("all", "key", "value", "headers")


class GrepArguments(Arguments):
    """What was typed."""

    pattern: str
    fixed: bool
    ignore_case: bool
    in_: str
    field: str | None
    count: bool


class Grep:
    """The verb."""

    operands = "PATTERN PATH..."
    description = (
        "Find records of logs: PATTERN is a regular expression, looked for in keys, values and\n"
        "headers, or in one field of values that are JSON. Records of internal topics are\n"
        "searched as they are decoded. Control records are passed over. To find nothing is fine."
    )
    examples = (
        "  ottla log grep order-4711 /var/kafka --topic orders\n"
        "  ottla log grep --field customer.id '^77$' --from -2d /var/kafka/orders-0\n"
        "  ottla log grep --in key --max 1 customer-7 /var/kafka/orders-*\n"
        "  ottla log grep -F --count 'a[0]' /var/kafka/orders-0\n"
        "  ottla log grep billing /var/kafka --topic __consumer_offsets"
    )

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("pattern", metavar="PATTERN", help="what to look for")
        shared.declare_paths(parser)
        parser.add_argument("-F", "--fixed", action="store_true", help="PATTERN is a plain text")
        parser.add_argument("-i", "--ignore-case", action="store_true", help="A is a")
        parser.add_argument(
            "--in", dest="in_", choices=PLACES, default="all", help="where to look: all (default)"
        )
        parser.add_argument(
            "--field", metavar="PATH", help="look in this field of JSON, as in order.items.0.id"
        )
        parser.add_argument(
            "--count", action="store_true", help="print only how many, partition by partition"
        )
        shared.declare_window(parser)
        shared.declare_forms(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        from ottla.cli.log.search import grep  # noqa: PLC0415  The help needs none of it.

        return grep(GrepArguments(**vars(arguments)), terminal)


def command() -> Grep:
    """What the table of verbs asks for."""
    return Grep()
