"""The metadata quorum in a node: what its machine wants is done, and what came of that is told.

Writes that wait for a device are jobs, whose ends are the machine's events. The node is told who
leads and what is committed.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Final

from ottla.api.control_records import KRaftVersionRecord, QuorumRecord
from ottla.api.framed_records import write_framed
from ottla.broker.effects import Notice, Run
from ottla.broker.quorum_files import ElectionWrite, Versioned, read_bootstrap, read_election
from ottla.broker.quorum_log import FOLDER, MetadataLog, Retention, open_metadata_log
from ottla.config import quorum as rows
from ottla.core.metadata.image import snapshot
from ottla.core.metadata.levels import record_version
from ottla.core.metadata.snapshots import SnapshotRule
from ottla.core.quorum import effects as wanted
from ottla.core.quorum import events as told
from ottla.core.quorum.machine import Quorum
from ottla.core.quorum.options import QuorumOptions
from ottla.core.quorum.voters import Endpoint, ReplicaKey, Voter, VoterSet
from ottla.storage.directory_faults import DirectoryRefused
from ottla.storage.handles import Handles
from ottla.storage.log_options import LogOptions
from ottla.storage.metadata_snapshots import SnapshotContent

if TYPE_CHECKING:
    from collections.abc import Callable

    from ottla.broker.committed import Committed
    from ottla.broker.events import Job, JobEnded
    from ottla.broker.node import Node
    from ottla.storage.directory import Directory

LISTENER: Final = "CONTROLLER"
FILES_MAX: Final = 8


class OtherVoters(DirectoryRefused):
    """The metadata log of a directory is that of a cluster of several."""


class MetadataQuorum:
    """One voter, alone."""

    def __init__(self, node: Node, directory: Directory) -> None:
        """Open the metadata log in its directory. Raises `Corrupt` and `OtherVoters`."""
        self._node = node
        self._disk, path = directory.disk, directory.path
        self._folder = f"{path}/{FOLDER}"
        if self._disk.status(self._folder) is None:
            self._disk.make_folder(self._folder)
            self._disk.sync_folder(path)
        settings = node.settings
        options = LogOptions(
            is_deleted=False,
            segment_bytes=settings[rows.METADATA_LOG_SEGMENT_BYTES],
            segment_ms=settings[rows.METADATA_LOG_SEGMENT_MS],
        )
        handles = Handles(self._disk, FILES_MAX)
        self.log: MetadataLog
        self.log, findings = open_metadata_log(
            handles, self._folder, lambda: node.clock.wall_ms, options
        )
        for cut in findings.cuts:
            node.effects.append(Notice("log-cut", cut.path, f"{cut.size_bytes} bytes"))
        self.bootstrap: list[Versioned] = read_bootstrap(self._disk, path)
        key = ReplicaKey(node.identity.node_id, node.directory_id(directory))
        own = Voter(key, (Endpoint(LISTENER, *node.identity.controller),))
        self.machine = Quorum(
            QuorumOptions(
                key=key,
                cluster_id=node.identity.cluster_id,
                listener=LISTENER,
                endpoints=own.endpoints,
                static_voters=VoterSet([own]),
            ),
            self.log,
            node.chance,
            read_election(self._disk, self._folder),
            self._now(),
        )
        voters = self.machine.history.voters
        if not voters.has_only(key):
            reason = f"its metadata log has the voters {[*voters.ids]}, and a node is one alone"
            raise OtherVoters(reason, path)
        self._rule = SnapshotRule(
            settings[rows.METADATA_LOG_MAX_RECORD_BYTES_BETWEEN_SNAPSHOTS],
            settings[rows.METADATA_LOG_MAX_SNAPSHOT_INTERVAL_MS],
            node.clock.now_ms,
        )
        self._retention = Retention(
            settings[rows.METADATA_MAX_RETENTION_BYTES], settings[rows.METADATA_MAX_RETENTION_MS]
        )
        self._is_snapshooting = False
        self._has_failed = False
        # What is to be done when a job of the quorum has run, by the job's id.
        self._jobs: dict[int, tuple[Job, Callable[[], None]]] = {}
        self._effects: deque[wanted.Effect] = deque()
        self._is_working = False

    @property
    def kraft_version(self) -> int:
        """The level of the quorum's protocol."""
        return self.machine.history.kraft_version

    @property
    def is_idle(self) -> bool:
        """Is no job of its own under way?"""
        return not self._jobs

    def next_deadline_ms(self) -> int:
        """When it is to be ticked at the latest."""
        return self.machine.next_deadline_ms()

    def tick(self) -> None:
        """Tell the time."""
        self._step(self._now())

    def append(self, values: list[bytes]) -> int | None:
        """Append framed records as one batch; give the first offset, None if not leading."""
        self.tick()
        appended = self.machine.append(self.machine.epoch, values)
        if appended is None:
            return None
        self._do(appended.effects)
        return appended.base_offset

    def ended(self, event: JobEnded) -> bool:
        """Take note of a job that has run, if it was one of the quorum's."""
        found = self._jobs.pop(id(event.job), None)
        if found is None:
            return False
        if event.fault is not None:
            self._fail(event.fault)
        elif not self._has_failed:
            found[1]()
        return True

    def close(self) -> None:
        """Close the log; all that counts of it is on the device already."""
        self.log.log.abandon()

    def snapshot_if_due(self, committed: Committed, replayed_bytes: int) -> None:
        """Write what is committed as a snapshot, if it is time for one."""
        self._rule.add(replayed_bytes)
        now_ms = self._node.clock.now_ms
        is_ready = not self._is_snapshooting and not committed.image.is_in_transaction
        if not is_ready or not self._rule.is_due(now_ms):
            return
        level = committed.image.features.level
        records, _ = snapshot(committed.image)
        values = [write_framed(record, record_version(record, level)) for record in records]
        version, voters = self.machine.history.at(committed.end.end_offset)
        control: list[QuorumRecord] = []
        if version:
            control = [
                KRaftVersionRecord(version=0, kraft_version=version),
                voters.to_record(),
            ]
        wall_ms = self._node.clock.wall_ms
        content = SnapshotContent(
            values, committed.end.epoch, committed.appended_ms, wall_ms, control
        )
        freeze = self.log.plan_snapshot(committed.end, content)
        self._rule.take(now_ms)
        self._is_snapshooting = True

        def frozen() -> None:
            self._is_snapshooting = False
            self.log.frozen(freeze)
            self.log.clean(self._retention)
            removals, self.log.removals = self.log.removals, []
            for removal in removals:
                self._run(removal, _nothing)

        self._run(freeze, frozen)

    def _now(self) -> told.Ticked:
        return told.Ticked(self._node.clock.now_ms, self._node.clock.wall_ms)

    def _step(self, event: told.Event) -> None:
        self._do(self.machine.step(event))

    def _do(self, effects: list[wanted.Effect]) -> None:
        """Do what the machine wants, in order, also what it wants because of that."""
        self._effects.extend(effects)
        if self._is_working:
            return
        self._is_working = True
        while self._effects:
            self._do_one(self._effects.popleft())
        self._is_working = False

    def _do_one(self, effect: wanted.Effect) -> None:
        match effect:
            case wanted.StoreElection():
                write = ElectionWrite(self._disk, self._folder, effect)
                self._run(write, partial(self._step, told.ElectionStored()))
            case wanted.FlushLog():
                self._flush()
            case wanted.BecameLeader(_, start_offset):
                self._node.controller.elected(start_offset)
            case wanted.LeaderChanged():
                self._node.controller.resign()
            case wanted.HighWatermarkMoved(high_watermark):
                self._node.committed_to(high_watermark)
            case wanted.Noticed(what):
                self._node.effects.append(Notice("quorum", FOLDER, what))
            case _:
                raise AssertionError(f"who votes alone wants no {effect}")

    def _flush(self) -> None:
        try:
            flush = self.log.plan_flush()
        except OSError as fault:
            self._fail(fault)
            return

        def flushed() -> None:
            self.log.flushed(flush)
            self._step(told.LogFlushed())

        self._run(flush, flushed)

    def _fail(self, fault: OSError) -> None:
        """What was to be durable is not, so nothing more may follow from it."""
        self._has_failed = True
        self._node.effects.append(Notice("metadata-log-failed", FOLDER, str(fault)))

    def _run(self, job: Job, then: Callable[[], None]) -> None:
        self._jobs[id(job)] = (job, then)
        self._node.effects.append(Run(job))


def _nothing() -> None:
    """A removal that has ended has no more to say."""
