"""A real Apache Kafka on loopback: formatted, started, stopped, killed, started again, asked.

A node is broker and controller at once, so that one process is a whole cluster. All of its waiting
is bounded, and where it fails the text has the end of the node's own log.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.conformance import jars
from tests.conformance.wire_client import WireClient

NODE_ID: Final = 1
CLUSTER_ID: Final = "b3R0bGEtYmVzaWRlLWs"
_START_SECONDS_MAX: Final = 60
_STOP_SECONDS_MAX: Final = 60
_TOOL_SECONDS_MAX: Final = 60
_SAID_MAX: Final = 4000
# Everything here starts, does little, and ends: the quick compiler and the small collector suit it.
_JAVA: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Duser.timezone=UTC")
_LOGGING: Final = (
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.showThreadName=false",
    "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.common.config=warn",
    "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.server.config=warn",
    "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaConfig=warn",
)
_STARTED: Final = "Kafka Server started"

TOOLS: Final = {
    "configs": "kafka.admin.ConfigCommand",
    "console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "dump-log": "org.apache.kafka.tools.DumpLogSegments",
    "get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "metadata-quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "producer-perf-test": "org.apache.kafka.tools.ProducerPerformance",
    "reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "storage": "kafka.tools.StorageTool",
    "topics": "org.apache.kafka.tools.TopicCommand",
    "transactions": "org.apache.kafka.tools.TransactionsCommand",
}
"""Kafka's tools, by the names of their scripts without `kafka-` and `.sh`."""

_TOOLS_OF: Final = {"3.9.2": {"dump-log": "kafka.tools.DumpLogSegments"}}


class KafkaError(AssertionError):
    """Kafka did not do what was asked, or took too long; the text has what it said last."""


@dataclass(slots=True)
class KafkaBroker:
    """A cluster of one node; used as a context manager it leaves no process behind."""

    folder: Path
    """Where it keeps everything; it may be there from an earlier node."""
    version: str = "4.3.1"
    directories: int = 1
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
    heap: str = "384m"
    _process: subprocess.Popen[bytes] | None = None
    _ports: tuple[int, int] = (0, 0)
    _said_before: int = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    @property
    def address(self) -> str:
        """What clients are told as their bootstrap server."""
        return f"127.0.0.1:{self._ports[0]}"

    @property
    def log_dirs(self) -> list[Path]:
        """Its log directories; the first has the metadata log."""
        return [self.folder / f"data-{number}" for number in range(self.directories)]

    @property
    def process_id(self) -> int | None:
        """The process, if it runs."""
        return None if self._process is None else self._process.pid

    def partition_folders(self) -> dict[str, Path]:
        """The folders of all partitions, by name."""
        found = (path for one in self.log_dirs for path in sorted(one.glob("*-[0-9]*")))
        return {path.name: path for path in found if path.is_dir()}

    def format(self) -> None:
        """Have Kafka's own tool format the directories, unless they are."""
        self._write_properties()
        arguments = ("format", "-t", CLUSTER_ID, "-c", str(self._properties))
        self.tool("storage", *arguments, "--ignore-formatted")

    def start(self) -> None:
        """Start it, formatted or not, and wait until it takes requests."""
        assert self._process is None, "it runs already"
        if not all((path / "meta.properties").exists() for path in self.log_dirs):
            self.format()
        self._write_properties()
        log = self.folder / "server.log"
        self._said_before = log.stat().st_size if log.exists() else 0
        path = jars.class_path(f"broker-{self.version}", logs=True)
        command = [jars.tool("java"), f"-Xmx{self.heap}", *_JAVA, *_LOGGING, "-cp", path]
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                [*command, "kafka.Kafka", str(self._properties)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                # What is typed to end the tests shall not end it first.
                start_new_session=True,
            )
        self.wait_for(lambda: _STARTED in self.said(), _START_SECONDS_MAX, "it does not start")

    def stop(self) -> None:
        """Stop it cleanly."""
        process = self._end(signal.SIGTERM)
        if process is not None and process.returncode not in (0, 128 + signal.SIGTERM, -15):
            raise KafkaError(f"it ended with {process.returncode}; {self.last_words()}")

    def kill(self) -> None:
        """End it at once, with kill -9; nothing happens if it does not run."""
        self._end(signal.SIGKILL)

    def restart(self, *, clean: bool = True) -> None:
        """Stop it or kill it, and start it again on what it left."""
        if clean:
            self.stop()
        else:
            self.kill()
        self.start()

    def said(self) -> str:
        """What it has logged since its last start."""
        log = self.folder / "server.log"
        if not log.exists():
            return ""
        with log.open("rb") as file:
            file.seek(self._said_before)
            return file.read().decode(errors="replace")

    def said_lines(self, pattern: str) -> list[str]:
        """The lines since its last start in which a pattern is found."""
        wanted = re.compile(pattern)
        return [line for line in self.said().splitlines() if wanted.search(line)]

    def last_words(self) -> str:
        """The end of its log, for the text of a failure."""
        return f"Kafka {self.version} said last:\n{self.said()[-_SAID_MAX:]}"

    def wait_for(self, came: Callable[[], object], seconds_max: float, what: str) -> None:
        """Wait until something is true, as long as it runs."""
        deadline = time.monotonic() + seconds_max
        while not came():
            if self._process is None or self._process.poll() is not None:
                raise KafkaError(f"{what}: it has ended; {self.last_words()}")
            if time.monotonic() > deadline:
                raise KafkaError(f"{what} within {seconds_max} s; {self.last_words()}")
            time.sleep(0.02)

    def client(self) -> WireClient:
        """A connection that asks it by any API."""
        return WireClient("127.0.0.1", self._ports[0])

    def tool(
        self, name: str, *arguments: object, stdin: str = "", seconds_max: float = _TOOL_SECONDS_MAX
    ) -> str:
        """Run one of Kafka's tools, by name or by class; give what it printed.

        Tools that talk to the broker are told where it is by `ask_tool`.
        """
        class_name = _TOOLS_OF.get(self.version, {}).get(name) or TOOLS.get(name, name)
        path = jars.class_path(f"broker-{self.version}")
        command = [jars.tool("java"), "-Xmx256m", *_JAVA, "-cp", path, class_name]
        try:
            done = subprocess.run(
                [*command, *map(str, arguments)],
                check=False,
                input=stdin,
                capture_output=True,
                encoding="utf-8",
                errors="backslashreplace",
                timeout=seconds_max,
            )
        except subprocess.TimeoutExpired as late:
            raise KafkaError(f"{name} {arguments}: {late}; {self.last_words()}") from late
        if done.returncode != 0:
            said = (done.stdout + done.stderr)[-_SAID_MAX:]
            raise KafkaError(f"{name} {arguments}: {done.returncode}: {said}; {self.last_words()}")
        return done.stdout

    def ask_tool(self, name: str, *arguments: object, stdin: str = "") -> str:
        """Run a tool that talks to this broker."""
        return self.tool(name, "--bootstrap-server", self.address, *arguments, stdin=stdin)

    def dump(self, files: Iterable[Path], *options: str) -> str:
        """What `kafka-dump-log` says of some files, all in one process."""
        return self.tool("dump-log", *options, "--files", ",".join(map(str, files)))

    def copy_log_dirs(self, target: Path) -> list[Path]:
        """Copy the log directories of a node that does not run; holes in files stay holes."""
        assert self._process is None, "it still writes"
        copies = [target / path.name for path in self.log_dirs]
        for path, copy in zip(self.log_dirs, copies, strict=True):
            target.mkdir(parents=True, exist_ok=True)
            shutil.copytree(path, copy)
        return copies

    @property
    def _properties(self) -> Path:
        return self.folder / "server.properties"

    def _end(self, how: signal.Signals) -> subprocess.Popen[bytes] | None:
        process, self._process = self._process, None
        if process is None:
            return None
        process.send_signal(how)
        try:
            process.wait(_STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired as late:
            process.kill()
            process.wait()
            raise KafkaError(f"it does not end; {self.last_words()}") from late
        return process

    def _write_properties(self) -> None:
        """Its ports are those of its last start if they are free, so that clients find it again."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._ports = _free_ports(self._ports)
        broker, controller = self._ports
        rows: dict[str, object] = {
            "process.roles": "broker,controller",
            "node.id": NODE_ID,
            "controller.quorum.voters": f"{NODE_ID}@127.0.0.1:{controller}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": ",".join(map(str, self.log_dirs)),
            **_OF_ONE_NODE,
            **self.settings,
        }
        self._properties.write_text("".join(f"{key}={rows[key]}\n" for key in rows))


_OF_ONE_NODE: Final[Mapping[str, object]] = {
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.num.partitions": 1,
    "transaction.state.log.min.isr": 1,
    "group.initial.rebalance.delay.ms": 0,
    # So long a killed node is taken for one that lives, and may not come back.
    "broker.session.timeout.ms": 1000,
    "broker.heartbeat.interval.ms": 300,
    "log.cleaner.dedupe.buffer.size": 4 << 20,
    "log.initial.task.delay.ms": 100,
}


def _free_ports(wanted: Sequence[int]) -> tuple[int, int]:
    """Two ports that nobody listens on: the wanted ones, or any."""
    with ExitStack() as held:
        ports: list[int] = []
        for port in wanted:
            listener = held.enter_context(socket.socket())
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                listener.bind(("127.0.0.1", 0))
            ports.append(listener.getsockname()[1])
    return ports[0], ports[1]


def memory_bytes(process_id: int) -> int:
    """What a process holds of the machine's memory."""
    pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
