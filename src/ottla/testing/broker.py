"""A broker for a test: the node and the loop of `ottla dev`, on a thread of this process.

Its records lie in a temporary directory which goes with it, so nothing waits for the device: what
a power cut would take does not matter here. A reset does not delete topic by topic but exchanges
the node behind the same port for an empty one: whatever a broker may remember is forgotten, and
the ids of topics are new.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from shutil import rmtree
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Final, Self

from ottla.broker.dispatch import Handle, Route
from ottla.broker.effects import Effect
from ottla.broker.node import Node
from ottla.runtime.disk import SystemDisk, SystemFile
from ottla.runtime.process import NodeOptions, NodeProcess, open_node
from ottla.testing.clock import BrokerClock
from ottla.testing.door import Action, Door
from ottla.testing.faults import Faults

_LOOK_S: Final = 0.05
_PATIENCE_S: Final = 10.0
_PAUSE_S: Final = 0.001


class BrokerFailed(Exception):
    """The broker has ended by itself, through a bug of its own or an unusable setting; or it hangs.

    What it failed by is the cause.
    """


class _UnsyncedFile(SystemFile):
    __slots__ = ()

    def sync(self) -> None:
        """Leave it to the operating system."""


class _UnsyncedDisk(SystemDisk):
    """The operating system's files without waiting for the device."""

    __slots__ = ()
    file_kind = _UnsyncedFile

    def sync_folder(self, path: str) -> None:
        """Leave it to the operating system."""


class _Outcome:
    """Keeps the error that ends a thread, for another one to raise."""

    def __init__(self) -> None:
        self.fault: BaseException | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self.fault = fault
        return True


class Broker:
    """One broker, from its start to its stop; after that it can be started again."""

    def __init__(
        self,
        *,
        port: int = 0,
        host: str = "127.0.0.1",
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Do nothing yet; port 0 is a free one, and settings are those of `server.properties`."""
        self._options = NodeOptions([], port, host, settings=dict(settings or {}), level="ERROR")
        self._disk = _UnsyncedDisk()
        self._lives = 0
        self._folder: TemporaryDirectory[str]
        self._process: NodeProcess
        self._door: Door
        self._thread: threading.Thread | None = None
        self._outcome = _Outcome()
        self.faults = Faults(self._install_faults)
        self.clock = BrokerClock(self._advance)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        # To start takes some milliseconds, and only those who are asynchronous need to load this.
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        import asyncio  # noqa: PLC0415  Only who is asynchronous pays for it, and has it already.

        # Peers of the same event loop may have to take what was answered before it can end.
        await asyncio.to_thread(self.stop)

    @property
    def bootstrap(self) -> str:
        """What clients take as `bootstrap.servers`."""
        self.check()
        host, port = self._process.address
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    @property
    def folder(self) -> str:
        """Where its files are, in a folder of their own for each life between two resets."""
        return self._folder.name

    @property
    def is_running(self) -> bool:
        """Was it started, and has neither stopped nor failed?"""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Be there for clients when this returns."""
        assert self._thread is None, "it was started already"
        with ExitStack() as undo:
            self._folder = TemporaryDirectory(prefix="ottla-", ignore_cleanup_errors=True)
            undo.callback(self._folder.cleanup)
            self._process = NodeProcess(self._new_options(), self._disk, self._new_door)
            undo.pop_all()
        self._outcome = _Outcome()
        self._thread = threading.Thread(target=self._serve, name="ottla-broker", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Leave no thread, file or port behind; raises `BrokerFailed` if it had failed."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        if thread.is_alive():
            self._process.loop.stop()
            thread.join(_PATIENCE_S)
        if thread.is_alive():
            raise BrokerFailed(f"the broker has not stopped within {_PATIENCE_S:.0f} s")
        self.faults.forget()
        self._door.node.abandon()
        self._folder.cleanup()
        self._raise_fault()

    def reset(self) -> None:
        """Forget all but the address: topics, records, producers, time, faults, connections."""
        self._settle()
        options, gone = self._new_options(), self._door.node

        def exchange() -> Sequence[Effect]:
            node = open_node(options, self._disk, self._process.address)
            gone.abandon()
            self.faults.forget()
            return self._door.replace(node)

        self._do(exchange)
        self._settle()
        rmtree(self._folder_of(self._lives - 1), ignore_errors=True)

    def check(self) -> None:
        """Raise `BrokerFailed` unless it runs."""
        if self._thread is None:
            raise BrokerFailed("the broker is not started")
        if not self._thread.is_alive():
            self._raise_fault()
            raise BrokerFailed("the broker has ended")

    def _serve(self) -> None:
        with self._outcome:
            self._process.loop.run()

    def _raise_fault(self) -> None:
        fault = self._outcome.fault
        if fault is not None:
            raise BrokerFailed(f"the broker has failed: {fault!r}") from fault

    def _new_door(self, node: Node) -> Door:
        self._door = Door(node)
        return self._door

    def _new_options(self) -> NodeOptions:
        """Those of the next life, which has a folder of its own."""
        self._lives += 1
        return replace(self._options, directories=[self._folder_of(self._lives)])

    def _folder_of(self, life: int) -> str:
        return f"{self._folder.name}/{life}"

    def _do(self, action: Action) -> None:
        """Have the thread of the loop do something, and wait until it is done."""
        self.check()
        done = self._door.ask(action)
        with suppress(OSError):
            # If it has failed meanwhile there is nothing left to wake, and the next check says so.
            self._process.loop.wake()
        deadline_s = time.monotonic() + _PATIENCE_S
        while not done.wait(_LOOK_S):
            self.check()
            if time.monotonic() > deadline_s:
                raise BrokerFailed(f"the broker has not answered within {_PATIENCE_S:.0f} s")

    def _advance(self, ms: int) -> None:
        self._do(lambda: self._door.advance(ms))
        self._settle()

    def _settle(self) -> None:
        """Wait until it serves, with no job under way, and nothing due."""
        deadline_s = time.monotonic() + _PATIENCE_S
        self._do(self._door.look)
        while not self._door.was_idle:
            if time.monotonic() > deadline_s:
                raise BrokerFailed(f"jobs of the broker have not ended within {_PATIENCE_S:.0f} s")
            time.sleep(_PAUSE_S)
            self._do(self._door.look)

    def _install_faults(self, wrap: Callable[[Route], Handle] | None) -> None:
        def install() -> Sequence[Effect]:
            self._door.node.dispatch.wrap_handlers(wrap)
            return ()

        self._do(install)
