"""`ottla storage format`: make directories the log directories of a node."""

import argparse

from ottla.cli.terminal import Terminal


class FormatArguments(argparse.Namespace):
    """What was typed."""

    config: str
    cluster_id: str
    standalone: bool
    no_initial_controllers: bool
    initial_controllers: str | None
    release_version: str | None
    feature: list[str]
    ignore_formatted: bool
    dry_run: bool
    json: bool


class Format:
    """The verb."""

    operands = "--config FILE --cluster-id ID"
    description = (
        "Make the directories of a node's properties file its log directories: an id each, and in\n"
        "the one of the metadata log what a new cluster begins with. No file of a formatted\n"
        "directory is touched. Apache Kafka 4.3 starts on what this leaves."
    )
    examples = (
        "  ottla storage format --standalone -c server.properties -t $(ottla storage random-uuid)\n"
        "  ottla storage format -c node3.properties -t 0o7dEp_rQh2tUOsq3g2FgQ --ignore-formatted"
    )

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "-c", "--config", required=True, metavar="FILE", help="the node's properties file"
        )
        parser.add_argument(
            "-t", "--cluster-id", required=True, metavar="ID", help="the same for every node"
        )
        group = parser.add_argument_group(
            "who votes", "Only where the file does not say controller.quorum.voters."
        )
        voters = group.add_mutually_exclusive_group()
        voters.add_argument("--standalone", action="store_true", help="this node alone, for now")
        voters.add_argument(
            "--initial-controllers",
            metavar="ID@HOST:PORT:DIRECTORY,...",
            help="these, each with the id of its metadata directory",
        )
        voters.add_argument(
            "--no-initial-controllers",
            action="store_true",
            help="others that are there already; this node finds them",
        )
        parser.add_argument(
            "--release-version", metavar="VERSION", help="such as 4.2 or 4.2-IV1; else the newest"
        )
        parser.add_argument(
            "--feature", action="append", default=[], metavar="NAME=LEVEL", help="may be repeated"
        )
        parser.add_argument(
            "-g", "--ignore-formatted", action="store_true", help="leave those that are formatted"
        )
        parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        from ottla.cli.storage.formatting import format_storage  # noqa: PLC0415  Help needs none.

        return format_storage(FormatArguments(**vars(arguments)), terminal)


def command() -> Format:
    """What the table of verbs asks for."""
    return Format()
