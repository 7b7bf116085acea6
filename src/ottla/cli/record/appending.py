"""Append what was typed or piped in, and say where it went."""

import fileinput
import sys
from collections.abc import Iterator
from contextlib import ExitStack

from ottla.cli import EXIT_FINE, Refused
from ottla.cli.client.arguments import cluster_of
from ottla.cli.log.values import Object, json_line
from ottla.cli.quantities import shown_count
from ottla.cli.record.input_lines import NewRecord, PlainLines, read_json, read_plain
from ottla.cli.record.lines import Lines, LiveLines
from ottla.cli.record.produce import ProduceArguments
from ottla.cli.record.producing import Appended, Producer
from ottla.cli.terminal import Terminal
from ottla.records.compression import Codec


def append(given: ProduceArguments, terminal: Terminal) -> int:
    """Do what was asked, and give the exit code."""
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
    count = f"{shown_count(producer.records_count, 'record')} appended to {given.topic}"
    if refused is not None:
        raise Refused(f"{refused}; {count}, nothing after")
    terminal.note(count)
    return EXIT_FINE


def _lines(given: ProduceArguments, opened: ExitStack) -> Lines:
    if given.value:
        if given.files:
            raise Refused("give either --value or files, not both")
        return Lines(value.encode(errors="surrogateescape") for value in given.value)
    if given.files:
        return Lines(opened.enter_context(fileinput.input(given.files, mode="rb")))
    return LiveLines(sys.stdin.fileno())


def _records(given: ProduceArguments, lines: Lines) -> Iterator[NewRecord]:
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


def _say(terminal: Terminal, given: ProduceArguments, *done: Appended | None) -> None:
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
