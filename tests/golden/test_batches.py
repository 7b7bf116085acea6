"""Every golden batch is decoded, compared, encoded and compared again, byte for byte."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ottla.records.batch import BatchHeader, batch_at, checksum
from ottla.records.builder import BatchOptions, Row, assemble, write_batch, write_empty_batch
from ottla.records.check import check_copied
from ottla.records.control import ControlKey, ControlType, EndMarker, write_end_marker
from ottla.records.reader import inflate, read_records
from ottla.records.rebuild import OpenBatch
from ottla.records.scan import Stop

FOLDER = Path(__file__).parent / "batches"
NAMES = sorted(path.stem for path in FOLDER.glob("*.txt"))
INFLATED_BYTES_MAX = 1 << 20


@dataclass
class Golden:
    """A golden file: its bytes, the headers in it by field, the records in it, and its notes."""

    data: bytes = b""
    headers: list[dict[str, int]] = field(default_factory=list)
    records: list[list[Any]] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)


def golden(name: str) -> Golden:
    """Read a file of lines `hex | meaning`; a record's meaning is a tuple as Python writes it."""
    found = Golden()
    for line in (FOLDER / f"{name}.txt").read_text().splitlines():
        if line.startswith("#"):
            word, _, rest = line[2:].partition(" ")
            found.notes[word] = rest
            continue
        octets, _, meaning = line.partition("|")
        found.data += bytes.fromhex(octets)
        word, _, rest = meaning.strip().partition(" ")
        if word == "base_offset":
            found.headers.append({})
            found.records.append([])
        if word == "record":
            found.records[-1].append(eval(rest))
        elif word != "records":
            found.headers[-1][word] = int(rest)
    return found


def only(name: str) -> tuple[bytes, BatchHeader, list[Any]]:
    """The one batch of a file."""
    found = golden(name)
    assert len(found.headers) == 1
    return found.data, BatchHeader(**found.headers[0]), found.records[0]


def options_of(header: BatchHeader) -> BatchOptions:
    """What a builder must be told to write such a header, uncompressed."""
    return BatchOptions(
        base_offset=header.base_offset,
        partition_leader_epoch=header.partition_leader_epoch,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        is_transactional=header.is_transactional,
        is_control=header.is_control,
        append_timestamp=header.max_timestamp if header.is_append_time else None,
        delete_horizon_ms=header.delete_horizon_ms,
    )


@pytest.mark.parametrize("name", NAMES)
def test_decodes_to_what_kafka_says(name: str) -> None:
    found = golden(name)
    position = 0
    for fields, records in zip(found.headers, found.records, strict=True):
        batch = batch_at(found.data, position)
        header = BatchHeader.parse(batch)
        assert header == BatchHeader(**fields)
        assert header.to_bytes() == bytes(batch[:61])
        assert checksum(batch) == header.crc
        assert [tuple(record) for record in read_records(batch, INFLATED_BYTES_MAX)] == records
        position += header.size_bytes
    assert position == len(found.data)


@pytest.mark.parametrize("name", NAMES)
def test_a_log_takes_it_as_it_is(name: str) -> None:
    found = golden(name)
    copied = check_copied(found.data)
    assert (copied.end_position, copied.stop) == (len(found.data), Stop.END)
    assert copied.rows[0].base_offset == found.headers[0]["base_offset"]


@pytest.mark.parametrize(
    "name", [n for n in NAMES if n != "run" and not n.startswith("kept_none") and n != "gaps"]
)
def test_encodes_to_the_same_bytes(name: str) -> None:
    data, header, _ = only(name)
    rows: list[Row] = list(read_records(data, INFLATED_BYTES_MAX))
    if header.is_append_time and name == "append_time":
        # These records' own times, which a reader does not see, are T, T + 1 and T + 2.
        rows = [(*row[:1], header.base_timestamp + i, *row[2:]) for i, row in enumerate(rows)]
    written = write_batch(rows, options_of(header))
    if header.codec:
        assert written[61:] == inflate(data, INFLATED_BYTES_MAX)
        return
    # Cleaning keeps the last offset of records that it took, which a builder cannot know of.
    wanted = BatchHeader.parse(written)._replace(last_offset_delta=header.last_offset_delta)
    assert assemble(wanted, written[61:]) == data


def test_encodes_gaps_in_offsets() -> None:
    data, header, records = only("gaps")
    assert [record[0] for record in records] == [100, 103, 900]
    assert write_batch(records, options_of(header)) == data


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith("kept_none")])
def test_encodes_empty_batches(name: str) -> None:
    data, header, _ = only(name)
    options = options_of(header)
    assert write_empty_batch(options, header.last_offset, header.max_timestamp) == data


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith("kept_")])
def test_keeps_records_as_kafkas_cleaner(name: str) -> None:
    notes = golden(name).notes
    before, _, records = only(notes["before"])
    kept = {int(index) for index in notes["keep"].split()}
    marks = bytes(index in kept for index in range(len(records)))
    horizon = int(notes["horizon"]) if "horizon" in notes else None
    opened = OpenBatch(before, INFLATED_BYTES_MAX)
    assert opened.keep(marks, horizon) == golden(name).data


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_compressed_and_open_say_the_same(codec: str) -> None:
    plain, _, records = only("produced_none")
    data, header, _ = only(f"produced_{codec}")
    assert list(read_records(data, INFLATED_BYTES_MAX)) == records
    assert inflate(data, INFLATED_BYTES_MAX) == plain[61:]
    kept = OpenBatch(data, INFLATED_BYTES_MAX).keep(b"\1\0\1\1")
    assert BatchHeader.parse(kept).codec == header.codec
    assert list(read_records(kept, INFLATED_BYTES_MAX)) == [records[0], *records[2:]]


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("abort_marker", ControlType.ABORT),
        ("commit_marker", ControlType.COMMIT),
        ("leader_change", ControlType.LEADER_CHANGE),
        ("snapshot_header", ControlType.SNAPSHOT_HEADER),
        ("snapshot_footer", ControlType.SNAPSHOT_FOOTER),
        ("kraft_version", ControlType.KRAFT_VERSION),
    ],
)
def test_control_keys(name: str, type_: ControlType) -> None:
    _, header, records = only(name)
    assert header.is_control
    assert [ControlKey.parse(record[2]) for record in records] == [(0, type_)]


@pytest.mark.parametrize(("name", "is_commit"), [("abort_marker", False), ("commit_marker", True)])
def test_end_markers(name: str, is_commit: bool) -> None:
    data, header, records = only(name)
    marker = EndMarker.parse(records[0][3])
    written = write_end_marker(
        is_commit=is_commit,
        producer=(header.producer_id, header.producer_epoch),
        coordinator_epoch=marker.coordinator_epoch,
        timestamp=header.max_timestamp,
        partition_leader_epoch=header.partition_leader_epoch,
        base_offset=header.base_offset,
    )
    assert written == data
