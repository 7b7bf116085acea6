"""`ottla log dump`: print what files of a log hold, decoded."""

import argparse
from typing import Final

from ottla.cli.log import arguments as shared
from ottla.cli.log.arguments import Arguments
from ottla.cli.log.choices import FileKind
from ottla.cli.terminal import Terminal

PRINTED: Final = tuple(
    kind.value for kind in FileKind if kind not in (FileKind.LOCK, FileKind.UNKNOWN)
)


class DumpArguments(Arguments):
    """What was typed."""

    records: bool
    only: list[str]


class Dump:
    """The verb."""

    operands = "PATH..."
    description = (
        "Print what files hold: batches of logs (with --records their records), indexes, producer\n"
        "snapshots, checkpoints, metadata snapshots and the small files beside them. Records of\n"
        "internal topics are decoded. A damaged place is said with its position, and reading goes\n"
        "on behind it. Files are only read, so the cluster may be running."
    )
    examples = (
        "  ottla log dump /var/kafka/orders-0\n"
        "  ottla log dump --records --from -1h /var/kafka/orders-0\n"
        "  ottla log dump --records --offset 1000..1010 --value-form json /var/kafka/orders-0\n"
        "  ottla log dump --json --key customer-7 /var/kafka --topic orders | jq .value\n"
        "  ottla log dump --records /var/kafka/__consumer_offsets-12"
    )

    def declare(self, parser: argparse.ArgumentParser) -> None:
        shared.declare_paths(parser)
        parser.add_argument(
            "--records", action="store_true", help="print records too; a condition on them does so"
        )
        parser.add_argument(
            "--only",
            action="append",
            choices=PRINTED,
            default=[],
            metavar="KIND",
            help=f"only such files, may be repeated: {', '.join(PRINTED)}",
        )
        shared.declare_window(parser)
        shared.declare_conditions(parser)
        shared.declare_forms(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        from ottla.cli.log.dumping import dump  # noqa: PLC0415  The help needs none of it.

        return dump(DumpArguments(**vars(arguments)), terminal)


def command() -> Dump:
    """What the table of verbs asks for."""
    return Dump()
