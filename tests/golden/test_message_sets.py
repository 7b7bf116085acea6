"""Message sets that Kafka's own library wrote: read, and written again byte for byte."""

from pathlib import Path

import pytest

from ottla.records.compression import Codec
from ottla.records.message_set import (
    LOG_APPEND_TIME,
    Message,
    checksum,
    entries,
    inner_entries,
    messages,
    write_message_set,
)

FILES = sorted((Path(__file__).parent / "message_sets").glob("*.txt"))
CODECS = {codec.name.lower(): codec for codec in Codec}


def unhex(text: str) -> bytes | None:
    """A key or a value: null, a dash for no bytes, or hex."""
    return None if text == "null" else bytes.fromhex(text.strip("-"))


def load(path: Path) -> tuple[bytes, list[Message]]:
    """The bytes of a golden file, and the messages that they are."""
    data, expected = b"", []
    for line in path.read_text().splitlines():
        if line.startswith("= "):
            offset, timestamp, timestamp_type, key, value = line[2:].split()
            numbers = int(offset), int(timestamp), int(timestamp_type)
            expected.append(Message(*numbers, unhex(key), unhex(value)))
        elif not line.startswith("#"):
            data += bytes.fromhex(line.split(" | ")[0])
    return data, expected


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_reads_what_kafka_wrote(path: Path) -> None:
    data, expected = load(path)
    assert list(messages(data)) == expected
    for entry in entries(data):
        assert checksum(data, entry) == entry.crc


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_writes_what_kafka_wrote(path: Path) -> None:
    data, expected = load(path)
    magic, codec = int(path.stem[1]), CODECS[path.stem.split("_")[1]]
    is_append_time = expected[0].timestamp_type == LOG_APPEND_TIME
    rows = [(one.offset, one.timestamp, one.key, one.value) for one in expected]
    append_time = expected[0].timestamp if is_append_time else None
    ours = write_message_set(magic, codec, rows, append_time=append_time)
    if codec not in (Codec.GZIP, Codec.SNAPPY):
        assert ours == data
        return
    # Compressors of one format may differ; what they compressed may not.
    (wrapper,), (kafkas,) = entries(ours), entries(data)
    assert inner_entries(wrapper) == inner_entries(kafkas)
    assert wrapper._replace(crc=0, size_bytes=0, value=None) == kafkas._replace(
        crc=0, size_bytes=0, value=None
    )
