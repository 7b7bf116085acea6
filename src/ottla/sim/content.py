"""What a file holds in memory, and what a device may hold of it while it is not synced.

Contents are kept by sector, since a sector is what a device writes whole or not at all. A sector is
never changed in place: memory, device and images share them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import Final, NamedTuple, TypeAlias

SECTOR_BYTES: Final = 512
ZEROS: Final = bytes(SECTOR_BYTES)

# A sector as it was from some moment on.
Version: TypeAlias = tuple[int, bytes]


class Way(Enum):
    """How a file came by a size: by bytes behind its end, in one step, or by a cut."""

    WRITTEN = "written"
    LENGTHENED = "lengthened"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class SizeStep:
    """One size of a file since its last sync, and the size before it."""

    moment: int
    before_bytes: int
    size_bytes: int
    way: Way


class SectorChange(NamedTuple):
    """Sectors that changed at one moment."""

    moment: int
    numbers: Sequence[int]
    old: list[bytes]
    new: list[bytes]


def _sectors(size_bytes: int) -> int:
    """How many sectors hold so many bytes."""
    return -(-size_bytes // SECTOR_BYTES)


def cut_sector(number: int, sector: bytes, size_bytes: int) -> bytes:
    """A sector with zeros for what lies behind a file's end."""
    kept = size_bytes - number * SECTOR_BYTES
    if kept >= SECTOR_BYTES:
        return sector
    return sector[: max(kept, 0)].ljust(SECTOR_BYTES, b"\0")


class Content:
    """The content of a file, whatever its names.

    A moment is a change of the content, counted; what the device surely holds is of moment 0.
    """

    __slots__ = (
        "_changes",
        "_lost",
        "_moment",
        "_reserved_sectors",
        "links",
        "modified_ms",
        "opened",
        "room_bytes",
        "sectors",
        "size_bytes",
        "size_steps",
    )

    def __init__(self, modified_ms: int) -> None:
        self.size_bytes = 0
        self.modified_ms = modified_ms
        self.links = 0
        self.opened = 0
        self.room_bytes = 0
        # In memory: bytes behind the end are zeros, and a sector that is not there is all zeros.
        self.sectors: dict[int, bytes] = {}
        self.size_steps = [SizeStep(0, 0, 0, Way.LENGTHENED)]
        self._moment = 0
        # What a sync would bring to the device, and what one that failed did not.
        self._changes: list[SectorChange] = []
        self._lost: dict[int, list[Version]] = {}
        self._reserved_sectors = 0

    def read(self, position: int, count: int) -> bytes:
        """What memory holds there, up to the end of the file."""
        end = min(position + count, self.size_bytes)
        if end <= position:
            return b""
        first = position // SECTOR_BYTES
        numbers = range(first, _sectors(end))
        found = b"".join([self.sectors.get(number, ZEROS) for number in numbers])
        return found[position - first * SECTOR_BYTES : end - first * SECTOR_BYTES]

    def room_for(self, position: int, count: int, free_bytes: int) -> int:
        """How many bytes of a write find room."""
        for number in range(position // SECTOR_BYTES, _sectors(position + count)):
            if number not in self.sectors and number >= self._reserved_sectors:
                free_bytes -= SECTOR_BYTES
                if free_bytes < 0:
                    return max(number * SECTOR_BYTES - position, 0)
        return count

    def write(self, position: int, data: bytes) -> None:
        """Put bytes somewhere, lengthening the file if need be."""
        self._moment += 1
        end = position + len(data)
        numbers = range(position // SECTOR_BYTES, _sectors(end))
        before, behind = position % SECTOR_BYTES, -end % SECTOR_BYTES
        if before:
            data = self.sectors.get(numbers[0], ZEROS)[:before] + data
        if behind:
            data += self.sectors.get(numbers[-1], ZEROS)[-behind:]
        starts = range(0, len(data), SECTOR_BYTES)
        self._put(numbers, [data[start : start + SECTOR_BYTES] for start in starts])
        if end > self.size_bytes:
            self._resize(end, Way.WRITTEN)

    def truncate(self, size_bytes: int) -> None:
        """Cut the content, or lengthen it by zeros."""
        self._moment += 1
        if size_bytes > self.size_bytes:
            self._resize(size_bytes, Way.LENGTHENED)
        elif size_bytes < self.size_bytes:
            whole = size_bytes // SECTOR_BYTES
            touched = [number for number in self.sectors if number >= whole]
            self._put(touched, [cut_sector(n, self.sectors[n], size_bytes) for n in touched])
            for number in touched:
                if number >= _sectors(size_bytes):
                    del self.sectors[number]
            self._reserved_sectors = min(self._reserved_sectors, _sectors(size_bytes))
            self._resize(size_bytes, Way.CUT)
            self._count_room()

    def room_missing(self, size_bytes: int) -> int:
        """How much more room it takes to have it all up to a size."""
        sectors = _sectors(size_bytes)
        if sectors <= self._reserved_sectors:
            return 0
        known = sum(self._reserved_sectors <= number < sectors for number in self.sectors)
        return (sectors - self._reserved_sectors - known) * SECTOR_BYTES

    def allocate(self, size_bytes: int) -> None:
        """Have room for everything up to a size, and lengthen the content to it if need be."""
        self._reserved_sectors = max(self._reserved_sectors, _sectors(size_bytes))
        self._count_room()
        if size_bytes > self.size_bytes:
            self._moment += 1
            self._resize(size_bytes, Way.LENGTHENED)

    def settle(self) -> None:
        """The device has it all, but for what an earlier sync failed to bring."""
        for change in self._changes:
            for number in change.numbers:
                self._lost.pop(number, None)
        self._changes.clear()
        self.size_steps = [SizeStep(0, self.size_bytes, self.size_bytes, Way.LENGTHENED)]

    def lose(self) -> None:
        """A sync failed: what it should have brought counts as clean, and no sync will bring it."""
        self._lost = self.versions()
        self._changes.clear()

    def versions(self) -> dict[int, list[Version]]:
        """On the device: of these sectors any version; of all others what memory holds."""
        found = {number: list(versions) for number, versions in self._lost.items()}
        for change in self._changes:
            for number, old, new in zip(change.numbers, change.old, change.new, strict=True):
                found.setdefault(number, [(0, old)]).append((change.moment, new))
        return found

    def forget(self, chance: Random) -> None:
        """Drop from memory what counts as clean, so that reads show what the device holds."""
        dirty = {number for change in self._changes for number in change.numbers}
        for number in sorted(self._lost.keys() - dirty):
            held = chance.choice(self._lost.pop(number))[1]
            if number in self.sectors:
                self.sectors[number] = cut_sector(number, held, self.size_bytes)

    def flip_bit(self, position: int, bit: int) -> None:
        """Change one bit of a synced sector behind everyone's back, as rot does."""
        number, at = divmod(position, SECTOR_BYTES)
        assert number in self.sectors, "nothing was written there"
        assert number not in self.versions(), "rot is told apart from loss only where all is synced"
        changed = bytearray(self.sectors[number])
        changed[at] ^= 1 << bit
        self.sectors[number] = bytes(changed)

    def image(self, size_bytes: int, chosen: Mapping[int, bytes]) -> "Content":
        """This content as a device may hold it: of this size, and these sectors of its own."""
        made = Content(self.modified_ms)
        made.size_bytes = size_bytes
        count = _sectors(size_bytes)
        for number, sector in {**self.sectors, **chosen}.items():
            if number < count and (number in self.sectors or sector != ZEROS):
                made.sectors[number] = cut_sector(number, sector, size_bytes)
        made._reserved_sectors = min(self._reserved_sectors, count)
        made._count_room()
        made.settle()
        return made

    def _put(self, numbers: Sequence[int], new: list[bytes]) -> None:
        """Change sectors in memory, and remember what was there."""
        sectors = self.sectors
        reserved = self._reserved_sectors
        fresh = sum(number >= reserved and number not in sectors for number in numbers)
        old = [sectors.get(number, ZEROS) for number in numbers]
        sectors.update(zip(numbers, new, strict=True))
        self._changes.append(SectorChange(self._moment, numbers, old, new))
        self.room_bytes += fresh * SECTOR_BYTES

    def _resize(self, size_bytes: int, way: Way) -> None:
        self.size_steps.append(SizeStep(self._moment, self.size_bytes, size_bytes, way))
        self.size_bytes = size_bytes

    def _count_room(self) -> None:
        beyond = sum(number >= self._reserved_sectors for number in self.sectors)
        self.room_bytes = (self._reserved_sectors + beyond) * SECTOR_BYTES
