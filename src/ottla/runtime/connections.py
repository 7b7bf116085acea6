"""One connection: frames cut from its own buffer, answers sent as parts and as ranges of files.

The buffer begins small and grows only by what has come, so a length that a peer claims costs
nothing. Frames are views of it. What is sent waits in a queue; while a peer does not read its
answers its requests are not read either, so that the queue has a bound.

Invariants
  I-SOCK-1  Bytes from `start` to `end` of the buffer have come and belong to no frame given out.
  I-SOCK-2  While more than `QUEUED_BYTES_MAX` wait to be sent, nothing is read or given out.
  I-SOCK-3  The poller is told to watch for writing only while something waits to be sent.
"""

import os
import socket
from collections import deque
from collections.abc import Sequence
from typing import Final

from ottla.broker.effects import Part
from ottla.kernels.faults import Malformed
from ottla.storage.segment import Slice
from ottla.wire.fields import Buffer
from ottla.wire.frame import SIZE_BYTES, frame_end

BUFFER_BYTES_MIN: Final = 4 << 10
BUFFER_BYTES: Final = 512 << 10
"""How far a buffer grows for the sake of fewer calls; only a frame that needs more gets it."""
SMALL_ROUNDS_MAX: Final = 64
QUEUED_BYTES_MAX: Final = 4 << 20
COPIED_BYTES_MAX: Final = 32 << 10
"""A range of a file up to this size is read and sent with the rest: one call less than sendfile."""
_PARTS_MAX: Final = 512
_MORE: Final = getattr(socket, "MSG_MORE", 0)


class Gone(Exception):
    """The peer has ended the connection, or broken the protocol; the text says which."""


class SocketConnection:
    """A connected socket and what is under way on it."""

    __slots__ = (
        "_buffer",
        "_frame_bytes_max",
        "_queue",
        "_queued_bytes",
        "_small_rounds",
        "_socket",
        "_view",
        "descriptor",
        "end",
        "is_closing",
        "is_paused",
        "number",
        "start",
        "watched",
    )

    def __init__(self, number: int, sock: socket.socket, frame_bytes_max: int) -> None:
        """Take over a socket that does not block."""
        self.number = number
        self._socket = sock
        self.descriptor = sock.fileno()
        self.is_paused = False
        self.is_closing = False
        self.watched = 0
        self.start = self.end = 0
        self._frame_bytes_max = frame_bytes_max
        self._buffer = bytearray(BUFFER_BYTES_MIN)
        self._view = memoryview(self._buffer)
        self._queue: deque[Part] = deque()
        self._queued_bytes = 0
        self._small_rounds = 0

    @property
    def wants_to_read(self) -> bool:
        """May further requests come?"""
        return not (self.is_paused or self.is_closing or self._queued_bytes > QUEUED_BYTES_MAX)

    @property
    def wants_to_write(self) -> bool:
        """Does something wait to be sent?"""
        return bool(self._queue)

    def receive(self) -> None:
        """Read once; raises `Gone` at the end of the stream."""
        if self.end == len(self._buffer):
            self._make_room()
        try:
            count = self._socket.recv_into(self._view[self.end :])
        except BlockingIOError:
            return
        except OSError as fault:
            raise Gone(fault.strerror or str(fault)) from None
        if count == 0:
            raise Gone("the peer has closed the connection")
        self.end += count

    def next_frame(self) -> memoryview | None:
        """The next whole frame, if there is one and it may come; raises `Gone` if none can be."""
        start = self.start
        if start == self.end or not self.wants_to_read:
            return None
        try:
            stop = frame_end(self._view, start, self.end, self._frame_bytes_max)
        except Malformed as fault:
            raise Gone(str(fault)) from None
        if stop is None or stop > self.end:
            return None
        self.start = stop
        return self._view[start + SIZE_BYTES : stop]
        return None

    def settle(self) -> None:
        """After the frames are done with: begin anew at the front if nothing is left.

        A buffer that grew for large frames shrinks once none have come for a while.
        """
        if self.start < self.end:
            return
        size = len(self._buffer)
        if size > BUFFER_BYTES:
            self._small_rounds = self._small_rounds + 1 if self.end <= size // 4 else 0
        self.start = self.end = 0
        if self._small_rounds == SMALL_ROUNDS_MAX:
            self._small_rounds = 0
            self._replace(max(BUFFER_BYTES, size // 4))

    def send(self, parts: Sequence[Part]) -> None:
        """Let parts wait to be sent in order."""
        for part in parts:
            size_bytes = part.size_bytes if type(part) is Slice else len(part)
            if size_bytes:
                self._queue.append(part)
                self._queued_bytes += size_bytes

    def flush(self) -> None:
        """Send what the peer takes now; raises `Gone` if there is no peer any more."""
        queue = self._queue
        try:
            while queue:
                is_whole = self._send_file() if isinstance(queue[0], Slice) else self._send_parts()
                if not is_whole:
                    return
        except BlockingIOError:
            return
        except OSError as fault:
            raise Gone(fault.strerror or str(fault)) from None

    def close(self) -> None:
        """Give the socket and all memory back."""
        self._socket.close()
        self._queue.clear()
        self._queued_bytes = 0

    def _make_room(self) -> None:
        """Let there be room after `end`: by moving what is left to the front, or by growing."""
        left = self.end - self.start
        size = len(self._buffer)
        if left > size // 2:
            # Twice as large as what has come, never by what is only claimed.
            self._replace(min(size * 2, self._frame_bytes_max + SIZE_BYTES))
        elif size < BUFFER_BYTES:
            self._replace(size * 4)
        else:
            self._view[:left] = self._view[self.start : self.end]
            self.start, self.end = 0, left

    def _replace(self, size_bytes: int) -> None:
        left = self.end - self.start
        buffer = bytearray(max(size_bytes, left + 1))
        view = memoryview(buffer)
        view[:left] = self._view[self.start : self.end]
        self._buffer, self._view = buffer, view
        self.start, self.end = 0, left

    def _send_parts(self) -> bool:
        """Send bytes that wait before the next large range; answer whether all of them went."""
        parts: list[Buffer] = []
        wanted = 0
        flags = 0
        for part in self._queue:
            if isinstance(part, Slice):
                if part.size_bytes > COPIED_BYTES_MAX:
                    flags = _MORE
                    break
                piece: Buffer = part.file.read(part.position, part.size_bytes)
            else:
                piece = part
            parts.append(piece)
            wanted += len(piece)
            if len(parts) == _PARTS_MAX:
                break
        sent = self._socket.sendmsg(parts, (), flags)
        self._queued_bytes -= sent
        if not self._queued_bytes:
            self._queue.clear()
            return True
        self._drop(parts, sent)
        return sent == wanted

    def _drop(self, parts: Sequence[Buffer], sent: int) -> None:
        """Let go of what was sent; of a part that was sent by half the rest waits."""
        queue = self._queue
        for part in parts:
            size_bytes = len(part)
            if sent < size_bytes:
                if sent:
                    queue[0] = memoryview(part)[sent:]
                return
            sent -= size_bytes
            queue.popleft()

    def _send_file(self) -> bool:
        """Send a range of a file; answer whether all of it went."""
        part = self._queue[0]
        assert isinstance(part, Slice)
        if part.size_bytes <= COPIED_BYTES_MAX:
            return self._send_parts()
        descriptor = part.file.descriptor
        assert descriptor is not None, "a file of the operating system"
        sent = os.sendfile(self.descriptor, descriptor, part.position, part.size_bytes)
        if sent == 0:
            # The file is shorter than when it was read: what was announced cannot be sent.
            raise Gone("a segment ends before what was to be sent of it")
        self._queued_bytes -= sent
        if sent == part.size_bytes:
            self._queue.popleft()
            return True
        self._queue[0] = Slice(part.file, part.position + sent, part.size_bytes - sent)
        return False
