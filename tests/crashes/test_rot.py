"""Files that rot: whatever bit is flipped, what is read is right, or an error says so.

A batch whose checksum is wrong is an error at its reader. Outside of every checksum lie a batch's
base offset and leader epoch; a change there, and nothing else, may pass for another batch.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

import pytest

from ottla.kernels.faults import Malformed
from ottla.records.batch import checksum
from ottla.records.scan import scan
from ottla.sim.crash import CrashModel
from ottla.sim.disk import SimulatedDisk
from ottla.storage.directory_faults import DirectoryRefused
from ottla.storage.entries import LyingIndex
from ottla.storage.log import Log
from tests.crashes.explorer import begun
from tests.crashes.node import Node
from tests.crashes.operations import STARTS, World
from tests.crashes.written import Seen, producers_of

SETTLED: Final = next(start for start in STARTS if start.name == "settled")
FOLDER: Final = "/a/orders-0/"
FIRST: Final = FOLDER + "00000000000000000000"
LAST: Final = FOLDER + "00000000000000000004"
BASE_OFFSET_AND_EPOCH: Final = (*range(8), *range(12, 16))
FIRST_OFFSET: Final = range(10, 18)
GUARDED: Final = [
    *(FIRST + suffix for suffix in (".index", ".timeindex")),
    *(LAST + suffix for suffix in (".index", ".timeindex", ".txnindex", ".snapshot")),
]
TEXTS: Final = [
    FOLDER + "partition.metadata",
    FOLDER + "leader-epoch-checkpoint",
    "/a/meta.properties",
    "/a/recovery-point-offset-checkpoint",
    "/a/log-start-offset-checkpoint",
    "/a/replication-offset-checkpoint",
    "/a/.kafka_cleanshutdown",
]


class Rotten:
    """A directory after a clean stop or a kill, to be started with one file changed."""

    def __init__(self, *, is_clean: bool) -> None:
        world = begun(SETTLED, lambda _: None)
        self.right = read(world.node.log)
        if is_clean:
            world.node.stop()
        world.disk.end_process()
        self.world: World = world
        self.files = {p: c for p, c in world.disk.contents().items() if c is not None}
        self.batches = {one.row.base_offset: one.data for one in world.line.batches}

    def started(self, path: str, content: bytes) -> Log | None:
        """The log, if a start does not refuse it by name."""
        image = next(iter(self.world.disk.crash_images(CrashModel.ORDERED)))
        write(image, path, content)
        try:
            return Node(image).log
        except (Malformed, DirectoryRefused):
            return None

    def wrong(self, log: Log) -> str:
        """What the log gives that is wrong and does not show it."""
        try:
            seen = read(log)
        except Malformed:
            return ""
        found: list[int] = []
        for row in scan(seen.data).rows:
            data = seen.data[row.position : row.position + row.size_bytes]
            if checksum(data) != row.crc:
                continue
            if self.batches.get(row.base_offset) != data:
                return f"another batch at {row.base_offset}"
            found.append(row.base_offset)
        if found != sorted(found):
            return "batches in another order"
        return "" if set(seen.aborted) <= set(self.right.aborted) else f"aborted {seen.aborted}"


def read(log: Log) -> Seen:
    """All that a reader gets, as far as he can tell that it goes on."""
    data, offset = bytearray(), log.log_start_offset
    while offset <= log.end_offset:
        found = log.read(offset, 1 << 20, log.end_place)
        if found is None:
            break
        part = found.file.read(found.position, found.size_bytes)
        rows = scan(part).rows
        if not rows or rows[-1].last_offset < offset:
            break
        data += part[: rows[-1].position + rows[-1].size_bytes]
        offset = rows[-1].last_offset + 1
    aborted = tuple(log.aborted(log.log_start_offset, log.end_offset))
    history = log.history
    epochs = tuple((epoch, first) for epoch, first in history.epochs())
    producers = producers_of(history)
    return Seen(log.log_start_offset, log.end_offset, bytes(data), epochs, producers, aborted)


def write(disk: SimulatedDisk, path: str, content: bytes) -> None:
    file = disk.open(path)
    file.truncate(0)
    file.write([content], 0)
    file.close()


def flipped(content: bytes) -> Iterator[tuple[int, bytes]]:
    """One bit of every byte, another one each time."""
    for at in range(len(content)):
        changed = bytearray(content)
        changed[at] ^= 1 << (at % 8)
        yield at, bytes(changed)


def cut(content: bytes) -> Iterator[tuple[int, bytes]]:
    for end in range(len(content)):
        yield end, content[:end]


def zeroed(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Blocks that are zeros, or another's."""
    blocks = [content[at : at + 64] for at in range(0, len(content), 64)]
    for number, block in enumerate(blocks):
        other = blocks[(number + 1) % len(blocks)][: len(block)].ljust(len(block), b"\0")
        for new in (bytes(len(block)), other):
            changed = b"".join([*blocks[:number], new, *blocks[number + 1 :]])
            if changed != content:
                yield number * 64, changed


CHANGES: Final = {"flipped": flipped, "cut": cut, "zeroed": zeroed}
Change = Callable[[bytes], Iterator[tuple[int, bytes]]]


@pytest.mark.parametrize("is_clean", [True, False], ids=["clean", "killed"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("path", GUARDED, ids=lambda path: path.split("/")[-1])
def test_what_can_be_made_anew_is(path: str, change: Change, *, is_clean: bool) -> None:
    """An index or a snapshot that lies has no say: all is as if it did not."""
    rotten = Rotten(is_clean=is_clean)
    # Those of the active segment are not there before it is rolled or closed.
    for at, content in change(rotten.files.get(path, b"")):
        log = rotten.started(path, content)
        assert log is not None, at
        if path.endswith(".txnindex") and content:
            with suppress(LyingIndex):
                aborted = read(log).aborted
                # Where a transaction begins is not looked for in an earlier segment.
                is_unguarded = change is flipped and at in FIRST_OFFSET
                assert aborted == rotten.right.aborted or is_unguarded, at
        elif path.endswith(".txnindex"):
            assert read(log).data == rotten.right.data
        else:
            assert read(log) == rotten.right, at


@pytest.mark.parametrize("is_clean", [True, False], ids=["clean", "killed"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("path", [FIRST, LAST], ids=["first", "last"])
def test_a_batch_that_changed_is_noticed(path: str, change: Change, *, is_clean: bool) -> None:
    rotten = Rotten(is_clean=is_clean)
    content = rotten.files[path + ".log"]
    places = [(row.position, row.size_bytes) for row in scan(content).rows]
    for at, changed in change(content):
        log = rotten.started(path + ".log", changed)
        why = "" if log is None else rotten.wrong(log)
        start = max(position for position, _ in places if position <= at)
        is_unguarded = change is flipped and at - start in BASE_OFFSET_AND_EPOCH
        assert not why or is_unguarded or change is zeroed, f"{at}: {why}"


@pytest.mark.parametrize("is_clean", [True, False], ids=["clean", "killed"])
@pytest.mark.parametrize("change", [flipped, cut], ids=["flipped", "cut"])
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.split("/")[-1])
def test_a_text_that_changed_gives_no_wrong_bytes(
    path: str, change: Change, *, is_clean: bool
) -> None:
    rotten = Rotten(is_clean=is_clean)
    for at, content in change(rotten.files.get(path, b"")):
        log = rotten.started(path, content)
        if log is not None:
            assert not (why := rotten.wrong(log)), f"{at}: {why}"
