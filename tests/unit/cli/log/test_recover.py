"""What `ottla log recover` does to damage of every kind: told before, and done as told."""

import fcntl
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ottla.cli import main
from ottla.records.scan import scan
from ottla.storage.checkpoints import format_offsets, parse_offsets
from ottla.wire.topics import TopicPartition
from tests.unit.cli.log_directory import write_directory, write_orders

FIRST = "kafka/orders-0/00000000000000000000.log"
SECOND = "kafka/orders-0/00000000000000000010.log"
POINTS = "kafka/recovery-point-offset-checkpoint"
MARK = "kafka/.kafka_cleanshutdown"
ORDERS = TopicPartition("orders", 0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log directory that is in order."""
    monkeypatch.chdir(tmp_path)
    write_directory(tmp_path / "kafka")
    assert main(["log", "recover", "--yes", "kafka"]) == 0
    return tmp_path / "kafka"


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[dict[str, object]]]:
    """The exit code, and the objects of a run with `--json`."""
    capsys.readouterr()
    code = main(["log", "recover", "--json", *words])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def damage(path: str, position: int, data: bytes) -> None:
    content = bytearray(Path(path).read_bytes())
    content[position : position + len(data)] = data
    Path(path).write_bytes(content)


def set_point(offset: int) -> None:
    Path(POINTS).write_bytes(format_offsets({ORDERS: offset}))


def starts(path: str) -> list[int]:
    """Where the batches of a file begin."""
    return [row.position for row in scan(Path(path).read_bytes()).rows]


@pytest.mark.usefixtures("folder")
def test_a_torn_tail_is_told_and_then_cut(capsys: pytest.CaptureFixture[str]) -> None:
    set_point(10)
    torn_at = starts(SECOND)[-1]
    whole = Path(SECOND).read_bytes()
    Path(SECOND).write_bytes(whole[:-7])
    before = tree(Path("kafka"))
    code, (found,) = said(capsys, "kafka/orders-0")
    assert code == 1
    assert found["state"] == "to_do"
    assert found["end_offset"] == 13
    place = {"file": SECOND, "position": torn_at, "stop": "TORN"}
    assert found["cuts"] == [place | {"size_bytes": len(whole) - 7 - torn_at}]
    assert tree(Path("kafka")) == before, "nothing was confirmed"
    code, (_, done) = said(capsys, "--yes", "kafka/orders-0")
    assert (code, done["end_offset"]) == (1, 13)
    assert Path(SECOND).read_bytes() == whole[:torn_at]
    assert parse_offsets(Path(POINTS).read_bytes())[ORDERS] == 13
    assert not Path(MARK).exists(), "it would say that nothing was lost"
    assert main(["log", "verify", "--quiet", "kafka/orders-0"]) == 0
    code, (found,) = said(capsys, "kafka/orders-0")
    assert (code, found["state"]) == (0, "fine")


@pytest.mark.usefixtures("folder")
def test_corruption_below_the_recovery_point_is_told_and_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = starts(FIRST)[1]
    damage(FIRST, place + 70, b"\xff")
    before = tree(Path("kafka"))
    for words in ((), ("--yes",), ("--yes", "--from-recovery-point")):
        code, found = said(capsys, *words, "kafka/orders-0")
        if words[1:]:
            # A broker would not look so far back.
            assert (code, found[0]["state"]) == (0, "fine"), found
            continue
        assert code == 1
        assert [one["state"] for one in found] == ["corrupt"]
        assert (found[0]["file"], found[0]["position"], found[0]["offset"]) == (FIRST, place, 3)
        assert tree(Path("kafka")) == before


@pytest.mark.usefixtures("folder")
def test_what_is_cut_deliberately_is_kept_beside(capsys: pytest.CaptureFixture[str]) -> None:
    place = starts(FIRST)[1]
    damage(FIRST, place + 70, b"\xff")
    first, second = Path(FIRST).read_bytes(), Path(SECOND).read_bytes()
    before = tree(Path("kafka"))
    assert said(capsys, "--cut-corrupt", "kafka/orders-0")[0] == 1
    assert tree(Path("kafka")) == before
    code, (_, done) = said(capsys, "--yes", "--cut-corrupt", "kafka/orders-0")
    assert (code, done["end_offset"]) == (1, 3)
    assert done["kept"] == [f"{FIRST}.cut-{place}", f"{SECOND}.cut-0"]
    assert Path(FIRST).read_bytes() == first[:place]
    assert Path(f"{FIRST}.cut-{place}").read_bytes() == first[place:]
    assert Path(f"{SECOND}.cut-0").read_bytes() == second
    assert not Path(SECOND).exists()
    assert not Path(MARK).exists()
    assert parse_offsets(Path(POINTS).read_bytes())[ORDERS] == 3
    # The checkpoint of the high watermarks is the broker's, who lowers it when it starts.
    assert main(["log", "verify", "--quiet", "kafka/orders-0"]) == 0


def test_damage_that_good_batches_follow_is_no_torn_tail(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = tmp_path / "orders-3"
    write_orders(alone)
    log = alone / "00000000000000000000.log"
    for where in (0, 2):
        content = log.read_bytes()
        place = starts(str(log))[where]
        damage(str(log), place + 66, b"\xff\xff")
        code, (found,) = said(capsys, "--yes", str(alone))
        assert (code, found["state"], found["position"]) == (1, "corrupt", place)
        log.write_bytes(content)
    assert folder.exists()


def test_a_torn_tail_of_which_nothing_is_known_is_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = tmp_path / "orders-3"
    write_orders(alone)
    log = alone / "00000000000000000010.log"
    log.write_bytes(log.read_bytes() + bytes(100))
    code, (_, done) = said(capsys, "--yes", str(alone))
    assert (code, done["end_offset"], done["fault"]) == (1, 15, None)


@pytest.mark.usefixtures("folder")
def test_indexes_that_lie_are_made_anew(capsys: pytest.CaptureFixture[str]) -> None:
    good = tree(Path("kafka/orders-0"))
    for suffix in ("index", "timeindex", "txnindex"):
        path = Path(FIRST).with_suffix(f".{suffix}")
        if path.stat().st_size:
            damage(str(path), 0, b"\x7f" * 5)
        else:
            path.write_bytes(b"\x7f" * 24)
    Path("kafka/orders-0/00000000000000000010.index").unlink()
    code, found = said(capsys, "--yes", "kafka/orders-0")
    assert (code, [one.get("state") for one in found]) == (0, ["to_do", None])
    assert tree(Path("kafka/orders-0")) == good
    assert Path(MARK).exists(), "nothing was lost"


@pytest.mark.parametrize("kind", ["fcntl.flock", "fcntl.lockf"])
@pytest.mark.usefixtures("folder")
def test_a_directory_that_a_broker_has_is_refused(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ottla locks in one way, and Java in the other."""
    program = f"import fcntl,sys; f=open('kafka/.lock','r+'); {kind}(f,{int(fcntl.LOCK_EX)})"
    program += "; print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as broker:
        assert broker.stdout is not None
        broker.stdout.readline()
        for path in ("kafka", "kafka/orders-0"):
            assert main(["log", "recover", "--yes", path]) == 2
            assert "a broker has it" in capsys.readouterr().err
        broker.communicate()
    assert main(["log", "recover", "kafka"]) == 0


@pytest.mark.usefixtures("folder")
def test_a_mark_stays_if_nothing_was_cut() -> None:
    Path("kafka/orders-0/00000000000000000015.snapshot").unlink()
    assert main(["log", "recover", "--yes", "kafka"]) == 0
    assert Path("kafka/orders-0/00000000000000000015.snapshot").exists()
    assert Path(MARK).exists()
