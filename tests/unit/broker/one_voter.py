"""A quorum of one over the real log, on a simulated disk, driven as a node drives it."""

import random
from dataclasses import replace

from ottla.api.control_records import KRaftVersionRecord
from ottla.api.metadata_records import FeatureLevelRecord
from ottla.broker.quorum_files import (
    ElectionWrite,
    Formatting,
    format_metadata_directory,
    read_election,
)
from ottla.broker.quorum_log import FOLDER, open_metadata_log
from ottla.core.quorum.effects import Effect, FlushLog, StoreElection
from ottla.core.quorum.events import ElectionStored, Event, LogFlushed, Ticked
from ottla.core.quorum.log import OffsetAndEpoch
from ottla.core.quorum.machine import Quorum
from ottla.core.quorum.options import QuorumOptions
from ottla.core.quorum.voters import Endpoint, ReplicaKey, Voter, VoterSet
from ottla.ports import Disk
from ottla.sim.disk import SimulatedDisk
from ottla.storage.handles import Handles
from ottla.storage.meta_properties import MetaProperties
from ottla.storage.metadata_snapshots import SnapshotContent
from ottla.wire.fields import Uuid

DIRECTORY = "/metadata"
NOW_MS = 1_700_000_000_000
KEY = ReplicaKey(1, Uuid(bytes(range(100, 116))))
VOTERS = VoterSet([Voter(KEY, (Endpoint("CONTROLLER", "localhost", 25001),))])
META = MetaProperties(cluster_id="XlgFBhYbSKyQY1AYrsHZog", node_id=1, directory_id=KEY.directory_id)
FEATURES = FeatureLevelRecord(name="metadata.version", feature_level=29)


class OneVoter:
    """Carries out what the machine wants, at once."""

    def __init__(self, disk: Disk, kraft_version: int, directory: str = DIRECTORY) -> None:
        self.disk = disk
        self.folder = f"{directory}/{FOLDER}"
        disk.make_folder(self.folder)
        disk.sync_folder(directory)
        self.log, self.findings = open_metadata_log(Handles(disk, 8), self.folder, lambda: NOW_MS)
        options = QuorumOptions(
            key=KEY,
            cluster_id=META.cluster_id or "",
            listener="CONTROLLER",
            endpoints=VOTERS.voters[0].endpoints,
            static_voters=VoterSet() if kraft_version else VOTERS,
        )
        self.effects: list[Effect] = []
        now = Ticked(0, NOW_MS)
        self.machine = Quorum(
            options, self.log, random.Random(1), read_election(disk, self.folder), now
        )
        self.step(now)

    def step(self, event: Event) -> None:
        self.do(self.machine.step(event))

    def do(self, effects: list[Effect]) -> None:
        self.effects += effects
        for effect in effects:
            if isinstance(effect, StoreElection):
                ElectionWrite(self.disk, self.folder, effect).run()
                self.step(ElectionStored())
            elif isinstance(effect, FlushLog):
                flush = self.log.plan_flush()
                flush.run()
                self.log.flushed(flush)
                self.step(LogFlushed())

    def snapshot(self, end_offset: int, values: list[bytes]) -> OffsetAndEpoch:
        """Write a snapshot of what is below an offset, and make it whole."""
        id_ = OffsetAndEpoch(end_offset, self.machine.epoch)
        version, voters = self.machine.history.at(end_offset)
        record = KRaftVersionRecord(version=0, kraft_version=version)
        control = [record, voters.to_record()] if version else []
        content = SnapshotContent(values, id_.epoch, NOW_MS, NOW_MS, control)
        freeze = self.log.plan_snapshot(id_, content)
        freeze.run()
        self.log.frozen(freeze)
        return id_

    def append(self, values: list[bytes]) -> int:
        appended = self.machine.append(self.machine.epoch, values)
        assert appended is not None
        self.do(appended.effects)
        return appended.end_offset


def formatted(kraft_version: int) -> SimulatedDisk:
    """A disk with the directory of a new cluster."""
    disk = SimulatedDisk(lambda: NOW_MS, random.Random(0))
    format_one_voter(disk, DIRECTORY, kraft_version)
    return disk


def format_one_voter(
    disk: Disk, directory: str, kraft_version: int, cluster_id: str | None = META.cluster_id
) -> None:
    meta = replace(META, cluster_id=cluster_id)
    formatting = Formatting(meta, [(FEATURES, 0)], VOTERS if kraft_version else None)
    format_metadata_directory(disk, directory, formatting, NOW_MS)
