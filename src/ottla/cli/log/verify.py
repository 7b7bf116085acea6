"""`ottla log verify`: check everything in the files of logs that can be checked."""

import argparse

from ottla.cli.log import arguments as shared
from ottla.cli.log.arguments import Arguments
from ottla.cli.terminal import Terminal


class VerifyArguments(Arguments):
    """What was typed."""

    quiet: bool


class Verify:
    """The verb."""

    operands = "PATH..."
    description = (
        "Check everything: checksums, lengths and records of all batches; that offsets rise; that\n"
        "indexes point where they should; aborted transactions, producer snapshots and leader\n"
        "epochs against a replay of the log; checkpoints against its end; names of files. Changes\n"
        "nothing. A finding says FILE:POSITION and what is wrong there; a note is only worth\n"
        "knowing. What a node that was killed had not written yet is a note above its recovery\n"
        "points. Of a cluster that runs, what is written meanwhile may be named too."
    )
    examples = (
        "  ottla log verify /var/kafka\n"
        "  ottla log verify /var/kafka --topic 'orders*' --quiet\n"
        "  ottla log verify /var/kafka/orders-0/00000000000000000000.log\n"
        "  ottla log verify --json /var/kafka | jq 'select(.type == \"finding\")'"
    )

    def declare(self, parser: argparse.ArgumentParser) -> None:
        shared.declare_paths(parser)
        parser.add_argument(
            "-q", "--quiet", action="store_true", help="only findings, no notes and no summary"
        )

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        from ottla.cli.log.verification import verify  # noqa: PLC0415  The help needs none of it.

        return verify(VerifyArguments(**vars(arguments)), terminal)


def command() -> Verify:
    """What the table of verbs asks for."""
    return Verify()
