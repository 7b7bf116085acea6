"""Where new replicas go: over the racks in turn, and in each rack over its brokers in turn.

Each rack has two lists, of brokers that are well and of fenced ones, each begun at a place that is
drawn. A partition takes its first replica from the rack whose turn it is, if that has a broker that
is well, and the others from the racks in order, leaving out that one on the first round; fenced
brokers come only when a rack has no others left. From one partition to the next the turn goes on by
one, in the racks and in each list. When every broker that is well could have had its turn as the
first, all lists are shuffled, so that topics of many partitions do not repeat one pattern.
"""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from ottla.core.controller.state import Chance, Refusal
from ottla.errors import ErrorCode

_T = TypeVar("_T")


class UsableBroker(NamedTuple):
    """A broker that can get replicas."""

    id: int
    rack: str | None
    is_fenced: bool


class _Brokers:
    """One list of a rack, from which each partition takes a broker at most once."""

    __slots__ = ("_partition", "_start", "_taken", "ids")

    def __init__(self) -> None:
        self.ids: list[int] = []
        self._start = self._taken = self._partition = 0

    def begin(self, chance: Chance) -> None:
        if self.ids:
            self.ids.sort()
            self._start = chance.randrange(len(self.ids))

    def next(self, partition: int) -> int | None:
        if not self.ids:
            return None
        if self._partition != partition:
            self._partition, self._taken = partition, 0
            self._start = (self._start + 1) % len(self.ids)
        if self._taken >= len(self.ids):
            return None
        self._taken += 1
        return self.ids[(self._taken - 1 + self._start) % len(self.ids)]


class _Rack:
    __slots__ = ("fenced", "well")

    def __init__(self) -> None:
        self.fenced = _Brokers()
        self.well = _Brokers()

    def next(self, partition: int) -> int | None:
        found = self.well.next(partition)
        return self.fenced.next(partition) if found is None else found


class _Racks:
    """All racks, and whose turn it is."""

    def __init__(self, brokers: Iterable[UsableBroker], chance: Chance) -> None:
        self._chance = chance
        self.racks: dict[str | None, _Rack] = {}
        self.count = self.count_well = 0
        for broker in brokers:
            rack = self.racks.setdefault(broker.rack, _Rack())
            (rack.fenced if broker.is_fenced else rack.well).ids.append(broker.id)
            self.count += 1
            self.count_well += not broker.is_fenced
        # Those without a rack come first.
        self._names = sorted(self.racks, key=lambda name: (name is not None, name or ""))
        for name in self._names:
            self.racks[name].fenced.begin(chance)
            self.racks[name].well.begin(chance)
        self._turn = chance.randrange(len(self._names)) if self._names else 0
        self._partition = 0

    def place(self, replicas: int) -> list[int]:
        if self._partition == self.count_well and self.count_well > 1:
            self._shuffle()
            self._partition = 0
        self._turn %= len(self._names)
        first_rack, first = self._first()
        chosen = [first]
        rack = self._turn
        skipped = False
        while len(chosen) < replicas:
            if rack == first_rack and not skipped:
                skipped = True
            else:
                found = self.racks[self._names[rack]].next(self._partition)
                chosen.extend([] if found is None else [found])
            rack = (rack + 1) % len(self._names)
        self._partition += 1
        self._turn += 1
        return chosen

    def _first(self) -> tuple[int, int]:
        """The rack that gives the first replica, and which broker that is."""
        for step in range(len(self._names)):
            rack = (self._turn + step) % len(self._names)
            found = self.racks[self._names[rack]].well.next(self._partition)
            if found is not None:
                return rack, found
        raise AssertionError("some broker is well, so some rack has one")

    def _shuffle(self) -> None:
        names = sorted(self.racks, key=lambda name: (name is not None, name or ""))
        _shuffle(self._names, self._chance)
        for name in names:
            _shuffle(self.racks[name].fenced.ids, self._chance)
            _shuffle(self.racks[name].well.ids, self._chance)


def _shuffle(things: list[_T], chance: Chance) -> None:
    """Shuffle as Java does, so that equal chance gives equal places."""
    for last in range(len(things) - 1, 0, -1):
        other = chance.randrange(last + 1)
        things[last], things[other] = things[other], things[last]


def place(
    brokers: Iterable[UsableBroker], partitions: int, replicas: int, chance: Chance
) -> list[list[int]] | Refusal:
    """The replicas of each new partition, the preferred leader first."""
    racks = _Racks(brokers, chance)
    reason = ""
    if replicas <= 0:
        reason = f"Invalid replication factor {replicas}: the replication factor must be positive."
    elif not racks.count_well:
        reason = "All brokers are currently fenced, or have all their log directories cordoned."
    elif replicas > racks.count:
        reason = (
            f"The target replication factor of {replicas} cannot be reached because only"
            f" {racks.count} broker(s) are registered or some brokers have all their log"
            " directories cordoned."
        )
    if reason:
        return Refusal(ErrorCode.INVALID_REPLICATION_FACTOR, reason)
    return [racks.place(replicas) for _ in range(partitions)]
