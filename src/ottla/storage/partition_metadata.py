"""`partition.metadata`: the id of the topic that a partition's folder belongs to.

By it a node knows the folder of a topic that was deleted and made again under the same name.
"""

import re
from typing import Final

from ottla.kernels.faults import InvalidValue, Truncated, Unencodable
from ottla.storage.text_lines import MalformedLine, lines_of, number_of, shown, words_of
from ottla.wire.fields import NO_ID, Uuid
from ottla.wire.uuids import uuid_of_text, uuid_text

VERSION: Final = 0

_SEPARATOR: Final = re.compile(r":\s+", re.ASCII)


def parse_partition_metadata(content: bytes) -> Uuid:
    """Read the topic's id, in any version, from the value on the second line.

    As in Kafka the keys are not looked at, nor anything behind the second line.
    """
    lines = lines_of(content)
    if number_of(_value(lines, 1, "version"), 1, "the version") < 0:
        raise MalformedLine("the version is negative", 1)
    text = _value(lines, 2, "topic's id")
    try:
        topic_id = uuid_of_text(text)
    except InvalidValue:
        raise MalformedLine(f"the topic's id is none: {shown(text)}", 2) from None
    if topic_id == NO_ID:
        raise MalformedLine("the topic's id is that of no topic", 2)
    return topic_id


def format_partition_metadata(topic_id: Uuid) -> bytes:
    """Write the file; its last line has no end."""
    if topic_id == NO_ID:
        raise Unencodable("the topic's id is that of no topic")
    return f"version: {VERSION}\ntopic_id: {uuid_text(topic_id)}".encode()


def _value(lines: list[str], number: int, what: str) -> str:
    if len(lines) < number:
        raise Truncated(f"line {number} is missing, which says the {what}")
    words = words_of(lines[number - 1], _SEPARATOR)
    if len(words) != 2:
        raise MalformedLine(f"not a key and the {what}: {shown(lines[number - 1])}", number)
    return words[1]
