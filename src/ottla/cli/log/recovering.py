"""Carry out `ottla log recover`: look at every partition without a change, tell, ask, then do it.

What would be done is found by doing it over a disk that keeps changes in memory, so that what is
told and what is done come from the same code.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from typing import Final, TypeVar

from ottla.broker.partition_history import PartitionHistory
from ottla.cli import EXIT_FINE, EXIT_FOUND
from ottla.cli.log.batches import Batch, Batches
from ottla.cli.log.examined import Examined, Repaired
from ottla.cli.log.overlay_disk import OverlayDisk
from ottla.cli.log.recover import RecoverArguments
from ottla.cli.log.recovery_targets import Target, find_targets, lock_roots
from ottla.cli.log.recovery_told import Told, tell, tell_done
from ottla.cli.terminal import Terminal
from ottla.kernels.faults import Malformed
from ottla.ports import Disk
from ottla.runtime.disk import SystemDisk
from ottla.storage.checkpoints import format_offsets
from ottla.storage.deliberate_cut import cut_deliberately
from ottla.storage.file_names import CLEAN_SHUTDOWN, RECOVERY_POINTS
from ottla.storage.handles import Handles
from ottla.storage.log_options import LogOptions
from ottla.storage.recovery import Corrupt, Findings, Opening, open_log
from ottla.storage.small_files import remove_file, replace_file

_FILES_MAX: Final = 200
_EVERY_SECONDS: Final = 0.1
_Result = TypeVar("_Result")
_OFFSET_MAX: Final = 2**63 - 1
_LONG_AGO_MS: Final = 0
"""The time of the opening: no producer is too old then, so a second run finds the same."""


def recover(typed: RecoverArguments, terminal: Terminal) -> int:
    """Do what was asked for, and give the exit code."""
    disk = SystemDisk()
    with ExitStack() as until_done:
        targets = find_targets(disk, typed.paths, typed.topic)
        lock_roots(disk, targets, until_done)
        run = _Run(disk, typed, terminal)
        examined = run.examine(targets)
        told = Told(terminal, is_json=typed.json)
        for one in examined:
            tell(told, one, cuts_corrupt=typed.cut_corrupt)
        is_bad = any(one.corrupt or one.fault or one.findings.cuts for one in examined)
        wanted = [one for one in examined if one.is_to_be_done or run.cuts(one)]
        if wanted and run.may_go_on(wanted):
            done = run.repair(wanted)
            for repaired in done:
                tell_done(told, repaired)
            is_bad = is_bad or any(repaired.fault for repaired in done)
        elif wanted:
            terminal.note("nothing was changed; --yes does it")
        elif not is_bad:
            terminal.note("there is nothing to do")
    return EXIT_FOUND if is_bad else EXIT_FINE


class _Run:
    """One run of the verb."""

    def __init__(self, disk: Disk, typed: RecoverArguments, terminal: Terminal) -> None:
        self._disk = disk
        self._typed = typed
        self._terminal = terminal

    def cuts(self, one: Examined) -> bool:
        """Is a corrupt log to be cut?"""
        return one.corrupt is not None and self._typed.cut_corrupt

    def may_go_on(self, wanted: Sequence[Examined]) -> bool:
        """Is it wanted? Asked only where a person reads and types."""
        if self._typed.yes or self._typed.dry_run or self._typed.json:
            return self._typed.yes
        if not (self._terminal.is_interactive and sys.stdin.isatty()):
            return False
        self._terminal.say(f"Change the files of {len(wanted)} partitions as told? [y/N]")
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def examine(self, targets: Sequence[Target]) -> list[Examined]:
        """Look at all partitions."""
        found = [Examined(target) for target in targets]
        total = sum(target.size_bytes for target in targets)
        self._all(self._examine, found, lambda: sum(one.checked_bytes for one in found), total)
        return found

    def repair(self, wanted: Sequence[Examined]) -> list[Repaired]:
        """Do what was told, then let the checkpoints say so."""
        total = sum(one.target.size_bytes for one in wanted)
        for one in wanted:
            one.checked_bytes = 0
        done = self._all(self._repair, wanted, lambda: sum(o.checked_bytes for o in wanted), total)
        for root in dict.fromkeys(one.target.root for one in done if one.fault is None):
            if not root.is_log_directory:
                continue
            mine = [one for one in done if one.target.root is root and one.fault is None]
            # A mark would say that nothing was lost, and the next start would look at nothing.
            if any(one.is_cut for one in mine) and self._disk.status(root.mark_path) is not None:
                remove_file(self._disk, root.mark_path)
                self._terminal.note(f"{root.path}: {CLEAN_SHUTDOWN} was removed")
            points = root.recovery_points | {one.target.partition: one.end_offset for one in mine}
            replace_file(self._disk, f"{root.path}/{RECOVERY_POINTS}", format_offsets(points))
        return done

    def _all(
        self,
        work: Callable[[Examined], _Result],
        items: Iterable[Examined],
        done_bytes: Callable[[], int],
        total_bytes: int,
    ) -> list[_Result]:
        """Work on all of them on some threads, and show how far it is."""
        shown = 0
        with (
            self._terminal.progress(total_bytes) as progress,
            ThreadPoolExecutor(self._typed.threads) as threads,
        ):
            futures = [threads.submit(work, item) for item in items]
            waiting = set(futures)
            while waiting:
                _, waiting = wait(waiting, _EVERY_SECONDS, FIRST_COMPLETED)
                progress.advance(done_bytes() - shown)
                shown = done_bytes()
        return [future.result() for future in futures]

    def _examine(self, one: Examined) -> None:
        target = one.target
        try:
            one.recovery_point = target.recovery_point or 0
            self._look(one)
            if one.findings.cuts and target.recovery_point is None and self._is_followed(one):
                # Nobody says what was on the device; but a torn tail is the end of a log.
                one.recovery_point = _OFFSET_MAX
                self._look(one)
        except Corrupt as fault:
            one.corrupt = fault
        except (Malformed, OSError) as fault:
            one.fault = fault

    def _look(self, one: Examined) -> None:
        """Recover a log, and change nothing."""
        one.checked_bytes = 0
        overlay = OverlayDisk(self._disk)
        one.bounds, one.findings = self._recovered(overlay, one)
        one.changes = overlay.changes()

    def _recovered(self, disk: Disk, one: Examined) -> tuple[tuple[int, int], Findings]:
        def note(count_bytes: int) -> None:
            one.checked_bytes = min(one.checked_bytes + count_bytes, one.target.size_bytes)

        checked_from = 0
        if self._typed.from_recovery_point:
            checked_from = one.target.recovery_point or 0
        opening = Opening(
            _LONG_AGO_MS,
            is_clean=False,
            log_start_offset=one.target.log_start_offset,
            recovery_point=one.recovery_point,
            checked_from=checked_from,
            progress=note,
        )
        handles = Handles(disk, _FILES_MAX)
        path = one.target.path
        log, findings = open_log(handles, path, LogOptions(), PartitionHistory(), opening)
        log.close(opening.now_ms)
        return (log.log_start_offset, log.end_offset), findings

    def _is_followed(self, one: Examined) -> bool:
        """Is there a good batch behind the place where a log would be cut?"""
        cut = one.findings.cuts[0]
        if any(self._size(f"{one.target.path}/{name}") for name in one.findings.removed):
            return True
        with closing(self._disk.open(cut.path, read_only=True)) as file:
            behind = Batches(file, cut.position, file.size(), None)
            return any(isinstance(found, Batch) and not found.faults for found in behind)

    def _size(self, path: str) -> int:
        status = self._disk.status(path)
        return 0 if status is None else status.size_bytes

    def _repair(self, one: Examined) -> Repaired:
        done = Repaired(one.target, is_cut=bool(one.findings.cuts))
        try:
            if one.corrupt is not None:
                path, position = one.corrupt.place, one.corrupt.position
                done.kept, done.is_cut = cut_deliberately(self._disk, path, position), True
                one.recovery_point = min(one.recovery_point, one.corrupt.offset)
            bounds, _ = self._recovered(self._disk, one)
            done.end_offset = bounds[1]
        except (Malformed, OSError) as fault:
            done.fault = fault
        return done
