"""Run operations on a simulated disk, and after each call open every legal crash image of it.

Between two calls that change nothing the images are the same, so they are listed once. Many images
come more than once, at other points and in other workloads: what opening one gives depends on it
alone, so it is opened once and what was seen is held against each line that there may be. Contents
that no start reads, those of files that are only removed, make no difference (a test holds that).
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random

from ottla.records.builder import BatchOptions, write_batch
from ottla.records.scan import scan
from ottla.sim.crash import CrashModel
from ottla.sim.disk import SimulatedDisk
from ottla.storage.file_names import PARTITION_METADATA
from ottla.storage.partition_folders import create_current
from tests.crashes.node import PATHS, Node
from tests.crashes.operations import Start, World
from tests.crashes.written import Line, Seen, see, why_none
from tests.unit.records.samples import T
from tests.unit.storage.log_directories import ORDERS, TOPIC_ID, format_all

UNREAD = (".tmp", ".deleted")
CHANGING = frozenset(
    {
        "open",
        "make-folder",
        "rename",
        "remove",
        "sync-folder",
        "lock",
        "write",
        "truncate",
        "allocate",
        "sync",
    }
)


@dataclass
class Counts:
    """How much was looked at."""

    workloads: int = 0
    points: int = 0
    images: int = 0
    opened: int = 0
    drawn: int = 0
    """Points with more images than are listed, of which some were drawn by chance."""


@dataclass
class Explorer:
    """What was found of images so far."""

    start: Start
    model: CrashModel
    images_max: int = 20_000
    counts: Counts = field(default_factory=Counts)
    _seen: dict[bytes, Seen] = field(default_factory=dict[bytes, Seen])
    _settled: set[bytes] = field(default_factory=set[bytes])
    _values: dict[Seen, Seen] = field(default_factory=dict[Seen, Seen])

    def explore(self, workload: Sequence[str]) -> None:
        """Check every image after each call of the last operation of a workload.

        Those of the others are checked by the shorter workloads.
        """
        self.counts.workloads += 1
        hook = _Hook(self)
        world = begun(self.start, hook.called)
        for name in workload[:-1]:
            world.run(name)
        hook.begin(world, " ".join((self.start.name, "|", *workload)))
        for name in workload[-1:]:
            world.run(name)
        hook.end()

    def check(self, world: World, where: str) -> None:
        """Open every image of a disk as it is now."""
        disk = world.disk
        self.counts.points += 1
        count = disk.count_crash_images(self.model, self.images_max, unread)
        self.counts.drawn += count > self.images_max
        lines = world.lines
        known: set[Seen] = set()
        for key, make in disk.crash_states(self.model, self.images_max, unread=unread):
            self.counts.images += 1
            seen = self._seen.get(key)
            if seen is None:
                seen = self._seen[key] = self._opened(make(), where)
            if seen not in known:
                known.add(seen)
                reason = why_none(lines, seen)
                assert not reason, f"{where}: {reason}\n{_listed(make())}"

    def _opened(self, image: SimulatedDisk, where: str) -> Seen:
        self.counts.opened += 1
        before = _listed(image)
        try:
            seen = self._open(image)
        except Exception as fault:
            fault.add_note(f"{where}\n{before}")
            raise
        return self._values.setdefault(seen, seen)

    def _open(self, image: SimulatedDisk) -> Seen:
        node = Node(image, self.start.options)
        seen = see(node.log)
        image.end_process()
        if node.was_clean:
            # Only a start that looks at the batches leaves files as every later one does.
            assert see(Node(image, self.start.options).log) == seen, "opened again it is another"
            image.end_process()
        key = key_of(image)
        if key not in self._settled:
            self._settled.add(key)
            self._check_settled(image, seen)
        return seen

    def _check_settled(self, image: SimulatedDisk, seen: Seen) -> None:
        """Opening again changes nothing, and the log can be appended to and flushed."""
        before = image.contents()
        node = Node(image, self.start.options)
        assert see(node.log) == seen, "opened again it is another"
        after = image.contents()
        changed = [p for p in before.keys() | after.keys() if before.get(p) != after.get(p)]
        assert not changed, f"opening again changed {sorted(changed)}"
        data = bytes(
            write_batch(
                [(seen.end, T, b"k", b"after", ())],
                BatchOptions(base_offset=seen.end, partition_leader_epoch=99),
            )
        )
        row = scan(data).rows[0]
        node.append([(data, [row])])
        node.log.flush(T)
        node.checkpoint()
        line = Line((), seen.start, seen.start, seen.end + 1, seen.end + 1)
        cut_off = next(iter(image.crash_images(CrashModel.ORDERED)))
        found = see(Node(cut_off, self.start.options).log)
        assert (found.start, found.end) == (line.start_min, line.end), "what was flushed is gone"
        assert found.data == seen.data + data, "what was flushed is gone"


def begun(start: Start, record: Callable[[str], None]) -> World:
    """A world as operations find it."""
    disk = SimulatedDisk(lambda: T, Random(0), record=record)
    format_all(disk, PATHS)
    create_current(disk, PATHS[0], ORDERS, TOPIC_ID)
    world = World(disk, start)
    for name in start.begun:
        world.run(name)
    return world


class _Hook:
    """Hears of every call before it is done."""

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer
        self._world: World | None = None
        self._where = ""
        self._last = ""
        self._is_changed = False

    def begin(self, world: World, where: str) -> None:
        self._world, self._where = world, where
        self._is_changed = True

    def called(self, line: str) -> None:
        self._check(line)
        self._last = line
        self._is_changed = line.split(" ", 1)[0] in CHANGING

    def end(self) -> None:
        self._check("the end")
        self._world = None

    def _check(self, line: str) -> None:
        if self._world is not None and self._is_changed:
            self._explorer.check(self._world, f"{self._where}: after {self._last}, before {line}")
            self._is_changed = False


def unread(paths: Collection[str]) -> list[str]:
    """The files that a start removes without a look: left over, let go, or of a copy of no use."""
    is_current = "/a/orders-0" in paths or "/b/orders-0" in paths
    return [
        path
        for path in paths
        if path.endswith(UNREAD)
        or "-delete/" in path
        or (is_current and "-future/" in path and not path.endswith(PARTITION_METADATA))
    ]


def key_of(image: SimulatedDisk) -> bytes:
    """The same for images that no start tells apart."""
    digest = blake2b(digest_size=16)
    contents = image.contents()
    ignored = set(unread(contents))
    for path, content in contents.items():
        shown = b"" if content is None or path in ignored else content
        digest.update(f"{path} {len(shown)} {content is None}\n".encode())
        digest.update(shown)
    return digest.digest()


def _listed(image: SimulatedDisk) -> str:
    return "\n".join(
        f"  {path} {'' if content is None else len(content)}"
        for path, content in image.contents().items()
    )
