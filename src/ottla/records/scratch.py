"""Decompress batch after batch into one buffer, so that no batch pays for memory of its own."""

from typing import Final

from ottla.kernels.faults import LimitExceeded
from ottla.records.compression import RATIO_FREE_BYTES, RATIO_MAX, decompress_into
from ottla.wire.fields import Buffer

_BYTES_AT_FIRST: Final = 1 << 16


class Scratch:
    """A buffer that is as large as the largest batch needed, and at most twice that."""

    def __init__(self) -> None:
        self._held = bytearray()

    def decompress(self, codec: int, data: Buffer, bytes_max: int) -> memoryview:
        """Decompress; what this gives is overwritten by the next call.

        The limits are those of `compression.decompress`. The buffer grows only when bytes did not
        fit, so what a batch claims to hold costs nothing.
        """
        limit_bytes = min(bytes_max, max(RATIO_FREE_BYTES, RATIO_MAX * len(data)))
        if not self._held:
            self._held = bytearray(min(limit_bytes, _BYTES_AT_FIRST))
        while True:
            room = memoryview(self._held)[:limit_bytes]
            try:
                return room[: decompress_into(codec, data, room)]
            except LimitExceeded:
                if len(room) == limit_bytes:
                    raise
            grown_bytes = min(limit_bytes, 2 * len(self._held))
            del room
            # The old one goes before the new one comes, so that they never take memory together.
            self._held = bytearray()
            self._held = bytearray(grown_bytes)
