"""Whatever is wrong in a log directory is found, at its place, and nothing else is."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from ottla.cli import main
from ottla.records.batch import seal
from ottla.records.scan import scan
from ottla.storage.checkpoints import EpochEntry, format_epochs, format_offsets
from ottla.storage.offset_index import LAYOUT as INDEX
from ottla.storage.partition_metadata import format_partition_metadata
from ottla.storage.time_index import LAYOUT as TIME_INDEX
from ottla.storage.transaction_index import LAYOUT as TXN_INDEX
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition
from tests.unit.cli.log_directory import (
    FIRST,
    T,
    kill,
    marker,
    plain,
    snapshot,
    transactional,
    write_directory,
    write_orders,
)

LOG = "orders-0/00000000000000000000.log"
SECOND = "orders-0/00000000000000000010"
STEM = LOG.removesuffix(".log")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_directory(tmp_path / "kafka")


def findings(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """What is wrong, without the path of the directory; exit code 1 says that something is."""
    code = main(["log", "verify", "--quiet", "kafka", *words])
    found = [
        line.removeprefix("BAD ").replace("kafka/", "")
        for line in capsys.readouterr().out.splitlines()
    ]
    assert code == (1 if found else 0)
    return found


def pack(*entries: tuple[int, int]) -> bytes:
    return b"".join(INDEX.pack(*entry) for entry in entries)


def times(*entries: tuple[int, int]) -> bytes:
    return b"".join(TIME_INDEX.pack(T + time, offset) for time, offset in entries)


def aborted(*entries: tuple[int, int, int, int], version: int = 0) -> bytes:
    return b"".join(TXN_INDEX.pack(version, *entry) for entry in entries)


WRONG: list[tuple[str, bytes, str]] = [
    (".index", pack((6, 353)), ".index:0: offset 6 is said to be at 353, where no batch begins"),
    (".index", pack((2, 354)), ".index:0: offset 2 is said to be at 354, but it lies before"),
    (".index", pack((9, 785)), ".index:0: offset 9 is said to be at 785, which is behind the last"),
    (".index", pack((6, 354), (5, 520)), ".index:8: entry 1 does not come after the one before"),
    (".index", pack((6, 354)) + b"x", ".index:8: 1 bytes at the end are no whole entry"),
    (".timeindex", times((3000, 6)), ".timeindex:0: up to offset 6 nothing should be later than"),
    (".timeindex", times((26_000, 6)), ".timeindex:0: no batch with offset 6 has the time"),
    (".timeindex", times((9000, 10)), ".timeindex:0: offset 10 is behind the last batch"),
    (".timeindex", times((5001, 6), (5001, 7)), ".timeindex:12: entry 1 does not come after"),
    (".txnindex", b"", ".txnindex: the aborted transaction of producer 4000, 5..7, is missing"),
    (".txnindex", aborted((1, 5, 7, 8)), ".txnindex: the aborted transaction of producer 4000, 5"),
    (".txnindex", aborted((4000, 6, 7, 8)), ".txnindex: the aborted transaction of producer 4000"),
    (".txnindex", aborted((4000, 5, 7, 9)), "said to have left a last stable offset of 9, not 8"),
    (".txnindex", aborted((4000, 5, 7, 8), (4000, 8, 9, 10)), "4000 was committed at offset 9"),
    (".txnindex", aborted((4000, 5, 7, 8), (4000, 8, 12, 8)), "ends at 12, behind the segment"),
    (".txnindex", aborted((9, 1, 3, 0), (4000, 5, 7, 8)), "9 has no marker at offset 3"),
    (".txnindex", aborted((4000, 5, 7, 8), version=1), ".txnindex:0: an entry has version 1"),
    (".txnindex", b"x" * 33, ".txnindex:0: 33 bytes at the end are no whole entry"),
]


@pytest.mark.parametrize(("suffix", "content", "expected"), WRONG)
def test_an_index_that_lies_is_found(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    suffix: str,
    content: bytes,
    expected: str,
) -> None:
    (folder / (STEM + suffix)).write_bytes(content)
    found = findings(capsys)
    assert any(expected in line for line in found), found
    assert all(line.startswith(STEM + suffix) for line in found), found


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        (".index", b""),
        (".index", pack((7, 354))),
        (".index", pack((6, 354)) + bytes(8000)),
        (".timeindex", b""),
        (".timeindex", times((9000, 9)) + bytes(12)),
    ],
)
def test_an_index_that_is_sparse_or_preallocated_is_right(
    folder: Path, capsys: pytest.CaptureFixture[str], suffix: str, content: bytes
) -> None:
    (folder / (STEM + suffix)).write_bytes(content)
    assert findings(capsys) == []


def epochs(*entries: tuple[int, int]) -> bytes:
    return format_epochs(EpochEntry(*entry) for entry in entries)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("leader-epoch-checkpoint", epochs((0, 0), (1, 6), (3, 13)), "offset 5 is said"),
        ("leader-epoch-checkpoint", epochs((0, 0), (3, 13)), "offset 5 is said to be of epoch 0"),
        ("leader-epoch-checkpoint", epochs((1, 5), (3, 13)), "offset 0 is said to be of no epoch"),
        ("leader-epoch-checkpoint", epochs((0, 0), (1, 5), (3, 13), (4, 16)), "epoch 4 begins at"),
        ("leader-epoch-checkpoint", epochs((0, 0), (1, 5), (3, 13), (3, 14)), "does not rise"),
        ("leader-epoch-checkpoint", b"7\n0\n", ":0: version 7 is unknown"),
        ("00000000000000000010.snapshot", snapshot(3, 8, 0, T + 9000, -1), "last_sequence 3, by"),
        ("00000000000000000010.snapshot", snapshot(2, 8, 0, T + 9000, 5), "first_offset 5, by the"),
        ("00000000000000000015.snapshot", snapshot(4, 12, 1, T + 1, 11), "timestamp 17000000"),
        ("00000000000000000012.snapshot", snapshot(4, 12, 1, T, 11), "which lies within a batch"),
        ("00000000000000000016.snapshot", snapshot(4, 12, 1, T, 11), "where the log ends at 15"),
        ("00000000000000000010.snapshot", b"\0\1abc", "no room for a checksum"),
        ("partition.metadata", b"", "line 1 is missing"),
        ("00000000000000000099.index", b"", "there is no log beside it"),
    ],
)
def test_a_file_of_a_partition_that_lies_is_found(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, expected: str
) -> None:
    (folder / "orders-0" / name).write_bytes(content)
    found = findings(capsys)
    assert found
    assert expected in found[0], found
    assert all(line.startswith(f"orders-0/{name}") for line in found), found


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_an_index_that_is_missing_is_found(
    folder: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    (folder / (STEM + suffix)).unlink()
    assert findings(capsys) == [f"{LOG}: it has no {suffix} beside it"]


def notes(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """What is worth knowing where nothing is wrong."""
    assert main(["log", "verify", "kafka", *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    return [line.replace("kafka/", "") for line in lines if line.startswith("note ")]


TORN = "60 bytes: the file ends within a batch"
ABORTED = "the aborted transaction of producer 4000, 11..15, is"
KILLED = [
    f"note {SECOND}.log: it has no .index beside it yet: recovery makes it",
    f"note {SECOND}.log: it has no .timeindex beside it yet: recovery makes it",
    f"note {SECOND}.log: {TORN}, which was being written; recovery cuts it off",
    f"note {SECOND}.txnindex: {ABORTED} not in it yet: recovery adds it",
]


def test_what_a_kill_kept_from_the_files_is_a_note(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kill(folder)
    assert notes(capsys) == KILLED
    (folder / "recovery-point-offset-checkpoint").unlink()
    assert notes(capsys) == KILLED


@pytest.mark.parametrize("recovery_point", [16, 17])
def test_below_the_recovery_point_a_kill_explains_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], recovery_point: int
) -> None:
    """The last segment is recovered whatever the point is, but what was synced is not torn."""
    kill(folder)
    points = format_offsets({TopicPartition("orders", 0): recovery_point})
    (folder / "recovery-point-offset-checkpoint").write_bytes(points)
    if recovery_point == 16:
        assert notes(capsys) == KILLED
        return
    found = findings(capsys)
    assert [line.partition(": ")[2] for line in found] == [
        TORN,
        "the recovery point of orders-0 is 17, where the log ends at 16",
    ]


def test_segments_that_are_not_recovered_lack_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kill(folder)
    for suffix in (".index", ".txnindex"):
        (folder / (STEM + suffix)).unlink()
    found = findings(capsys)
    assert [line.removeprefix(STEM).partition(",")[0] for line in found] == [
        ".log: it has no .index beside it",
        ".txnindex: the aborted transaction of producer 4000",
    ]
    (folder / "recovery-point-offset-checkpoint").unlink()
    assert len(notes(capsys)) == len(KILLED) + 2


def test_after_a_clean_stop_nothing_is_missing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kill(folder)
    (folder / ".kafka_cleanshutdown").write_bytes(b"")
    found = findings(capsys)
    assert len([line for line in found if line.startswith(SECOND)]) == len(KILLED)


@pytest.mark.parametrize(
    ("suffix", "content", "expected"),
    [
        (".index", pack((2, 1)), "where no batch begins"),
        (".timeindex", times((11_000, 2)), "nothing should be later"),
        (".txnindex", aborted((1, 11, 15, 11)), "is missing: it is read as committed"),
    ],
)
def test_what_is_wrong_stays_wrong_after_a_kill(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    suffix: str,
    content: bytes,
    expected: str,
) -> None:
    kill(folder)
    (folder / (SECOND + suffix)).write_bytes(content)
    found = findings(capsys)
    assert any(expected in line for line in found), found
    assert all(line.startswith(SECOND + suffix) for line in found), found


def test_epochs_that_waited_when_it_was_killed_are_a_note(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kill(folder)
    checkpoint = folder / "orders-0/leader-epoch-checkpoint"
    checkpoint.write_bytes(epochs((0, 0), (1, 5)))
    (note,) = set(notes(capsys)) - set(KILLED)
    assert note.endswith("13 is said to be of epoch 1, its batch is of 3; recovery mends it")
    checkpoint.write_bytes(epochs((0, 0)))
    (found,) = findings(capsys)
    assert found.endswith("offset 5 is said to be of epoch 0, its batch is of 1")


def test_times_of_a_torn_batch_are_not_judged(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kill(folder)
    (folder / f"{SECOND}.timeindex").write_bytes(times((15_000, 5), (20_004, 10)))
    assert findings(capsys) == []


def test_a_folder_that_waits_to_be_deleted_may_lack_indexes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_orders(folder / f"orders-7.{'0' * 32}-delete")
    (folder / f"orders-7.{'0' * 32}-delete/{10:020}.index").unlink()
    assert len(notes(capsys)) == 1


def test_a_partition_alone_is_held_to_its_directory(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kill(folder)
    monkeypatch.chdir(folder / "orders-0")
    assert main(["log", "verify", "."]) == 0
    (folder / ".kafka_cleanshutdown").write_bytes(b"")
    assert main(["log", "verify", "."]) == 1
    assert capsys.readouterr().out


def test_epochs_that_no_checkpoint_knows_are_found(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "orders-0/leader-epoch-checkpoint").unlink()
    found = findings(capsys)
    assert [line.rpartition(" ")[2] for line in found] == ["0", "1", "3"]


def write_segment(folder: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    """Write the first segment's log with its batches changed."""
    (folder / LOG).write_bytes(b"".join(change(list(FIRST.batches))))


@pytest.mark.parametrize(
    ("at", "batch", "expected"),
    [
        (1, plain(2, 2), "offset 2 comes where 3 is least"),
        (1, plain(3, 2, epoch=2), "the leader epoch falls from 2 to 1"),
        (5, marker(9, is_commit=False), "4000, 8..9, is missing: it is read as committed"),
        (5, plain(9, 1, epoch=1), "current_txn_first_offset -1, by the log it is 8"),
    ],
)
def test_a_batch_that_contradicts_the_rest_is_found(
    folder: Path, capsys: pytest.CaptureFixture[str], at: int, batch: bytes, expected: str
) -> None:
    write_segment(folder, lambda batches: [*batches[:at], batch, *batches[at + 1 :]])
    found = findings(capsys)
    assert any(expected in line for line in found), found


@pytest.mark.parametrize("seed", range(40))
def test_a_flipped_bit_in_a_log_is_found_where_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    chance = random.Random(seed)
    data = bytearray((folder / LOG).read_bytes())
    row = chance.choice(scan(bytes(data)).rows)
    # Offsets and leader epochs are outside of the checksum; the other checks hold those.
    at = row.position + chance.choice([*range(8, 12), *range(16, row.size_bytes)])
    data[at] ^= 1 << chance.randrange(8)
    (folder / LOG).write_bytes(data)
    found = findings(capsys)
    assert any(line.startswith(f"{LOG}:{row.position}: ") for line in found), found


@pytest.mark.parametrize("size", [8, 60, 100])
def test_a_torn_end_is_found(folder: Path, capsys: pytest.CaptureFixture[str], size: int) -> None:
    path = folder / f"{SECOND}.log"
    path.write_bytes(path.read_bytes() + plain(15, 5, epoch=3)[:size])
    assert findings(capsys) == [f"{SECOND}.log:447: {size} bytes: the file ends within a batch"]


def test_zeros_are_a_note_at_the_end_of_the_log_only(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / f"{SECOND}.log"
    path.write_bytes(path.read_bytes() + bytes(1000))
    assert findings(capsys) == []
    path = folder / LOG
    path.write_bytes(path.read_bytes() + bytes(1000))
    (found,) = findings(capsys)
    assert found.startswith(f"{LOG}:785: 1,000 bytes: zeros to the end of the file")


@pytest.mark.parametrize(
    "name",
    ["replication-offset-checkpoint", "recovery-point-offset-checkpoint"],
)
@pytest.mark.parametrize("offset", [-1, 16])
def test_an_offset_that_the_log_does_not_have_is_found(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, offset: int
) -> None:
    (folder / name).write_bytes(format_offsets({TopicPartition("orders", 0): offset}))
    (found,) = findings(capsys)
    assert found.startswith(f"{name}: the ")
    assert found.endswith(f"of orders-0 is {offset}, where the log ends at 15")


def test_a_log_start_within_excuses_what_lies_before(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "orders-0/leader-epoch-checkpoint").write_bytes(epochs((1, 6), (3, 13)))
    assert findings(capsys)
    start = format_offsets({TopicPartition("orders", 0): 6})
    (folder / "log-start-offset-checkpoint").write_bytes(start)
    assert findings(capsys) == []


def test_two_ids_of_one_topic_are_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_orders(folder / "orders-1")
    other = format_partition_metadata(Uuid(bytes(15) + b"\x09"))
    (folder / "orders-1/partition.metadata").write_bytes(other)
    (found,) = findings(capsys)
    assert found.startswith("orders-1/partition.metadata: the topic's id is AAAAAAAAAAAAAAAAAAAACQ")


def test_what_compaction_took_away_is_no_finding(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first batch, the aborted transaction and both markers are gone."""
    write_segment(folder, lambda batches: [batches[1], batches[4]])
    for suffix in (".index", ".timeindex"):
        (folder / (STEM + suffix)).write_bytes(b"")
    assert findings(capsys) == []


def test_a_log_whose_beginning_is_gone_begins_with_its_snapshot(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in folder.glob("orders-0/00000000000000000000.*"):
        path.unlink()
    (folder / "orders-0/leader-epoch-checkpoint").write_bytes(epochs((1, 10), (3, 13)))
    assert findings(capsys) == []
    (folder / "orders-0/00000000000000000010.snapshot").unlink()
    assert findings(capsys) == []


def test_a_plain_batch_within_a_transaction_is_found(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = bytearray(transactional(11, 2, 3))
    bad[22] = 0
    fixed = _sealed(bad)
    path = folder / f"{SECOND}.log"
    batches = [plain(10, 1, codec=4, epoch=1), transactional(11, 2, 3), fixed]
    path.write_bytes(b"".join(batches[:2]) + _moved(fixed, 13))
    found = findings(capsys)
    assert any("a batch outside of the transaction that is open" in line for line in found), found


def _sealed(batch: bytearray) -> bytes:
    seal(batch)
    return bytes(batch)


def _moved(batch: bytes, offset: int) -> bytes:
    return offset.to_bytes(8, "big") + batch[8:]


def test_leftovers_and_strangers_are_notes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (
        "orders-0/00000000000000000003.log.deleted",
        "orders-0/00000000000000000003.index.cleaned",
        "orders-0/00000000000000000003.log.swap",
        "replication-offset-checkpoint.tmp",
        "notes.doc",
    ):
        (folder / name).write_bytes(b"x")
    assert main(["log", "verify", "kafka"]) == 0
    said = capsys.readouterr()
    assert said.out.count("note kafka/") == 5
    assert said.err.endswith("0 findings, 5 notes\n")


def test_the_snapshot_of_the_metadata_is_whole(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = folder.glob("__cluster_metadata-0/*.checkpoint")
    data = path.read_bytes()
    rows = scan(data).rows
    path.write_bytes(data[: rows[-1].position])
    (found,) = findings(capsys)
    assert found.endswith(": it does not end with the footer of a snapshot")
    path.write_bytes(data[rows[1].position :])
    (found,) = findings(capsys)
    assert found.endswith(":0: it does not begin with the header of a snapshot")


def test_nothing_is_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def content() -> dict[str, tuple[bytes, int]]:
        paths = (path for path in folder.rglob("*") if path.is_file())
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}

    before = content()
    for path in folder.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert findings(capsys) == []
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert content() == before
