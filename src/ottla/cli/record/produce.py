"""`ottla record produce`: append records to a topic."""

import argparse
import fileinput
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from ottla.cli import EXIT_FINE, Refused
from ottla.cli.client.arguments import ClusterArguments, cluster_of, declare_cluster
from ottla.cli.log.values import Object, json_line
from ottla.cli.terminal import Terminal

if TYPE_CHECKING:
    from ottla.cli.record.input_lines import NewRecord
    from ottla.cli.record.lines import Lines
    from ottla.cli.record.producing import Appended

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
        from ottla.cli.record.producing import Producer  # noqa: PLC0415  Help needs none of it.
        from ottla.records.compression import Codec  # noqa: PLC0415  The same.

        given = ProduceArguments(**vars(arguments))
        with cluster_of(given) as cluster, ExitStack() as opened:
            lines = _lines(given, opened)
            topic = cluster.topic(given.topic, may_create=True)
            producer = Producer(cluster, topic, Codec[given.compression.upper()], given.partition)
            refused: Refused | None = None
            try:
                for record in _records(given, lines):
                    _say(terminal, given, producer.append(record))
                    if lines.is_idle():
                        _say(terminal, given, *producer.flush())
            except Refused as fault:
                refused = fault
            _say(terminal, given, *producer.flush())
        count = f"{producer.records_count} records appended to {given.topic}"
        if refused is not None:
            raise Refused(f"{refused}; {count}, nothing after")
        terminal.note(count)
        return EXIT_FINE


def _lines(given: ProduceArguments, opened: ExitStack) -> "Lines":
    from ottla.cli.record.lines import Lines, LiveLines  # noqa: PLC0415  As above.

    if given.value:
        if given.files:
            raise Refused("give either --value or files, not both")
        return Lines(value.encode(errors="surrogateescape") for value in given.value)
    if given.files:
        return Lines(opened.enter_context(fileinput.input(given.files, mode="rb")))
    return LiveLines(sys.stdin.fileno())


def _records(given: ProduceArguments, lines: "Lines") -> Iterator["NewRecord"]:
    from ottla.cli.record.input_lines import PlainLines, read_json, read_plain  # noqa: PLC0415  As above.

    if given.from_json:
        return read_json(lines)
    headers = [text.partition("=") for text in given.header]
    form = PlainLines(
        _encoded(given.key),
        _encoded(given.key_separator),
        _encoded(given.null),
        tuple((name, value.encode() if is_said else None) for name, is_said, value in headers),
    )
    return read_plain(lines, form)


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode(errors="surrogateescape")


def _say(terminal: Terminal, given: ProduceArguments, *done: "Appended | None") -> None:
    for appended in done:
        if appended is None:
            continue
        last_offset = appended.base_offset + appended.records_count - 1
        if given.json:
            found: Object = {
                "topic": given.topic,
                "partition": appended.partition,
                "base_offset": appended.base_offset,
                "last_offset": last_offset,
                "records_count": appended.records_count,
            }
            terminal.say(json_line(found))
            continue
        offsets = str(appended.base_offset)
        if appended.records_count > 1:
            offsets += f"..{last_offset}"
        terminal.say(f"{given.topic}-{appended.partition} offset {offsets}")


def command() -> Produce:
    """What the table of verbs asks for."""
    return Produce()
