"""A broker's way through its cluster: registered, unfenced, serving, in controlled shutdown, gone.

It asks the controller as any broker does, by the decisions of registration and heartbeat; that the
controller is in the same process saves the messages and nothing else. It serves once the record
that unfences it is committed, and stops once the one that fences it is, or its patience is over.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from ottla.api.broker_heartbeat import BrokerHeartbeatRequest
from ottla.api.broker_registration import BrokerRegistrationRequest
from ottla.broker.clock import draw_id
from ottla.broker.dispatch import RequestRefused
from ottla.broker.effects import Notice, Serving
from ottla.config.broker import BROKER_HEARTBEAT_INTERVAL_MS
from ottla.core.controller.brokers import decide_registration
from ottla.core.controller.heartbeats import decide_heartbeat
from ottla.core.controller.state import Refusal
from ottla.core.metadata.features import SUPPORTED

if TYPE_CHECKING:
    from ottla.broker.node import Node

NO_EPOCH: Final = -1
AGAIN_MS: Final = 200
"""When to register again if that could not be written."""
PATIENCE_MS: Final = 5000
"""How long a controlled shutdown may take."""
PLAINTEXT: Final = 0


class Stage(Enum):
    """Where a broker is on its way."""

    STARTING = "it waits for what is committed"
    REGISTERED = "it waits to be unfenced"
    SERVING = "it serves"
    LEAVING = "it is in controlled shutdown"
    GONE = "it may stop"


class RegistrationRefused(Exception):
    """The cluster does not take this broker as it is."""


class BrokerLife:
    """The way of this node's broker."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.stage = Stage.STARTING
        self.epoch = NO_EPOCH
        self._heartbeat_ms: int | None = None
        self._leaves_by_ms = 0
        self._previous_epoch = NO_EPOCH

    def next_deadline_ms(self) -> int | None:
        """When it wants to be ticked."""
        return self._leaves_by_ms if self.stage is Stage.LEAVING else self._heartbeat_ms

    def begin(self, previous_epoch: int | None) -> None:
        """Register; the epoch of the last stop says that it was clean."""
        self._previous_epoch = NO_EPOCH if previous_epoch is None else previous_epoch
        self._register()

    def _register(self) -> None:
        """Register, now or a little later. Raises `RegistrationRefused`."""
        node = self._node
        controller = node.controller
        request = BrokerRegistrationRequest(
            broker_id=node.identity.node_id,
            cluster_id=node.identity.cluster_id,
            incarnation_id=draw_id(node.chance),
            listeners=[
                BrokerRegistrationRequest.Listener(
                    name=name, host=one.host, port=one.port, security_protocol=PLAINTEXT
                )
                for name, one in node.identity.endpoints.items()
            ],
            features=[
                BrokerRegistrationRequest.Feature(
                    name=name, min_supported_version=low, max_supported_version=high
                )
                for name, (low, high) in SUPPORTED.items()
            ],
            rack=node.identity.rack,
            log_dirs=node.directory_ids(),
            previous_broker_epoch=self._previous_epoch,
        )
        try:
            decision = decide_registration(
                controller.state,
                controller.sessions,
                request,
                epoch=controller.end_offset,
                now_ms=node.clock.now_ms,
                kraft_version=node.quorum.kraft_version,
            )
            reply, offset = controller.append(decision)
        except RequestRefused as refused:
            node.effects.append(Notice("registration-delayed", "", refused.code.name))
            self._heartbeat_ms = node.clock.now_ms + AGAIN_MS
            return
        if isinstance(reply, Refusal):
            raise RegistrationRefused(reply.message or reply.error.name)
        self.epoch = reply.broker_epoch
        self.stage = Stage.REGISTERED
        node.when_committed(offset, self._beat)

    def tick(self) -> None:
        """Tell the controller that this broker lives; stop waiting for what takes too long."""
        now_ms = self._node.clock.now_ms
        if self.stage is Stage.LEAVING and now_ms >= self._leaves_by_ms:
            self._node.effects.append(Notice("shutdown-uncontrolled", str(self.epoch)))
            self._leave()
        elif self._heartbeat_ms is not None and now_ms >= self._heartbeat_ms:
            if self.stage is Stage.STARTING:
                self._register()
            else:
                self._beat()

    def leave(self) -> None:
        """Begin to stop."""
        if self.stage in (Stage.STARTING, Stage.REGISTERED):
            self._leave()
            return
        self.stage = Stage.LEAVING
        self._leaves_by_ms = self._node.clock.now_ms + PATIENCE_MS
        self._beat()

    def _beat(self) -> None:
        """Send a heartbeat, and go on once what came of it is committed."""
        node = self._node
        controller, now_ms = node.controller, node.clock.now_ms
        if self.stage is Stage.GONE:
            return
        self._heartbeat_ms = now_ms + node.settings[BROKER_HEARTBEAT_INTERVAL_MS]
        request = BrokerHeartbeatRequest(
            broker_id=node.identity.node_id,
            broker_epoch=self.epoch,
            current_metadata_offset=node.committed.end.end_offset - 1,
            want_fence=False,
            want_shut_down=self.stage is Stage.LEAVING,
        )
        try:
            decision = decide_heartbeat(controller.state, controller.sessions, request, now_ms)
            reply, offset = controller.append(decision)
        except RequestRefused as refused:
            node.effects.append(Notice("heartbeat-refused", str(self.epoch), refused.code.name))
            return
        if isinstance(reply, Refusal):
            node.effects.append(Notice("heartbeat-refused", str(self.epoch), reply.error.name))
            return
        if reply.is_shutting_down:
            controller.sessions.note_shutdown(request.broker_id, offset - 1)
        if self.stage is Stage.LEAVING:
            then = self._leave if reply.response.should_shut_down else self._beat
            node.when_committed(offset, then)
        elif self.stage is Stage.REGISTERED and not reply.response.is_fenced:
            node.when_committed(offset, self._serve)

    def _serve(self) -> None:
        if self.stage is Stage.REGISTERED:
            self.stage = Stage.SERVING
            self._node.effects.append(Serving())

    def _leave(self) -> None:
        if self.stage is not Stage.GONE:
            self.stage = Stage.GONE
            self._heartbeat_ms = None
            self._node.close_logs()
