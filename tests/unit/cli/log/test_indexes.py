"""Indexes say where to begin; one that lies costs time and no record."""

from pathlib import Path

import pytest

from ottla.cli.log.conditions import Window
from ottla.cli.log.files import LogFile, find_files
from ottla.cli.log.indexes import Entries, start_position
from ottla.cli.log.reading import read_batches, within
from ottla.cli.progress import Progress
from ottla.ports import File
from ottla.runtime.disk import SystemDisk
from ottla.storage.offset_index import LAYOUT
from tests.unit.cli.log_directory import Segment, T, plain

BASE = 1000
BATCHES = [plain(BASE + 2 * number, 2) for number in range(300)]
STARTS = [sum(map(len, BATCHES[:number])) for number in range(len(BATCHES))]


class CountingDisk(SystemDisk):
    """Counts the bytes of the log file that are read."""

    __slots__ = ("read_bytes",)

    def __init__(self) -> None:
        self.read_bytes = 0

    def open(self, path: str, *, create: bool = False, read_only: bool = False) -> File:
        file = super().open(path, create=create, read_only=read_only)
        assert read_only
        assert not create
        return _Counting(self, file) if path.endswith(".log") else file


class _Counting:
    def __init__(self, disk: CountingDisk, file: File) -> None:
        self._disk = disk
        self._file = file

    def read(self, position: int, count: int) -> bytes:
        data = self._file.read(position, count)
        self._disk.read_bytes += len(data)
        return data

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)


@pytest.fixture
def log(tmp_path: Path) -> LogFile:
    Segment(BASE, BATCHES).write(tmp_path)
    return next(f for f in find_files(SystemDisk(), [str(tmp_path)]) if f.path.endswith(".log"))


@pytest.mark.parametrize("offset", [BASE, BASE + 7, BASE + 300, BASE + 599, BASE + 5000])
def test_an_offset_is_found_a_few_batches_on(log: LogFile, offset: int) -> None:
    position = start_position(SystemDisk(), log, Window(offset_first=offset))
    number = STARTS.index(position)
    wanted = min((offset - BASE) // 2, len(BATCHES) - 1)
    assert number <= wanted < number + 4


def test_a_time_is_found_a_few_batches_on(log: LogFile) -> None:
    window = Window(from_ms=T + (BASE + 400) * 1000)
    number = STARTS.index(start_position(SystemDisk(), log, window))
    assert number <= 200 < number + 5


def test_only_the_part_that_is_asked_for_is_read(
    log: LogFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ottla.cli.log.batches.RUN_BYTES", 2000)
    disk = CountingDisk()
    window = Window(BASE + 500, BASE + 503)
    found = list(read_batches(disk, log, window, Progress(None, 0)))
    assert [one.position for one in found] == STARTS[250:252]
    assert disk.read_bytes < 5000 < log.size_bytes / 5


@pytest.mark.parametrize(
    "entry", [(400, 3), (400, -1), (400, 10**6), (1, STARTS[250]), (400, STARTS[250])]
)
def test_an_index_that_lies_hides_nothing(log: LogFile, entry: tuple[int, int]) -> None:
    path = Path(log.path).with_suffix(".index")
    path.write_bytes(LAYOUT.pack(*entry))
    found = list(read_batches(SystemDisk(), log, Window(BASE + 400, BASE + 401), Progress(None, 0)))
    assert [one.position for one in found] == STARTS[200:201]


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_without_an_index_all_is_read(log: LogFile, suffix: str) -> None:
    Path(log.path).with_suffix(suffix).unlink()
    window = Window(from_ms=T + (BASE + 400) * 1000)
    assert start_position(SystemDisk(), log, window) == 0


def test_segments_that_cannot_hold_an_offset_are_left_out(tmp_path: Path) -> None:
    for base_offset in (0, 10, 20):
        Segment(base_offset, [plain(base_offset, 10)]).write(tmp_path)
    files = [f for f in find_files(SystemDisk(), [str(tmp_path)]) if f.path.endswith(".log")]
    chosen = [
        [file.base_offset for file in within(files, Window(*window))]
        for window in ((0, 9), (9, 10), (25, 99), (0, 99), (30, 40))
    ]
    assert chosen == [[0], [0, 10], [20], [0, 10, 20], [20]]


@pytest.mark.parametrize(("zeros", "left_over"), [(0, 0), (8, 0), (1 << 20, 0), (16, 3)])
def test_zeros_at_the_end_are_no_entries(tmp_path: Path, zeros: int, left_over: int) -> None:
    path = tmp_path / "index"
    path.write_bytes(LAYOUT.pack(5, 256) + LAYOUT.pack(9, 1 << 24) + bytes(zeros + left_over))
    file = SystemDisk().open(str(path), read_only=True)
    entries = Entries(file, LAYOUT)
    assert list(entries) == [(5, 256), (9, 1 << 24)]
    assert entries.left_over_bytes == left_over
    file.close()
