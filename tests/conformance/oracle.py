"""Asks Kafka's own Java classes how messages and records look.

One process per Kafka version lives as long as its `Oracle`; `java/oracle/Oracle.java` is the other
end.
"""

import hashlib
import json
import shutil
import struct
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

from tests.conformance import jars

SOURCES: Final = Path(__file__).with_name("java") / "oracle"
_COMPILE_SECONDS_MAX: Final = 120
# The process mostly starts and answers short questions: the quick compiler and collector suit it.
_JAVA_OPTIONS: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m", "-Xss2m")
_LENGTH: Final = struct.Struct(">i")


class OracleError(RuntimeError):
    """The process ended, was too slow, or could not understand the question."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Kafka would not read some bytes."""

    reason: str


@dataclass(frozen=True, slots=True)
class Schema:
    """A published schema: its versions, and the package of the class made of it ("" if none)."""

    name: str
    lowest: int
    highest: int
    api_key: int
    kind: str
    package: str

    @property
    def versions(self) -> range:
        """The versions that Kafka still reads and writes."""
        return range(self.lowest, self.highest + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One record as Kafka reads or writes it."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What Kafka shall write. Without records it is a batch emptied by compaction."""

    records: tuple[Record, ...]
    magic: int = 2
    compression: str = "none"
    level: int | None = None
    timestamp_type: str = "CreateTime"
    log_append_time_ms: int = -1
    base_offset: int = 0
    last_offset: int | None = None
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    is_transactional: bool = False
    is_control: bool = False
    partition_leader_epoch: int = -1
    delete_horizon_ms: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBatch:
    """What Kafka finds in a batch; with an error, `records` are those before it."""

    magic: int
    is_valid: bool
    checksum: int
    size_bytes: int
    base_offset: int
    last_offset: int
    partition_leader_epoch: int
    compression: str
    timestamp_type: str
    max_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    is_transactional: bool
    is_control: bool
    count: int | None
    records: tuple[Record, ...]
    error: str | None
    base_timestamp_ms: int | None = None
    delete_horizon_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """What Kafka finds in a run of bytes; with an error, `batches` are those before it."""

    batches: tuple[ReadBatch, ...]
    error: str | None
    valid_bytes: int = 0


class Oracle:
    """Kafka's classes of one class path; usable as a context manager."""

    def __init__(self, class_path: str, *, timeout_seconds: float = 60) -> None:
        self.timeout_seconds = timeout_seconds
        path = jars.class_path(class_path)
        self._command = [
            jars.tool("java"),
            *_JAVA_OPTIONS,
            "-cp",
            f"{compiled(class_path, path)}:{path}",
            "Oracle",
        ]
        self._errors: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115  `close` closes it.
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process at once."""
        self._end()
        self._errors.close()

    def schemas(self) -> list[Schema]:
        """All schemas in the jars, internal records among them."""
        head, _ = self._ask({"command": "schemas"})
        return [Schema(**row) for row in head["schemas"]]

    def reencode(
        self, schema: str, version: int, messages: Sequence[bytes]
    ) -> list[bytes | Refusal]:
        """What Kafka writes after it has read each of the messages."""
        question = {"command": "reencode", "schema": schema, "version": version}
        head, blobs = self._ask(question, messages)
        return [
            blob if reason is None else Refusal(reason)
            for blob, reason in zip(blobs, head["refused"], strict=True)
        ]

    def to_json(self, schema: str, version: int, messages: Sequence[bytes]) -> list[Any]:
        """How Kafka shows each of the messages; None for one that it would not read."""
        question = {"command": "reencode", "schema": schema, "version": version, "json": True}
        head, _ = self._ask(question, messages)
        return list(head["json"])

    def random(self, schema: str, version: int, *, seed: int, count: int) -> list[bytes]:
        """Messages of legal values; the same seed gives the same messages."""
        question = {"command": "random", "schema": schema, "version": version}
        return self._ask(question | {"seed": seed, "count": count})[1]

    def parse(self, runs: Sequence[bytes]) -> list[Parsed]:
        """The batches and records in each run of bytes."""
        head, _ = self._ask({"command": "parse"}, runs)
        return [_parsed(row) for row in head["parsed"]]

    def build(self, batches: Sequence[Batch]) -> list[bytes]:
        """Each batch as Kafka writes it."""
        rows = [_described(batch) for batch in batches]
        return self._ask({"command": "build", "batches": rows})[1]

    def down_convert(self, magic: int, runs: Sequence[bytes], *, first_offset: int) -> list[bytes]:
        """Each run of batches in an older format; only the classes of 3.9 know how."""
        question = {"command": "down_convert", "magic": magic, "first_offset": first_offset}
        return self._ask(question, runs)[1]

    def _ask(
        self, head: dict[str, Any], blobs: Sequence[bytes] = ()
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Send a question and wait for its answer; a process that is too slow is killed."""
        process = self._process or self._start()
        timer = threading.Timer(self.timeout_seconds, process.kill)
        timer.start()
        answer = None
        try:
            answer = _exchange(process, head, blobs)
        except (OSError, EOFError) as ended:
            raise OracleError(f"{head}: the process ended; {self._end()}") from ended
        finally:
            timer.cancel()
            if answer is None:
                # The rest of an answer cut short must not be taken for the next one.
                self._end()
        if "error" in answer[0]:
            raise OracleError(f"{head['command']}: {answer[0]['error']}")
        return answer

    def _start(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
        )
        return self._process

    def _end(self) -> str:
        """Kill the process, so that the next question starts another; give its last words."""
        process, self._process = self._process, None
        if process is None:
            return ""
        assert process.stdin is not None
        assert process.stdout is not None
        process.kill()
        process.wait()
        process.stdout.close()
        with suppress(OSError):  # What was not sent yet has nobody to read it.
            process.stdin.close()
        self._errors.seek(0)
        return self._errors.read()[-2000:].decode(errors="replace")


def _exchange(
    process: subprocess.Popen[bytes], head: dict[str, Any], blobs: Sequence[bytes]
) -> tuple[dict[str, Any], list[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    text = json.dumps(head).encode()
    parts = [_LENGTH.pack(len(text)), text, _LENGTH.pack(len(blobs))]
    for blob in blobs:
        parts += (_LENGTH.pack(len(blob)), blob)
    process.stdin.write(b"".join(parts))
    process.stdin.flush()
    answer = json.loads(_read_run(process.stdout))
    (count,) = _LENGTH.unpack(_read(process.stdout, 4))
    return answer, [_read_run(process.stdout) for _ in range(count)]


def _read_run(source: Any) -> bytes:
    return _read(source, _LENGTH.unpack(_read(source, 4))[0])


def _read(source: Any, size_bytes: int) -> bytes:
    data: bytes = source.read(size_bytes)
    if len(data) != size_bytes:
        raise EOFError
    return data


def compiled(name: str, class_path: str, folder: Path = SOURCES) -> Path:
    """The folder of the classes made of the sources for a class path; made at the first use."""
    sources = {source.name: source.read_text() for source in sorted(folder.glob("*.java"))}
    if name == "clients-3.9.2":
        # Kafka 4.2 moved these classes without changing what they do.
        for file, text in sources.items():
            sources[file] = text.replace("common.record.internal.", "common.record.")
    digest = hashlib.sha256(json.dumps([class_path, sources]).encode()).hexdigest()[:16]
    target = jars.home() / "classes" / f"{name}-{digest}"
    if target.is_dir():
        return target
    target.parent.mkdir(exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=target.parent))
    for file, text in sources.items():
        (fresh / file).write_text(text)
    command = [jars.tool("javac"), "-d", str(fresh), "-cp", class_path]
    done = subprocess.run(
        [*command, *(str(fresh / file) for file in sources)],
        check=False,
        capture_output=True,
        text=True,
        timeout=_COMPILE_SECONDS_MAX,
    )
    if done.returncode != 0:
        shutil.rmtree(fresh)
        raise OracleError(f"javac: {done.stderr}")
    try:
        fresh.rename(target)  # It fails where another run was first, as wanted.
    except OSError:
        shutil.rmtree(fresh)
    return target


def _described(batch: Batch) -> dict[str, Any]:
    """A batch as JSON; what is not said is left out, so that Kafka's default stands."""
    row = {name: value for name, value in asdict(batch).items() if value is not None}
    row["records"] = [
        {
            "offset": record.offset,
            "timestamp_ms": record.timestamp_ms,
            "key": _hex(record.key),
            "value": _hex(record.value),
            "headers": [[name, _hex(value)] for name, value in record.headers],
        }
        for record in batch.records
    ]
    return row


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def _unhex(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def _parsed(row: dict[str, Any]) -> Parsed:
    batches = tuple(
        ReadBatch(**{**batch, "records": tuple(_record(record) for record in batch["records"])})
        for batch in row["batches"]
    )
    return Parsed(batches, row["error"], row.get("valid_bytes", 0))


def _record(row: dict[str, Any]) -> Record:
    return Record(
        offset=row["offset"],
        timestamp_ms=row["timestamp_ms"],
        key=_unhex(row["key"]),
        value=_unhex(row["value"]),
        headers=tuple((name, _unhex(value)) for name, value in row["headers"]),
    )
