"""Which sockets are ready: epoll where there is one, else what the system has."""

import select
import selectors
from typing import Final, Protocol

READ: Final = 1
WRITE: Final = 4


class Poller(Protocol):
    """Watches descriptors; `events` are `READ`, `WRITE` or both."""

    def add(self, descriptor: int, events: int) -> None:
        """Watch one more."""
        ...

    def change(self, descriptor: int, events: int) -> None:
        """Watch one for something else."""
        ...

    def remove(self, descriptor: int) -> None:
        """Watch one no more."""
        ...

    def wait(self, timeout_s: float | None) -> list[tuple[int, int]]:
        """Which are ready, and for what; an error makes one ready for what it is watched for."""
        ...

    def close(self) -> None:
        """Give it back."""
        ...


class EpollPoller:
    """epoll, whose numbers are the ones used here."""

    def __init__(self) -> None:
        self._epoll = select.epoll()

    def add(self, descriptor: int, events: int) -> None:
        self._epoll.register(descriptor, events)

    def change(self, descriptor: int, events: int) -> None:
        self._epoll.modify(descriptor, events)

    def remove(self, descriptor: int) -> None:
        self._epoll.unregister(descriptor)

    def close(self) -> None:
        self._epoll.close()

    def wait(self, timeout_s: float | None) -> list[tuple[int, int]]:
        return self._epoll.poll(timeout_s)


class SelectorPoller:
    """kqueue or poll, by the standard library."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()

    def add(self, descriptor: int, events: int) -> None:
        if events:
            self._selector.register(descriptor, _mask(events))

    def change(self, descriptor: int, events: int) -> None:
        self.remove(descriptor)
        self.add(descriptor, events)

    def remove(self, descriptor: int) -> None:
        if descriptor in self._selector.get_map():
            self._selector.unregister(descriptor)

    def wait(self, timeout_s: float | None) -> list[tuple[int, int]]:
        return [(key.fd, _events(mask)) for key, mask in self._selector.select(timeout_s)]

    def close(self) -> None:
        self._selector.close()


def _mask(events: int) -> int:
    reads = selectors.EVENT_READ if events & READ else 0
    return reads | (selectors.EVENT_WRITE if events & WRITE else 0)


def _events(mask: int) -> int:
    reads = READ if mask & selectors.EVENT_READ else 0
    return reads | (WRITE if mask & selectors.EVENT_WRITE else 0)


def new_poller() -> Poller:
    """The best one that there is."""
    return EpollPoller() if hasattr(select, "epoll") else SelectorPoller()
