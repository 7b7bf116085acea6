"""Our controller, alone or beside Kafka's: the same requests, the same records replayed by both."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import Any, Final, NamedTuple

from ottla.api.framed_records import read_framed, write_framed
from ottla.api.metadata_records import (
    METADATA_RECORDS,
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
    TopicRecord,
)
from ottla.config.known import KNOWN
from ottla.core.controller.sessions import Sessions
from ottla.core.controller.state import Refusal, State
from ottla.core.metadata.image import Image
from ottla.core.metadata.levels import LEVEL_MAX, record_version
from ottla.core.recorded import Decision
from ottla.wire.codec import encode
from ottla.wire.fields import Message
from tests.conformance import jars
from tests.conformance.oracle import compiled

SOURCES: Final = Path(__file__).with_name("java") / "controller"
STATIC: Final = {
    "process.roles": "broker,controller",
    "node.id": "1000",
    "controller.listener.names": "C",
    "num.partitions": "3",
    "default.replication.factor": "2",
}
Ask = Callable[[str], str]
Same = Callable[[Any, str], None]
"""Holds our reply against the words of Kafka's."""


class Asked(NamedTuple):
    """A question, as Kafka is asked it and as we are."""

    line: str
    ours: Callable[[], Decision[Message, object]]


def asked(
    verb: str,
    request: Message,
    version: int,
    ours: Callable[[], Decision[Message, object]],
    extra: str = "",
) -> Asked:
    """A request to both."""
    return Asked(f"{verb} {version} {encode(request, version).hex()} {extra}".rstrip(), ours)


@contextmanager
def kafka_controller() -> Iterator[Ask]:
    """Have the parts of Kafka's controller carry out commands."""
    path = jars.class_path("broker-4.3.1")
    classes = compiled("controller-4.3.1", path, SOURCES)
    options = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"]
    name = "org.apache.kafka.controller.ControllerOracle"
    command = [jars.tool("java"), *options, "-cp", f"{classes}:{path}", name]
    with Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True, bufsize=1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        to_java, from_java = process.stdin, process.stdout

        def answered(line: str) -> str:
            to_java.write(line + "\n")
            answer = from_java.readline()
            assert answer, f"the oracle ended at {line[:200]}"
            return answer.rstrip("\n")

        yield answered


class JavaChance:
    """Chance as java.util.Random draws it; ids are given, since Kafka takes them from elsewhere."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) & ((1 << 48) - 1)
        self.ids: list[bytes] = []

    def _next(self, bits: int) -> int:
        self._state = (self._state * 0x5DEECE66D + 0xB) & ((1 << 48) - 1)
        drawn = self._state >> (48 - bits)
        return drawn - (1 << bits) if drawn >> (bits - 1) else drawn

    def randrange(self, stop: int, /) -> int:
        """As nextInt does it."""
        drawn = self._next(31) & 0x7FFFFFFF
        if stop & (stop - 1) == 0:
            return (stop * drawn) >> 31
        while drawn - drawn % stop + stop - 1 >= 1 << 31:
            drawn = self._next(31) & 0x7FFFFFFF
        return drawn % stop

    def randbytes(self, n: int, /) -> bytes:
        """The next of Kafka's ids."""
        return self.ids.pop(0) if self.ids else bytes(range(n))


class Cluster:
    """Our state alone: what is decided is replayed."""

    def __init__(self, seed: int, first: Sequence[Message]) -> None:
        self.image = Image()
        self.state = State(
            self.image, KNOWN, STATIC, cluster_id="cluster", node_id=1000, voters=(1000,)
        )
        self.sessions = Sessions(timeout_ms=9000)
        self.chance = JavaChance(seed)
        self.now_ms = 0
        self.end = 0
        self.replay(first)

    def tell(self, line: str) -> None:
        """Tell Kafka what is no request; there is no Kafka here."""

    def replay(self, records: Sequence[Message]) -> None:
        """Take in some records."""
        for record in records:
            self.image.replay(record)
            if isinstance(record, RegisterBrokerRecord):
                self.sessions.note_registration(record.broker_id, self.end)
            if isinstance(record, BrokerRegistrationChangeRecord):
                # Kafka forgets how far a broker has read whenever its registration changes.
                session = self.sessions.by_broker.get(record.broker_id)
                if session is not None:
                    session.metadata_offset = -1
            self.end += 1

    def tick(self, ms: int) -> None:
        """Let time pass."""
        self.now_ms += ms
        self.tell(f"time {self.now_ms}")

    def decide(self, asked: Asked, same: Same) -> object:
        """Decide, and replay what was decided; give the reply."""
        del same
        # Every topic gets an id of its own, as it would by chance.
        self.chance.ids = [(self.end + n).to_bytes(16, "big") for n in range(1 << 8, 1 << 8 | 9)]
        decision = asked.ours()
        self.replay(decision.records)
        return decision.reply


class Both(Cluster):
    """Our state and Kafka's, kept the same."""

    def __init__(self, ask: Ask, seed: int, first: Sequence[Message]) -> None:
        self.ask = ask
        ask(f"new {seed}")
        super().__init__(seed, first)

    def tell(self, line: str) -> None:
        """Tell Kafka what is no request."""
        assert self.ask(line) == "ok"

    def replay(self, records: Sequence[Message]) -> None:
        """Have both take in some records."""
        level = self.image.features.metadata_version or LEVEL_MAX
        words = " ".join(write_framed(one, record_version(one, level)).hex() for one in records)
        if words:
            self.tell(f"replay {self.end} {words}")
        super().replay(records)

    def decide(self, asked: Asked, same: Same) -> object:
        """Ask both, hold records and replies against each other, replay the records."""
        answer = self.ask(asked.line)
        if answer.startswith("refused "):
            decision = asked.ours()
            assert isinstance(decision.reply, Refusal), answer
            assert not decision.records
            code, _, message = answer.partition(" ")[2].partition(" ")
            found = (int(decision.reply.error), str(decision.reply.message))
            assert found == (int(code), message), f"{found} {message}"
            return decision.reply
        word, count, *rest = answer.split(" ", 2)
        assert word == "ok", answer
        *theirs, reply = rest[0].split(" ", int(count))
        written = [bytes.fromhex(one) for one in theirs]
        told = [read_framed(METADATA_RECORDS, one)[0] for one in written]
        self.chance.ids = [one.topic_id for one in told if isinstance(one, TopicRecord)]
        decision = asked.ours()
        level = self.image.features.level
        ours = [write_framed(one, record_version(one, level)) for one in decision.records]
        assert sorted(ours) == sorted(written), f"{asked}\n{shown(ours)}\n{shown(written)}"
        same(decision.reply, reply)
        self.replay(decision.records)
        return decision.reply


def shown(records: Sequence[bytes]) -> str:
    """Records as text, for a failure."""
    return "\n".join(str(read_framed(METADATA_RECORDS, one)) for one in sorted(records))
