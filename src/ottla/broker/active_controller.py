"""The active controller in a node: it decides, appends, replays at once, and keeps its intervals.

Its image runs ahead of the committed one by what is on its way to the device; it is a copy that is
made when this node is elected and thrown away when it is not the leader any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from ottla.api.framed_records import write_framed
from ottla.api.metadata_records import FeatureLevelRecord, RegisterBrokerRecord
from ottla.broker.dispatch import RequestRefused
from ottla.broker.effects import Notice
from ottla.config.known import KNOWN
from ottla.config.replication import (
    AUTO_LEADER_REBALANCE_ENABLE,
    BROKER_SESSION_TIMEOUT_MS,
    LEADER_IMBALANCE_CHECK_INTERVAL_SECONDS,
)
from ottla.core.controller.activation import activation_records
from ottla.core.controller.brokers import fence_silent
from ottla.core.controller.elections import balance, elect_unclean
from ottla.core.controller.sessions import Sessions
from ottla.core.controller.state import RECORDS_MAX, State
from ottla.core.metadata.levels import METADATA_VERSION, record_version
from ottla.core.metadata.snapshots import bootstrap_records
from ottla.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ottla.broker.node import Node
    from ottla.core.recorded import Decision
    from ottla.wire.fields import Message

_R = TypeVar("_R")

AGAIN_MS: Final = 200
"""When to take over again if that could not be written."""
UNCLEAN_INTERVAL_MS: Final = 300_000
"""How often to look for partitions that only an unclean election gives a leader."""


class ActiveController:
    """Decides while this node leads the metadata quorum."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._state: State | None = None
        self._takes_over_at: int | None = None
        self.sessions = Sessions(node.settings[BROKER_SESSION_TIMEOUT_MS])
        self.end_offset = 0
        """Where what it has replayed ends."""
        self._balance_ms = self._unclean_ms = 0
        self._again_ms: int | None = None

    @property
    def is_active(self) -> bool:
        """Has it taken over?"""
        return self._state is not None

    @property
    def state(self) -> State:
        """What it decides upon. Raises `RequestRefused` if it does not."""
        if self._state is None:
            raise RequestRefused(ErrorCode.NOT_CONTROLLER)
        return self._state

    def elected(self, start_offset: int) -> None:
        """This node leads from an offset on: take over once all below is committed."""
        self._takes_over_at = start_offset

    def resign(self) -> None:
        """Forget all that is not committed (I-REC-5)."""
        self._state = self._takes_over_at = None

    def committed(self) -> None:
        """Hear that more is committed."""
        committed = self._node.committed
        if self._takes_over_at is None or committed.end.end_offset <= self._takes_over_at:
            return
        try:
            self._take_over()
        except RequestRefused as refused:
            self._state = None
            self._again_ms = self._node.clock.now_ms + AGAIN_MS
            notice = Notice("controller-held-up", "", refused.code.name)
            self._node.effects.append(notice)
            return
        self._takes_over_at = None

    def append(self, decision: Decision[Any, _R]) -> tuple[_R, int]:
        """Append what was decided, and replay it; give the reply, and where to wait for it.

        Raises `RequestRefused` if nothing can be appended.
        """
        self._append(decision.records, is_atomic=decision.is_atomic)
        return decision.reply, self.end_offset

    def next_deadline_ms(self) -> int | None:
        """When it wants to be ticked."""
        if self._state is None:
            return self._again_ms
        of_sessions = self.sessions.next_deadline_ms()
        times = [self._balance_ms, self._unclean_ms]
        return min(times if of_sessions is None else [*times, of_sessions])

    def tick(self) -> None:
        """Take over if that could not be written; fence the silent; hold the elections due."""
        self._again_ms = None
        try:
            self.committed()
            if self._state is not None:
                self._do_due(self._state, self._node.clock.now_ms)
        except RequestRefused as refused:
            notice = Notice("controller-held-up", "", refused.code.name)
            self._node.effects.append(notice)

    def _do_due(self, state: State, now_ms: int) -> None:
        while records := fence_silent(state, self.sessions, now_ms):
            self._append(records)
        if now_ms >= self._balance_ms:
            settings = state.settings()
            self._balance_ms = now_ms + settings[LEADER_IMBALANCE_CHECK_INTERVAL_SECONDS] * 1000
            if settings[AUTO_LEADER_REBALANCE_ENABLE]:
                self._append(balance(state))
        if now_ms >= self._unclean_ms:
            self._unclean_ms = now_ms + UNCLEAN_INTERVAL_MS
            self._append(elect_unclean(state))

    def _take_over(self) -> None:
        node = self._node
        self.end_offset = node.quorum.log.end_offset
        self._state = state = State(
            node.committed.image.copy(),
            KNOWN,
            node.static,
            cluster_id=node.identity.cluster_id,
            node_id=node.identity.node_id,
        )
        now_ms = node.clock.now_ms
        self.sessions.begin(state.image.cluster, now_ms)
        # The lock of the directory proves that no older process of this node is alive.
        self.sessions.forget(node.identity.node_id)
        self._balance_ms = self._unclean_ms = now_ms
        bootstrap = [
            record for record, _ in node.quorum.bootstrap if isinstance(record, FeatureLevelRecord)
        ]
        self._append(activation_records(state, bootstrap or bootstrap_records()))

    def _append(self, records: Sequence[Message], *, is_atomic: bool = True) -> None:
        size = len(records) if is_atomic else RECORDS_MAX
        for start in range(0, len(records), size or 1):
            self._append_run(records[start : start + size])

    def _append_run(self, records: Sequence[Message]) -> None:
        image = self.state.image
        level = image.features.metadata_version
        if level is None:
            level = next(
                one.feature_level
                for one in records
                if isinstance(one, FeatureLevelRecord) and one.name == METADATA_VERSION
            )
        values = [write_framed(record, record_version(record, level)) for record in records]
        try:
            base_offset = self._node.quorum.append(values)
        except OSError:
            raise RequestRefused(ErrorCode.KAFKA_STORAGE_ERROR) from None
        if base_offset is None:
            raise RequestRefused(ErrorCode.NOT_CONTROLLER)
        for offset, record in enumerate(records, base_offset):
            image.replay(record)
            if isinstance(record, RegisterBrokerRecord):
                self.sessions.note_registration(record.broker_id, offset)
        self.end_offset = base_offset + len(records)
