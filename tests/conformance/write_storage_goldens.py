"""Writes tests/golden/storage anew, with Kafka's own classes.

Run as `python -m tests.conformance.write_storage_goldens FOLDER`. What the bytes mean is taken from
what Kafka was asked to write, never from our reading of them. Golden files are added to, and those
that are there stay as they are: let FOLDER be another one to compare.
"""

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.conformance.storage_questions import ask, place, verdicts
from tests.golden.broken_storage_files import BROKEN, described
from tests.unit.storage.kinds import KINDS, PRODUCER_FIELDS, SAMPLES, Kind

_WIDTHS: Final = (8, 2, 4, 8, 4, 8, 4, 8)
_SNAKE: Final = re.compile("(?<=[a-z])(?=[A-Z])")
_MAKERS: Final = {
    "offsets": "OffsetCheckpointFile.write",
    "epochs": "LeaderEpochCheckpointFile.write",
    "meta": "PropertiesUtils.writePropertiesFile of MetaProperties.toProperties",
    "partition": "PartitionMetadataFile.maybeFlush",
    "clean": "CleanShutdownFileHandler.write",
    "quorum": "FileQuorumStateStore.writeElectionStateToFile",
    "producers": "ProducerStateManager.writeSnapshot",
}


def entries(content: bytes, value: Any) -> Iterator[tuple[str, str]]:
    """The lines of a checkpoint."""
    lines = content.decode().splitlines(keepends=True)
    listed = [(*key, offset) for key, offset in value.items()] if isinstance(value, dict) else value
    meanings = ["version 0", f"count {len(value)}", *(f"entry {tuple(row)}" for row in listed)]
    return zip(map(json.dumps, lines), meanings, strict=True)


def properties(content: bytes, value: Any) -> Iterator[tuple[str, str]]:
    """The lines of meta.properties."""
    fields = {
        "version": ("version", value.version),
        "cluster.id": ("cluster_id", value.cluster_id),
        "node.id": ("node_id", value.node_id),
        "broker.id": ("node_id", value.node_id),
        "directory.id": ("directory_id", value.directory_id),
    }
    for line in content.decode().splitlines(keepends=True):
        name, field = fields.get(line.partition("=")[0], ("comment", line.strip("#\n")))
        yield json.dumps(line), f"{name} {field!r}"


def objects(content: bytes, value: Any) -> Iterator[tuple[str, str]]:
    """The fields of a line of JSON."""
    for piece in re.split(r'(?=,"[A-Za-z_]+":)', content.decode()):
        found = re.search(r'"(\w+)":', piece)
        assert found is not None
        name = _SNAKE.sub("_", found[1]).lower().replace("data_version", "version")
        field = getattr(value, name, 0)
        yield json.dumps(piece, ensure_ascii=False), f"{name} {field!r}"


def topic_id(content: bytes, value: Any) -> Iterator[tuple[str, str]]:
    """The lines of partition.metadata."""
    first, second = content.decode().splitlines(keepends=True)
    yield json.dumps(first), "version 0"
    yield json.dumps(second), f"topic_id {value!r}"


def producers(content: bytes, value: Any) -> Iterator[tuple[str, str]]:
    """The fields of a producer snapshot."""
    yield content[:2].hex(" "), "version 1"
    yield content[2:6].hex(" "), f"crc {int.from_bytes(content[2:6], 'big')}"
    yield content[6:10].hex(" "), f"count {len(value)}"
    start = 10
    for entry in value:
        for name, width in zip(PRODUCER_FIELDS, _WIDTHS, strict=True):
            yield content[start : start + width].hex(" "), f"{name} {getattr(entry, name)}"
            start += width


_COMMAND: Final = "python -m tests.conformance.write_storage_goldens tests/golden/storage"
_EXPLAINED: Final = {
    "offsets": entries,
    "epochs": entries,
    "meta": properties,
    "partition": topic_id,
    "clean": objects,
    "quorum": objects,
    "producers": producers,
}


def golden(kind: Kind, name: str, content: bytes) -> str:
    """The text of a golden file."""
    head = f"# Kafka 4.3.1, {_MAKERS[kind.name]}\n# Made by: {_COMMAND}\n"
    rows = _EXPLAINED[kind.name](content, kind.samples[name])
    return head + "".join(f"{piece} | {meaning}\n" for piece, meaning in rows)


def broken(folder: Path) -> str:
    """The table of broken files: the kind, the content, what we say, what Kafka says."""
    text = "# Kind, content, our answer, and that of Kafka 4.3.1's classes, by a bar each.\n"
    text += "# Contents made by hand; what is spoilt in each is said by our answer.\n"
    for number, (kind, content) in enumerate(BROKEN):
        file_name = KINDS[kind].file_name
        (said,) = verdicts(folder / str(number), kind, [content], file_name)
        answer = "refused" if said is None else f"says {said}"
        text += f"{kind} | {content!r} | {described(kind, content)} | {answer}\n"
    return text


def main(target: Path) -> None:
    """Write all golden files."""
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [place(folder, i, kind.file_name) for i, (kind, _) in enumerate(SAMPLES)]
        ask(
            ("write", kind.name, path, *kind.words(kind.samples[sample]))
            for (kind, sample), path in zip(SAMPLES, paths, strict=True)
        )
        for (kind, sample), path in zip(SAMPLES, paths, strict=True):
            text = golden(kind, sample, path.read_bytes())
            (target / f"{sample}.txt").write_text(text)
        (target / "broken.txt").write_text(broken(folder / "broken"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
