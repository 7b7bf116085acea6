"""An open file of a simulated disk."""

import errno
from collections.abc import Sequence

from ottla.ports import Buffer
from ottla.sim.content import Content
from ottla.sim.device import Device
from ottla.sim.faults import FlipsBit, IsIgnored, Operation, Outcome
from ottla.sim.names import refuse


class SimulatedFile:
    """A file that a process has opened; it closes with its last user at the latest."""

    __slots__ = ("__weakref__", "_content", "_device", "_is_open", "_path", "_read_only")

    def __init__(self, device: Device, path: str, content: Content, *, read_only: bool) -> None:
        self._device = device
        self._path = path
        self._content = content
        self._read_only = read_only
        self._is_open = True
        content.opened += 1
        device.opened[self] = None

    @property
    def descriptor(self) -> int | None:
        return None

    def write(self, parts: Sequence[Buffer], position: int) -> int:
        data = b"".join(parts)
        outcome = self._begin(Operation.WRITE, position, len(data))
        self._check_position(position)
        self._check_writable(errno.EBADF)
        if not data:
            return 0
        count = self._device.writable_count(self._content, position, len(data), outcome)
        if count == 0:
            refuse(errno.ENOSPC, self._path)
        with_room = self._content.room_bytes
        self._content.write(position, data[:count])
        self._touch(with_room)
        return count

    def read(self, position: int, count: int) -> bytes:
        outcome = self._begin(Operation.READ, position, count)
        self._check_position(position)
        found = self._content.read(position, count)
        return self._device.flipped(found) if isinstance(outcome, FlipsBit) else found

    def read_into(self, position: int, buffer: bytearray | memoryview) -> int:
        found = self.read(position, len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def size(self) -> int:
        self._begin(Operation.SIZE)
        return self._content.size_bytes

    def truncate(self, size_bytes: int) -> None:
        self._begin(Operation.TRUNCATE, size_bytes)
        self._check_position(size_bytes)
        self._check_writable(errno.EINVAL)
        with_room = self._content.room_bytes
        self._content.truncate(size_bytes)
        self._touch(with_room)

    def allocate(self, size_bytes: int) -> None:
        self._begin(Operation.ALLOCATE, size_bytes)
        self._check_position(size_bytes)
        if size_bytes == 0:
            return
        self._check_writable(errno.EBADF)
        if self._content.room_missing(size_bytes) > self._device.free_bytes():
            refuse(errno.ENOSPC, self._path)
        with_room = self._content.room_bytes
        self._content.allocate(size_bytes)
        self._touch(with_room)

    def start_writeback(self, position: int, count: int) -> None:
        self._begin(Operation.START_WRITEBACK, position, count)

    def sync(self) -> None:
        outcome = self._begin(Operation.SYNC)
        if not isinstance(outcome, IsIgnored):
            self._content.settle()

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._content.opened -= 1
            # The collector may have dropped it from there already.
            self._device.opened.pop(self, None)
            self._device.free_if_gone(self._content)

    def __del__(self) -> None:
        self.close()

    def _begin(self, operation: Operation, *numbers: int) -> Outcome | None:
        if not self._is_open:
            refuse(errno.EBADF, self._path)
        lose = self._content.lose if operation is Operation.SYNC else None
        return self._device.begin(operation, (self._path,), numbers, lose)

    def _check_writable(self, number: int) -> None:
        if self._read_only:
            refuse(number, self._path)

    def _check_position(self, position: int) -> None:
        if position < 0:
            refuse(errno.EINVAL, self._path)

    def _touch(self, with_room: int) -> None:
        self._content.modified_ms = self._device.now_ms()
        self._device.used_bytes += self._content.room_bytes - with_room
