"""Golden files of a log directory are decoded, compared, encoded, compared byte for byte."""

import ast
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest

from ottla.storage.checkpoints import EpochEntry
from ottla.storage.clean_shutdown import CleanShutdown
from ottla.storage.meta_properties import MetaProperties, format_meta_properties
from ottla.storage.quorum_state import QuorumState
from ottla.wire.topics import TopicPartition
from tests.golden.broken_storage_files import BROKEN, described
from tests.unit.storage.kinds import KINDS, META, PRODUCER_FIELDS, entry_of

FOLDER: Final = Path(__file__).parent / "storage"
NAMES: Final = sorted(path.stem for path in FOLDER.glob("*.txt") if path.stem != "broken")


@dataclass
class Golden:
    """A golden file: its bytes, and what they mean, in order."""

    content: bytes = b""
    meanings: list[tuple[str, Any]] = field(default_factory=list)

    def values(self, *names: str) -> list[Any]:
        """What stands beside some names."""
        return [value for name, value in self.meanings if name in names]


def golden(name: str) -> Golden:
    """Read a file of lines `piece | name value`: a text as JSON has it, or hex."""
    found = Golden()
    for line in (FOLDER / f"{name}.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        piece, _, meaning = line.rpartition(" | ")
        is_text = piece.startswith('"')
        found.content += json.loads(piece).encode() if is_text else bytes.fromhex(piece)
        word, _, value = meaning.partition(" ")
        found.meanings.append((word, ast.literal_eval(value)))
    return found


def producers_of(found: Golden) -> list[Any]:
    numbers = found.values(*PRODUCER_FIELDS)
    width = len(PRODUCER_FIELDS)
    return [entry_of(tuple(numbers[i : i + width])) for i in range(0, len(numbers), width)]


BUILT: Final[dict[str, Callable[[Golden], Any]]] = {
    "offsets": lambda f: {TopicPartition(t, p): o for t, p, o in f.values("entry")},
    "epochs": lambda f: [EpochEntry(*entry) for entry in f.values("entry")],
    "meta": lambda f: MetaProperties(**{n: v for n, v in f.meanings if n != "comment"}),
    "partition": lambda f: f.values("topic_id")[0],
    "clean": lambda f: CleanShutdown(*f.values("broker_epoch")),
    "quorum": lambda f: QuorumState(**dict(f.meanings)),
    "producers": producers_of,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_says_what_kafka_was_asked_to_write(name: str) -> None:
    found = golden(name)
    kind = KINDS[name.partition("_")[0]]
    value = BUILT[kind.name](found)
    assert kind.parse(found.content) == value
    if kind is not META:
        assert kind.format(value) == found.content
        return
    date = found.values("comment")[1].replace("UTC", "+0000")
    written = datetime.strptime(date, "%a %b %d %H:%M:%S %z %Y")
    assert format_meta_properties(value, int(written.timestamp()) * 1000) == found.content


def test_every_kind_has_a_golden_file() -> None:
    assert {name.partition("_")[0] for name in NAMES} == set(KINDS)


def broken() -> list[list[str]]:
    """The rows of the table of broken files: kind, content, our answer, Kafka's."""
    lines = (FOLDER / "broken.txt").read_text().splitlines()
    return [line.split(" | ") for line in lines if not line.startswith("#")]


@pytest.mark.parametrize("row", broken(), ids=lambda row: f"{row[0]} {row[1]:.30}")
def test_a_broken_file_is_refused_where_kafka_refuses_it(row: list[str]) -> None:
    kind, content, ours, theirs = row
    assert described(kind, ast.literal_eval(content)) == ours
    assert ours == theirs or (theirs == "refused" and not ours.startswith("says"))


def test_the_table_of_broken_files_is_whole() -> None:
    assert [(kind, ast.literal_eval(content)) for kind, content, *_ in broken()] == BROKEN
