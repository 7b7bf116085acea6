"""Which brokers were heard of when: what a controller knows of them beside the log.

I-CTRL-7  Sessions hold nothing that a decision needs to be right: a controller that has just taken
          over knows none, grants every broker that is not fenced a whole session, and goes on.
"""

from dataclasses import dataclass, field
from typing import Final

from ottla.core.metadata.cluster import Cluster

OFFSET_MAX: Final = (1 << 63) - 1


@dataclass(slots=True)
class Session:
    """A broker in one of its epochs."""

    epoch: int
    contact_ms: int
    metadata_offset: int = -1
    """Up to where it has replayed the metadata log."""
    shutdown_offset: int = -1
    """The offset of the last record that took its leaderships, once it is about to stop."""


@dataclass(slots=True)
class Sessions:
    """The sessions of all brokers, and where in the log each registered."""

    timeout_ms: int
    by_broker: dict[int, Session] = field(default_factory=dict[int, Session])
    registered_at: dict[int, int] = field(default_factory=dict[int, int])
    """The offset of each broker's registration; a broker that read it has caught up."""

    def begin(self, cluster: Cluster, now_ms: int) -> None:
        """This controller has taken over: give everybody a session who is not fenced."""
        self.by_broker = {
            one.id: Session(one.epoch, now_ms)
            for one in cluster.brokers.values()
            if not one.is_fenced
        }

    def is_alive(self, broker: int, epoch: int, now_ms: int) -> bool:
        """Whether a broker was heard of in this epoch within the time-out."""
        session = self.by_broker.get(broker)
        if session is None or session.epoch != epoch:
            return False
        return now_ms - session.contact_ms <= self.timeout_ms

    def note_contact(self, broker: int, epoch: int, now_ms: int) -> Session:
        """A broker was heard of."""
        session = self.by_broker.get(broker)
        if session is None or session.epoch != epoch:
            session = self.by_broker[broker] = Session(epoch, now_ms)
        session.contact_ms = now_ms
        return session

    def note_registration(self, broker: int, offset: int) -> None:
        """A broker's registration stands at an offset of the log: it has not read that far yet."""
        self.registered_at[broker] = offset
        session = self.by_broker.get(broker)
        if session is not None:
            session.metadata_offset = session.shutdown_offset = -1

    def note_shutdown(self, broker: int, offset: int) -> None:
        """The last record that takes a stopping broker's leaderships stands at an offset."""
        session = self.by_broker.get(broker)
        if session is not None and session.shutdown_offset < 0:
            session.shutdown_offset = offset

    def forget(self, broker: int) -> None:
        """A broker is gone, fenced, or has come anew."""
        self.by_broker.pop(broker, None)

    def expired(self, now_ms: int) -> list[int]:
        """The brokers that were not heard of for too long, those silent longest first."""
        late = [
            (session.contact_ms, broker)
            for broker, session in self.by_broker.items()
            if now_ms - session.contact_ms > self.timeout_ms
        ]
        return [broker for _, broker in sorted(late)]

    def next_deadline_ms(self) -> int | None:
        """When the next session ends if nothing is heard; None without any."""
        contacts = [session.contact_ms for session in self.by_broker.values()]
        return min(contacts) + self.timeout_ms + 1 if contacts else None

    def lowest_active_offset(self, cluster: Cluster) -> int:
        """Up to where every active broker has replayed the metadata log."""
        offsets = [
            self.by_broker[one.id].metadata_offset if one.id in self.by_broker else -1
            for one in cluster.brokers.values()
            if one.is_active
        ]
        return min(offsets, default=OFFSET_MAX)
