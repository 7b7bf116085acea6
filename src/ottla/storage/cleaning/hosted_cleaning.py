"""The cleaning of one log of a node, as jobs that are done one after the other.

The owner of the log asks for a job, lets it run on any thread, and goes on when it has ended. What
is long is cut into pieces, so that no thread is held for as long as a log is large, and a cleaning
that is to end does so after the piece that is under way.

    make the map, fill it (pieces); then of each group:
    write it (pieces), say that it is whole (job),
    show it instead (owner), settle (job), give it its name (owner), settle (job)

Invariants
  I-HC-1  One job of a cleaning is under way at most, and what it touches is not part of the log.
  I-HC-2  While a swap is under way the log is not cut, moved, or robbed of segments by retention.
  I-HC-3  However a cleaning ends, files that did not become part of the log are removed, unless the
          disk does not even let that be; then a start removes them.
"""

from collections.abc import Generator, Sequence
from typing import Final, Protocol, TypeAlias

from ottla.kernels.compaction import OffsetMap
from ottla.kernels.faults import Malformed
from ottla.storage.cleaning.cleaner import Chosen, Cleaner
from ottla.storage.cleaning.cleaning import Cancelled, Cleaning, Work, discard
from ottla.storage.cleaning.plan import CleaningPlan
from ottla.storage.partition_files import Removal
from ottla.storage.replacement import Replacement
from ottla.storage.segment import Segment

PIECE_BYTES: Final = 1 << 20
"""So much is read and written before a job gives its thread back."""


class Uncleanable(OSError):
    """A log holds what no cleaning can be made of; it goes back the way that a disk's faults go."""


class CleaningJob(Protocol):
    """A step that may take long."""

    def run(self) -> None:
        """Do it, on any thread. Raises `OSError`."""
        ...


Steps: TypeAlias = Generator[CleaningJob]


class MakeMap:
    """The job that makes a map, since clearing so much memory takes its time."""

    def __init__(self, size: tuple[int, int], secret: bytes) -> None:
        self.keys: OffsetMap | None = None
        self._size = size
        self._secret = secret

    def run(self) -> None:
        """Do it."""
        map_bytes, keys_max = self._size
        self.keys = OffsetMap(bytearray(map_bytes), self._secret, keys_max)


class CleanPiece:
    """The job that does a piece of a cleaning's work."""

    def __init__(self, name: str, work: Work) -> None:
        self.size_bytes = 0
        self.is_last = False
        self.is_cancelled = False
        self._name = name
        self._work = work

    def run(self) -> None:
        """Do it. Raises `Uncleanable` too."""
        try:
            for size_bytes in self._work:
                self.size_bytes += size_bytes
                if self.size_bytes >= PIECE_BYTES:
                    return
        except Cancelled:
            self.is_cancelled = True
        except Malformed as fault:
            raise Uncleanable(f"{self._name} cannot be cleaned: {fault}") from fault
        self.is_last = True


class StageSwap:
    """The job that says of new segments that they are whole."""

    def __init__(self, replacement: Replacement) -> None:
        self._replacement = replacement

    def run(self) -> None:
        """Do it."""
        self._replacement.stage()


class SettleSwap:
    """The job that brings the names of a folder to the device."""

    def __init__(self, replacement: Replacement) -> None:
        self._replacement = replacement

    def run(self) -> None:
        """Do it."""
        self._replacement.settle()


class HostedCleaning:
    """One cleaning of one log; all but the jobs is on the log's thread."""

    def __init__(
        self, cleaner: Cleaner, chosen: Chosen, plan: CleaningPlan, make_map: MakeMap
    ) -> None:
        self.hosted = chosen.hosted
        self.chosen = chosen
        self.is_swapping = False
        self.is_over = False
        self.has_failed = False
        """Is the next job the one that has failed, which may wait a while?"""
        self.due_ms = 0
        """When the next job may begin."""
        self.is_whole = False
        """Did it swap its last group?"""
        self.cleaning: Cleaning | None = None
        self.removals = list[Removal]()
        """What is to be removed when its readers are done."""
        self.job: CleaningJob = make_map
        """The next one, or the one that is under way."""
        self._is_cancelled = self._is_exchanging = self._is_lost = False
        self._new: Segment | None = None
        """What was written, and is no part of the log yet, or the log does not name it yet."""
        self._replacement: Replacement | None = None
        self._cleaner = cleaner
        self._plan = plan
        self._steps = self._take_steps(make_map)
        next(self._steps)
        self.hosted.cleaning = self

    @property
    def is_cancelled(self) -> bool:
        """Is it to end?"""
        return self._is_cancelled or (self.cleaning is not None and self.cleaning.is_cancelled)

    @property
    def is_stuck(self) -> bool:
        """Did it end in the midst of a swap? Then the next start finishes that."""
        return self.is_over and self._is_exchanging

    def cancel(self) -> None:
        """Let it end without another swap."""
        self._is_cancelled = True
        if self.cleaning is not None:
            self.cleaning.cancel()

    def lose(self) -> None:
        """Let the log go, which is no longer served here; not even a swap is finished."""
        self._is_lost = True
        self.cancel()

    def go_on(self, fault: OSError | None) -> None:
        """Hear that the job has ended. Raises the fault, `Cancelled`, and `OSError`."""
        self.is_over = True
        self.has_failed = False
        try:
            self.job = next(self._steps) if fault is None else self._steps.throw(fault)
            self.is_over = False
        except StopIteration:
            self.is_whole = True
        finally:
            if self.is_over and (self._is_lost or not self._is_exchanging):
                self.hosted.cleaning = None
                self._undo()

    def close(self) -> None:
        """End at once, while no job runs: a swap that was begun is finished. Raises `OSError`."""
        self.is_over = True
        self.hosted.cleaning = None
        new, replacement = self._new, self._replacement
        if not self._is_exchanging or new is None or replacement is None:
            self._undo()
            return
        replacement.settle()
        if new.suffix:
            replacement.finish()
            replacement.settle()

    def _undo(self) -> None:
        """Remove what did not become part of the log."""
        self.is_swapping = False
        if self.cleaning is not None:
            self.cleaning.discard_unfinished()
        if self._new is not None and not self._is_exchanging:
            discard(self._new)

    def _take_steps(self, make_map: MakeMap) -> Steps:
        yield make_map
        assert make_map.keys is not None, "it was made"
        if self._cleaner.is_paused(self.hosted.partition):
            raise Cancelled
        self._check()
        self.cleaning = cleaning = Cleaning(self._plan, make_map.keys)
        self._cleaner.begin(self.chosen, cleaning)
        yield from self._do(cleaning.filling())
        for group in cleaning.groups:
            self._check()
            yield from self._do(cleaning.writing(group))
            assert cleaning.written is not None, "the work is done"
            yield from self._swap(group, cleaning.written)

    def _do(self, work: Work) -> Steps:
        is_done = False
        while not is_done:
            self._check()
            piece = CleanPiece(self._plan.files.folder, work)
            yield piece
            if piece.is_cancelled:
                raise Cancelled
            is_done = piece.is_last

    def _check(self) -> None:
        if self.is_cancelled:
            raise Cancelled

    def _swap(self, group: Sequence[Segment], new: Segment) -> Steps:
        self._new = new
        log = self.hosted.log
        if self.is_cancelled or not all(segment in log.segments for segment in group):
            raise Cancelled
        self._replacement = replacement = Replacement(log, [new], group)
        self.is_swapping = True
        yield StageSwap(replacement)
        self._check()
        self._is_exchanging = True
        self.removals.append(replacement.exchange())
        yield from self._settle(replacement)
        while new.suffix:
            try:
                replacement.finish()
            except OSError:
                self.has_failed = True
                yield from self._settle(replacement)
        yield from self._settle(replacement)
        self.is_swapping = self._is_exchanging = False
        self._new = None

    def _settle(self, replacement: Replacement) -> Steps:
        """Try until it is done, unless the log is lost."""
        is_settled = False
        while not is_settled:
            try:
                yield SettleSwap(replacement)
                is_settled = True
            except OSError:
                if self._is_lost or not self.hosted.directory.is_live:
                    raise
                self.has_failed = True
            if self._is_lost:
                raise Cancelled
