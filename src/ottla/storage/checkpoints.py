"""Checkpoints: a version, a count, then an entry a line.

Offset checkpoints hold `topic partition offset`, leader epoch checkpoints `epoch startOffset`. What
an offset means is said by the file's name: high watermark, recovery point, log start, first dirty
offset. A file without a first or a second line has no entries: Kafka makes it empty before it is
first written.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, TypeVar

from ottla.kernels.faults import Unencodable
from ottla.storage.text_lines import (
    INT32_MAX,
    INT64_MAX,
    MalformedLine,
    lines_of,
    number_of,
    shown,
    words_of,
)
from ottla.wire.topics import TopicPartition

VERSION: Final = 0

_WORD: Final = re.compile(r"\S+")
_T = TypeVar("_T")


class EpochEntry(NamedTuple):
    """A leader epoch and the first offset that was appended in it."""

    epoch: int
    start_offset: int


def parse_offsets(content: bytes) -> dict[TopicPartition, int]:
    """Read an offset checkpoint; of several offsets for a partition the last one."""
    return dict(_parse(content, _offset))


def format_offsets(offsets: Mapping[TopicPartition, int]) -> bytes:
    """Write an offset checkpoint, in the order given."""
    return _format(
        f"{_word(topic)} {_checked(partition, INT32_MAX)} {_checked(offset, INT64_MAX)}"
        for (topic, partition), offset in offsets.items()
    )


def parse_epochs(content: bytes) -> list[EpochEntry]:
    """Read a leader epoch checkpoint. That both numbers rise is left to whoever uses them."""
    return _parse(content, _epoch)


def format_epochs(entries: Iterable[EpochEntry]) -> bytes:
    """Write a leader epoch checkpoint."""
    return _format(
        f"{_checked(epoch, INT32_MAX)} {_checked(start_offset, INT64_MAX)}"
        for epoch, start_offset in entries
    )


def _parse(content: bytes, entry: Callable[[str, int], _T]) -> list[_T]:
    lines = lines_of(content)
    if lines and (version := number_of(lines[0], 1, "the version")) != VERSION:
        raise MalformedLine(f"version {version} is unknown, only {VERSION} is read", 1)
    if len(lines) < 2:
        return []
    count = number_of(lines[1], 2, "the count")
    if count != len(lines) - 2:
        raise MalformedLine(f"{count} entries are announced, but {len(lines) - 2} follow", 2)
    return [entry(line, number) for number, line in enumerate(lines[2:], 3)]


def _offset(line: str, number: int) -> tuple[TopicPartition, int]:
    words = words_of(line)
    if len(words) != 3:
        raise MalformedLine(f"not a topic, a partition and an offset: {shown(line)}", number)
    partition = TopicPartition(words[0], number_of(words[1], number, "the partition"))
    return partition, number_of(words[2], number, "the offset", INT64_MAX)


def _epoch(line: str, number: int) -> EpochEntry:
    words = words_of(line)
    if len(words) != 2:
        raise MalformedLine(f"not an epoch and an offset: {shown(line)}", number)
    epoch = number_of(words[0], number, "the epoch")
    return EpochEntry(epoch, number_of(words[1], number, "the offset", INT64_MAX))


def _format(entries: Iterable[str]) -> bytes:
    lines = list(entries)
    return "".join(f"{line}\n" for line in [VERSION, len(lines), *lines]).encode()


def _word(topic: str) -> str:
    if not _WORD.fullmatch(topic):
        raise Unencodable(f"{shown(topic)} is not one word")
    return topic


def _checked(number: int, largest: int) -> int:
    if not -largest - 1 <= number <= largest:
        raise Unencodable(f"{number} is too large")
    return number
