"""What goes wrong on a simulated disk, as data: which call, on which paths, with what outcome."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from typing import Final, TypeAlias


class Operation(Enum):
    """The calls of the port that can fail: all but closing and releasing."""

    OPEN = "open"
    STATUS = "status"
    SET_MODIFIED = "set-modified"
    NAMES = "names"
    MAKE_FOLDER = "make-folder"
    RENAME = "rename"
    REMOVE = "remove"
    SYNC_FOLDER = "sync-folder"
    FREE_BYTES = "free-bytes"
    LOCK = "lock"
    WRITE = "write"
    READ = "read"
    SIZE = "size"
    TRUNCATE = "truncate"
    ALLOCATE = "allocate"
    START_WRITEBACK = "start-writeback"
    SYNC = "sync"


@dataclass(frozen=True, slots=True)
class Fails:
    """The call raises an `OSError` of this number.

    A sync that fails takes what it should have kept for written: no later sync brings it.
    """

    number: int


@dataclass(frozen=True, slots=True)
class WritesShort:
    """A write stops early: after so many bytes, or where chance says."""

    bytes_max: int | None = None

    def __post_init__(self) -> None:
        assert self.bytes_max is None or self.bytes_max > 0, "a write of nothing would never end"


@dataclass(frozen=True, slots=True)
class FlipsBit:
    """A read gives one bit wrong; what is on the disk stays right."""


@dataclass(frozen=True, slots=True)
class IsIgnored:
    """A sync says that it is done, and has done nothing: a disk that lies."""


@dataclass(frozen=True, slots=True)
class CutsPower:
    """`PowerCut` is raised before the call does anything."""


Outcome: TypeAlias = Fails | WritesShort | FlipsBit | IsIgnored | CutsPower

_SYNCS: Final = frozenset({Operation.SYNC, Operation.SYNC_FOLDER})
# What can come only of these operations; the other outcomes can come of any.
_SUITED: Final[dict[type[Outcome], frozenset[Operation]]] = {
    WritesShort: frozenset({Operation.WRITE}),
    FlipsBit: frozenset({Operation.READ}),
    IsIgnored: _SYNCS,
}


class PowerCut(BaseException):
    """The power went. No handler of `Exception` may go on as if the disk were still there."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The calls from the `first` that matches on, `count` of them (None: for ever), go wrong.

    A pattern is one of a shell, whose `*` also takes in `/`; it is held against the path by which
    a file was opened. A folder also matches the pattern of all that is in it.
    """

    outcome: Outcome
    operation: Operation | None = None
    paths: str = "*"
    first: int = 1
    count: int | None = 1

    def __post_init__(self) -> None:
        suited = _SUITED.get(type(self.outcome))
        assert suited is None or self.operation in suited, f"{self.operation}: {self.outcome}"

    def matches(self, operation: Operation, paths: Iterable[str]) -> bool:
        """Whether a call is one of those that the fault counts."""
        if self.operation not in (None, operation):
            return False
        return any(
            fnmatchcase(path, self.paths) or fnmatchcase(f"{path}/", self.paths) for path in paths
        )


@dataclass(slots=True)
class FaultTable:
    """The faults of one disk, and how often each was met."""

    _met: dict[Fault, int] = field(default_factory=dict[Fault, int])

    def add(self, fault: Fault) -> None:
        """Let it happen, counting from now."""
        self._met[fault] = 0

    def clear(self) -> None:
        """Let nothing go wrong from now on."""
        self._met.clear()

    def outcome(self, operation: Operation, paths: Iterable[str]) -> Outcome | None:
        """What becomes of a call, by the first fault that says so; every fault counts it."""
        found: Outcome | None = None
        for fault, met in list(self._met.items()):
            if not fault.matches(operation, paths):
                continue
            self._met[fault] += 1
            since = met + 1 - fault.first
            is_due = since >= 0 and (fault.count is None or since < fault.count)
            if is_due and found is None:
                found = fault.outcome
        return found
