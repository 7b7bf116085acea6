"""A node as a process: its directories, its listeners, its loop, signals, a clean end."""

import gc
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import SystemRandom
from types import FrameType
from typing import Final

from ottla.broker.clock import draw_id
from ottla.broker.metadata_quorum import LISTENER
from ottla.broker.node import CONTROLLER, Endpoint, Identity, Node
from ottla.broker.quorum_files import Formatting, format_metadata_directory
from ottla.config.known import KNOWN
from ottla.config.listeners import SOCKET_REQUEST_MAX_BYTES
from ottla.config.settings import Settings
from ottla.core.metadata.snapshots import bootstrap_records
from ottla.core.quorum.voters import Endpoint as QuorumEndpoint
from ottla.core.quorum.voters import ReplicaKey, Voter, VoterSet
from ottla.runtime.disk import SystemDisk
from ottla.runtime.listeners import Listener
from ottla.runtime.loop import Driven, Loop, clock_tick
from ottla.runtime.notices import NoticeLog
from ottla.runtime.pollers import new_poller
from ottla.storage.directories import open_directories
from ottla.storage.directory import Owner
from ottla.storage.file_names import META_PROPERTIES
from ottla.storage.meta_properties import MetaProperties
from ottla.wire.uuids import uuid_text

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class NodeOptions:
    """What a process needs to know to run a node."""

    directories: Sequence[str]
    port: int = 9092
    host: str = "127.0.0.1"
    listener: str = "PLAINTEXT"
    node_id: int = 1
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    level: str = "WARN"


class NodeProcess:
    """A node that this process runs."""

    def __init__(
        self,
        options: NodeOptions,
        disk: SystemDisk | None = None,
        driven: Callable[[Node], Driven] | None = None,
    ) -> None:
        """Listen, lock the directories, and open what lies in them.

        `driven` gives what the loop drives instead of the node itself.
        """
        with ExitStack() as undo:
            self.listener = Listener(options.listener, options.host, options.port)
            undo.callback(self.listener.close)
            self.address = Endpoint(options.host or "localhost", self.listener.port)
            self.node = open_node(options, disk or SystemDisk(), self.address)
            undo.pop_all()
        driver: Driven = self.node if driven is None else driven(self.node)
        self.loop = Loop(
            driver,
            [self.listener],
            new_poller(),
            NoticeLog(options.level),
            self.node.settings[SOCKET_REQUEST_MAX_BYTES],
        )
        self.loop.carry_out(driver.start(clock_tick()))
        self.loop.start()

    def run(self, ready: Callable[[], None]) -> None:
        """Serve until a signal asks to stop; `ready` is called once clients can connect."""
        before = [signal.signal(number, self._ask_to_stop) for number in _SIGNALS]
        # What was loaded stays: the collector need not look at it again and again.
        gc.collect()
        gc.freeze()
        try:
            ready()
            self.loop.run()
        finally:
            for number, handler in zip(_SIGNALS, before, strict=True):
                signal.signal(number, handler)

    def _ask_to_stop(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.loop.stop()


def open_node(options: NodeOptions, disk: SystemDisk, address: Endpoint) -> Node:
    """A node that is yet to be started, over directories that are its own from now on."""
    chance = SystemRandom()
    static = {
        "process.roles": "broker,controller",
        "node.id": str(options.node_id),
        "controller.listener.names": "CONTROLLER",
        **options.settings,
    }
    # Settings that cannot be are refused before anything is made of them.
    Settings.of_broker(KNOWN, static)
    for path in options.directories:
        _format_if_new(disk, path, options.node_id, chance)
    directories = open_directories(disk, options.directories, Owner(options.node_id))
    cluster_id = directories.live[0].meta.cluster_id
    assert cluster_id is not None, "it is checked when a directory is opened"
    identity = Identity(options.node_id, cluster_id, {options.listener: address})
    return Node(identity, static, directories, chance)


def _format_if_new(disk: SystemDisk, path: str, node_id: int, chance: SystemRandom) -> None:
    """Make a directory that has nothing in it that of a new cluster of one."""
    if disk.status(f"{path}/{META_PROPERTIES}") is not None:
        return
    Path(path).mkdir(parents=True, exist_ok=True)
    cluster_id = uuid_text(draw_id(chance))
    directory_id = draw_id(chance)
    meta = MetaProperties(cluster_id=cluster_id, node_id=node_id, directory_id=directory_id)
    endpoint = QuorumEndpoint(LISTENER, *CONTROLLER)
    voters = VoterSet([Voter(ReplicaKey(node_id, directory_id), (endpoint,))])
    formatting = Formatting(meta, [(record, 0) for record in bootstrap_records()], voters)
    format_metadata_directory(disk, path, formatting, clock_tick().wall_ms)
