"""`ottla log recover`: bring logs of a stopped broker in order, after telling what that means."""

import argparse

from ottla.cli.log import arguments as shared
from ottla.cli.log.arguments import Arguments, count
from ottla.cli.terminal import Terminal


class RecoverArguments(Arguments):
    """What was typed."""

    yes: bool
    dry_run: bool
    cut_corrupt: bool
    from_recovery_point: bool
    threads: int


class Recover:
    """The verb."""

    operands = "PATH..."
    description = (
        "Check every batch of the partitions of a stopped broker, and bring them in order: a torn\n"
        "tail is cut, indexes and snapshots are made anew, unfinished swaps are finished. Nothing\n"
        "is changed before it was told: without --yes, or an answer on a terminal, that is all.\n"
        "Bad bytes where all was on the disk once are corruption. It is told with its place and\n"
        "never cut, but with --cut-corrupt, which keeps what it cuts off in files beside the log.\n"
        "A PATH is a log directory, or the folder of one partition."
    )
    examples = (
        "  ottla log recover /var/kafka\n"
        "  ottla log recover --yes --threads 4 /var/kafka /var/kafka2\n"
        "  ottla log recover --yes --cut-corrupt /var/kafka/orders-0\n"
        "  ottla log recover --json --dry-run /var/kafka | jq 'select(.state != \"fine\")'"
    )

    def declare(self, parser: argparse.ArgumentParser) -> None:
        shared.declare_paths(parser)
        group = parser.add_mutually_exclusive_group()
        group.add_argument("--yes", action="store_true", help="do it, and do not ask")
        group.add_argument("--dry-run", action="store_true", help="only tell what would be done")
        parser.add_argument(
            "--cut-corrupt",
            action="store_true",
            help="cut a corrupt log at its first bad byte; what goes is kept beside it",
        )
        parser.add_argument(
            "--from-recovery-point",
            action="store_true",
            help="check only what a broker checks after a crash, not all",
        )
        parser.add_argument(
            "--threads", type=count, default=1, metavar="N", help="so many partitions at once"
        )

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        from ottla.cli.log.recovering import recover  # noqa: PLC0415  The help needs none of it.

        return recover(RecoverArguments(**vars(arguments)), terminal)


def command() -> Recover:
    """What the table of verbs asks for."""
    return Recover()
