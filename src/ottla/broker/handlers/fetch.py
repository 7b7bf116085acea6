"""Fetch: read from some partitions, at once or as soon as there is enough."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ottla.api.fetch import FetchRequest, FetchResponse
from ottla.broker.connections import Request
from ottla.broker.dispatch import RequestRefused
from ottla.broker.fetch_sessions import NO_SESSION, Session, Wanted
from ottla.broker.fetching import (
    INT32_MAX,
    SENDS_CUT_BATCHES,
    Allowance,
    Reading,
    end_place,
    find_partition,
    read,
)
from ottla.broker.node import Node
from ottla.broker.partitions import Partition
from ottla.config import broker as rows
from ottla.errors import ErrorCode
from ottla.wire.fields import Message

if TYPE_CHECKING:
    from ottla.storage.log import LogPlace

_BOUNDED: Final = SENDS_CUT_BATCHES + 1
"""The version from which on an answer has a bound as a whole."""


class Fetch:
    """One request while it is answered, be it at once or later."""

    __slots__ = (
        "_asked",
        "_bytes_max",
        "_is_incremental",
        "_node",
        "_places",
        "_request",
        "_session",
        "_wanted",
        "deadline_ms",
        "keys",
    )

    def __init__(self, node: Node, asked: FetchRequest, request: Request) -> None:
        self._node = node
        self._asked = asked
        self._request = request
        found = node.fetch_sessions.ask(asked, request.version, node.clock.now_ms, node.chance)
        if found.error:
            raise RequestRefused(found.error)
        self._wanted: Sequence[Wanted] = found.wanted
        self._session: Session | None = found.session
        self._is_incremental = found.is_incremental
        self._bytes_max = INT32_MAX
        if request.version >= _BOUNDED:
            self._bytes_max = min(asked.max_bytes, node.settings[rows.FETCH_MAX_BYTES])
        self.deadline_ms = node.clock.now_ms + max(asked.max_wait_ms, 0)
        self.keys: Sequence[Partition] = ()
        self._places: list[LogPlace] = []

    def start(self) -> FetchResponse | None:
        """Answer at once, or be ready to wait."""
        readings = self._read_all()
        size_bytes = sum(one.size_bytes for one in readings)
        is_enough = (
            size_bytes >= min(self._asked.min_bytes, self._bytes_max)
            or self._asked.max_wait_ms <= 0
            or any(
                one.answer.error_code or one.answer.diverging_epoch.epoch >= 0 for one in readings
            )
            or not readings
        )
        if is_enough:
            return self._response(readings)
        partitions = [
            find_partition(self._node, one, self._request.version) for one in self._wanted
        ]
        # None of them is an error, since every reading was sound.
        self.keys = [one for one in partitions if isinstance(one, Partition)]
        self._places = [
            partition.place_of(wanted.asked.fetch_offset)
            for partition, wanted in zip(self.keys, self._wanted, strict=True)
        ]
        return None

    def complete(self, *, is_expired: bool) -> bool:
        if not is_expired and not self._has_enough():
            return False
        self._node.dispatch.answer(self._request, self._response(self._read_all()))
        return True

    def _has_enough(self) -> bool:
        """Do the ends of the logs say that there is something worth an answer?"""
        left = min(self._asked.min_bytes, self._bytes_max)
        waiting = zip(self.keys, self._places, self._wanted, strict=True)
        for partition, place, wanted in waiting:
            end = end_place(partition, self._asked.isolation_level)
            if partition.is_offline or partition.log.log_start_offset > place.offset:
                return True
            if end.offset <= place.offset:
                continue
            if end.segment_base != place.segment_base:
                return True
            left -= min(end.position - place.position, wanted.asked.partition_max_bytes)
        return left <= 0

    def _read_all(self) -> list[Reading]:
        request, asked = self._request, self._asked
        allowance = Allowance(self._bytes_max, request.version > SENDS_CUT_BATCHES)
        return [
            read(self._node, one, asked.isolation_level, request.version, allowance)
            for one in self._wanted
        ]

    def _response(self, readings: Sequence[Reading]) -> FetchResponse:
        session = self._session
        topics: list[FetchResponse.Topic] = []
        given: list[Wanted] = []
        for wanted, reading in zip(self._wanted, readings, strict=True):
            if session is not None:
                is_news = wanted.is_news(reading.answer, reading.size_bytes)
                if self._is_incremental and not is_news:
                    continue
                if reading.size_bytes:
                    given.append(wanted)
            last = topics[-1] if topics else None
            if last is None or last.topic != wanted.topic or last.topic_id != wanted.topic_id:
                last = FetchResponse.Topic(
                    topic=wanted.topic, topic_id=wanted.topic_id, partitions=[]
                )
                topics.append(last)
            last.partitions.append(reading.answer)
        if session is not None:
            session.rotate(given)
        session_id = NO_SESSION if session is None else session.id
        return FetchResponse(session_id=session_id, responses=topics)


def handle(node: Node, message: Message, request: Request) -> Message | None:
    assert isinstance(message, FetchRequest)
    fetch = Fetch(node, message, request)
    response = fetch.start()
    if response is None:
        request.parked = fetch
        node.waiting.park(fetch)
    return response


def refuse(message: Message, code: ErrorCode) -> Message | None:
    """Refuse the whole request, or below version 7 each partition of it."""
    del message
    return FetchResponse(error_code=code, responses=[])
