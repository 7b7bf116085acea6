"""`ottla storage info`: whose log directories are, and what lies in them."""

import argparse

from ottla.cli.terminal import Terminal


class LookArguments(argparse.Namespace):
    """What was typed."""

    paths: list[str]
    config: str | None
    json: bool


class Look:
    """The verb."""

    operands = "(DIRECTORY... | --config FILE)"
    description = (
        "Print of log directories to which cluster and node they belong, whether they were closed\n"
        "cleanly, and what lies in them. Nothing is changed. Exit code 1 means that one is not\n"
        "formatted, cannot be read, or belongs to another cluster or node than the others."
    )
    examples = "  ottla storage info /var/kafka\n  ottla storage info --config server.properties"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("paths", nargs="*", metavar="DIRECTORY", help="a log directory")
        parser.add_argument("-c", "--config", metavar="FILE", help="those of a properties file")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        from ottla.cli.storage.looking import look  # noqa: PLC0415  Help needs none of it.

        return look(LookArguments(**vars(arguments)), terminal)


def command() -> Look:
    """What the table of verbs asks for."""
    return Look()
