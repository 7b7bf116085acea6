"""`ottla record produce`: append records to a topic."""

import argparse

from ottla.cli.client.arguments import ClusterArguments, declare_cluster
from ottla.cli.terminal import Terminal

_CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


class ProduceArguments(ClusterArguments):
    """What was typed."""

    topic: str
    files: list[str]
    value: list[str]
    key: str | None
    key_separator: str | None
    null: str | None
    header: list[str]
    partition: int | None
    from_json: bool
    compression: str


class Produce:
    """The verb."""

    operands = "TOPIC [FILE...]"
    description = (
        "Append a record for each line of files or of the standard input. What is said to be\n"
        "appended is on all in-sync replicas, and nothing is there twice. A line that is no\n"
        "record ends the command; what came before it is appended, and said."
    )
    examples = (
        "  ottla record produce orders --value hello --key 17 --header trace=9\n"
        "  ottla record produce orders --key-separator : lines.txt\n"
        "  ottla record consume orders --json --to now | ottla record produce copy --from-json"
    )

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("topic", metavar="TOPIC", help="its name")
        parser.add_argument("files", nargs="*", metavar="FILE", help="lines; else standard input")
        group = parser.add_argument_group("what is appended")
        group.add_argument(
            "--value", action="append", default=[], metavar="TEXT", help="this; no input is read"
        )
        group.add_argument("--key", metavar="TEXT", help="the key of every record")
        group.add_argument(
            "--key-separator", metavar="TEXT", help="what stands between key and value of a line"
        )
        group.add_argument("--null", metavar="TEXT", help="a key or value that is this is null")
        group.add_argument(
            "--header", action="append", default=[], metavar="K=V", help="may be repeated"
        )
        group.add_argument(
            "--from-json",
            action="store_true",
            help="lines are objects with key, value, headers, timestamp, partition, as consume"
            " --json prints them; key_form and value_form say text, json, hex or base64",
        )
        group.add_argument("--partition", type=int, metavar="N", help="else by the key")
        group.add_argument("--compression", choices=_CODECS, default="none", help="(%(default)s)")
        declare_cluster(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        from ottla.cli.record.appending import append  # noqa: PLC0415  Help needs none of it.

        return append(ProduceArguments(**vars(arguments)), terminal)


def command() -> Produce:
    """What the table of verbs asks for."""
    return Produce()
