"""Which requests are under way: one at a time to each peer, and a pause after a failure."""

from dataclasses import dataclass

from ottla.core.quorum.effects import Destination


@dataclass(slots=True)
class _Peer:
    """What is known of one peer: the request that it has not answered, or the end of a pause."""

    correlation: int | None = None
    sent_ms: int = 0
    paused_until_ms: int = 0


class Peers:
    """The requests of one replica."""

    def __init__(self, request_timeout_ms: int, retry_backoff_ms: int) -> None:
        self._request_timeout_ms = request_timeout_ms
        self._retry_backoff_ms = retry_backoff_ms
        self._peers: dict[int, _Peer] = {}
        self._sent: dict[int, Destination] = {}
        self._last_correlation = 0

    def is_ready(self, id_: int, now_ms: int) -> bool:
        """May a request be sent to a peer?"""
        return now_ms >= self.ready_ms(id_)

    def ready_ms(self, id_: int) -> int:
        """From when on a request may be sent to a peer."""
        peer = self._peers.get(id_)
        if peer is None:
            return 0
        if peer.correlation is not None:
            return peer.sent_ms + self._request_timeout_ms
        return peer.paused_until_ms

    def is_failing(self, id_: int, now_ms: int) -> bool:
        """Is a peer in the pause after a failure, or has it let a request wait too long?"""
        peer = self._peers.get(id_)
        if peer is None:
            return False
        if peer.correlation is not None:
            return now_ms >= peer.sent_ms + self._request_timeout_ms
        return now_ms < peer.paused_until_ms

    def open_until_ms(self) -> int:
        """Until when an answer to any request may still come in time."""
        open_ = [peer.sent_ms for peer in self._peers.values() if peer.correlation is not None]
        return max(open_, default=-self._request_timeout_ms) + self._request_timeout_ms

    def has_open_request(self, now_ms: int) -> bool:
        """Is any request under way that may still be answered in time?"""
        return now_ms < self.open_until_ms()

    def send(self, to: Destination, now_ms: int) -> int:
        """Note a request that is being sent; give the number to know its answer by."""
        peer = self._peers.setdefault(to.id, _Peer())
        if peer.correlation is not None:
            del self._sent[peer.correlation]
        self._last_correlation += 1
        peer.correlation, peer.sent_ms = self._last_correlation, now_ms
        self._sent[self._last_correlation] = to
        return self._last_correlation

    def answered(self, correlation: int) -> Destination | None:
        """Who answered; None if the answer is no longer waited for."""
        to = self._sent.pop(correlation, None)
        if to is not None:
            self._peers[to.id].correlation = None
        return to

    def pause(self, id_: int, now_ms: int) -> None:
        """Leave a peer alone for a little while."""
        self._peers.setdefault(id_, _Peer()).paused_until_ms = now_ms + self._retry_backoff_ms

    def give_up(self, id_: int) -> None:
        """Wait no longer for one peer's answer; a pause goes on."""
        peer = self._peers.get(id_)
        if peer is not None and peer.correlation is not None:
            del self._sent[peer.correlation]
            peer.correlation = None

    def reset(self) -> None:
        """Wait for no answer any more, and pause for nobody."""
        self._peers.clear()
        self._sent.clear()
