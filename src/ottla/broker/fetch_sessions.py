"""Fetch sessions: a consumer says once what it reads, and then only what changes (KIP-227).

A session holds the partitions in the order in which they are answered. What was answered with
records goes to the end, so that no partition starves the others where an answer has a bound.

Invariants
  I-SESS-1  A session answers each epoch once: who asks out of turn is refused, and nothing changes.
  I-SESS-2  There are at most as many sessions as there are slots; one that was used lately is never
            taken away for another.
  I-SESS-3  What changed since the last answer is in the next one.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ottla.api.fetch import FetchRequest, FetchResponse
from ottla.broker.clock import Chance
from ottla.errors import ErrorCode
from ottla.wire.fields import NO_ID, Uuid

NO_SESSION: Final = 0
OPENING: Final = 0
"""The epoch of a request that opens a session."""
SESSIONLESS: Final = -1
EVICTION_MS: Final = 120_000
"""A session that was not used for this long gives way to a new one."""
TOPIC_IDS: Final = 13
_EPOCH_MAX: Final = 2**31 - 1
_UNTOLD: Final = -1
_Asked = FetchRequest.Topic.Partition
_Key = tuple[Uuid | str, int]


class Wanted:
    """One partition that somebody wants to read, and what was told of it last."""

    __slots__ = ("asked", "high_watermark", "log_start_offset", "topic", "topic_id")

    def __init__(self, topic: str, topic_id: Uuid, asked: _Asked) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.asked = asked
        self.high_watermark: int = _UNTOLD
        self.log_start_offset: int = _UNTOLD

    def is_news(self, answer: FetchResponse.Topic.Partition, size_bytes: int) -> bool:
        """Is there something in an answer that was not told yet? From now on it is."""
        is_news = (
            size_bytes > 0
            or answer.error_code != 0
            or answer.high_watermark != self.high_watermark
            or answer.log_start_offset != self.log_start_offset
            or answer.diverging_epoch.epoch >= 0
        )
        self.high_watermark = answer.high_watermark
        self.log_start_offset = answer.log_start_offset
        if answer.error_code:
            self.high_watermark = _UNTOLD
        return is_news

    def forget(self) -> None:
        """Take nothing as told, since another answer was given than the one that was looked at."""
        self.high_watermark = _UNTOLD


class Session:
    """What one consumer reads."""

    __slots__ = ("epoch", "has_ids", "id", "used_ms", "wanted")

    def __init__(self, number: int, *, has_ids: bool, used_ms: int) -> None:
        self.id = number
        self.has_ids = has_ids
        self.epoch = 1
        self.used_ms = used_ms
        self.wanted: OrderedDict[_Key, Wanted] = OrderedDict()

    def update(self, request: FetchRequest) -> None:
        """Take over what a request adds, changes and takes away."""
        for one in wanted_of(request):
            known = self.wanted.get(self._key(one.topic, one.topic_id, one.asked.partition))
            if known is None:
                self.wanted[self._key(one.topic, one.topic_id, one.asked.partition)] = one
            else:
                known.asked = one.asked
        for topic in request.forgotten_topics_data:
            for index in topic.partitions:
                self.wanted.pop(self._key(topic.topic, topic.topic_id, index), None)

    def rotate(self, answered: Iterable[Wanted]) -> None:
        """Let others be first next time."""
        for one in answered:
            key = self._key(one.topic, one.topic_id, one.asked.partition)
            if key in self.wanted:
                self.wanted.move_to_end(key)

    def _key(self, topic: str, topic_id: Uuid, index: int) -> _Key:
        return (topic_id if self.has_ids else topic, index)


class Asked(NamedTuple):
    """What a request is for, once its session is looked up."""

    error: ErrorCode
    wanted: list[Wanted]
    session: Session | None = None
    is_incremental: bool = False


def wanted_of(request: FetchRequest) -> Iterator[Wanted]:
    """The partitions that a request names itself."""
    for topic in request.topics:
        for asked in topic.partitions:
            yield Wanted(topic.topic, topic.topic_id, asked)


class FetchSessions:
    """The sessions of a node, the one used longest ago first."""

    __slots__ = ("_sessions", "_slots")

    def __init__(self, slots: int) -> None:
        self._sessions: OrderedDict[int, Session] = OrderedDict()
        self._slots = slots

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, number: int) -> Session | None:
        """The session of an id, if there is one."""
        return self._sessions.get(number)

    def ask(self, request: FetchRequest, version: int, now_ms: int, chance: Chance) -> Asked:
        """Find, open, change or close a request's session."""
        if request.session_epoch in (OPENING, SESSIONLESS):
            self._sessions.pop(request.session_id, None)
            wanted = list(wanted_of(request))
            if request.session_epoch == SESSIONLESS or not wanted:
                return Asked(ErrorCode.NONE, wanted)
            has_ids = version >= TOPIC_IDS
            session = self._open(wanted, has_ids=has_ids, now_ms=now_ms, chance=chance)
            return Asked(ErrorCode.NONE, wanted, session)
        session = self._sessions.get(request.session_id)
        if session is None:
            return Asked(ErrorCode.FETCH_SESSION_ID_NOT_FOUND, [])
        return self._go_on(session, request, version, now_ms)

    def _go_on(self, session: Session, request: FetchRequest, version: int, now_ms: int) -> Asked:
        if session.epoch != request.session_epoch:
            return Asked(ErrorCode.INVALID_FETCH_SESSION_EPOCH, [])
        if session.has_ids != (version >= TOPIC_IDS):
            return Asked(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, [])
        session.update(request)
        if not session.wanted:
            del self._sessions[session.id]
            return Asked(ErrorCode.NONE, [])
        session.epoch = 1 if session.epoch == _EPOCH_MAX else session.epoch + 1
        session.used_ms = now_ms
        self._sessions.move_to_end(session.id)
        return Asked(ErrorCode.NONE, list(session.wanted.values()), session, is_incremental=True)

    def _open(
        self, wanted: Iterable[Wanted], *, has_ids: bool, now_ms: int, chance: Chance
    ) -> Session | None:
        """Open a session if there is a slot; None says that the consumer must name all again."""
        if len(self._sessions) >= self._slots:
            oldest = next(iter(self._sessions.values()), None)
            if oldest is None or now_ms - oldest.used_ms < EVICTION_MS:
                return None
            del self._sessions[oldest.id]
        number = NO_SESSION
        while number == NO_SESSION or number in self._sessions:
            number = chance.getrandbits(31)
        session = self._sessions[number] = Session(number, has_ids=has_ids, used_ms=now_ms)
        for one in wanted:
            key = one.topic_id if has_ids and one.topic_id != NO_ID else one.topic
            session.wanted[key, one.asked.partition] = one
        return session
