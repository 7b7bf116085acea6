"""The segments of a log in the order of their offsets, as a value that is never changed.

A log puts another in its place when segments come or go. Whoever reads keeps the one that it began
with, so readers never wait for deleters, on whatever thread they are.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Self

from ottla.storage.segment import Segment


class Segments:
    """Some segments; their base offsets rise."""

    __slots__ = ("_all", "_bases")

    def __init__(self, segments: Iterable[Segment]) -> None:
        self._all = tuple(sorted(segments, key=lambda segment: segment.base_offset))
        self._bases = [segment.base_offset for segment in self._all]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._all)

    def __contains__(self, segment: object) -> bool:
        return isinstance(segment, Segment) and any(one is segment for one in self._all)

    @property
    def first(self) -> Segment:
        """The oldest one."""
        return self._all[0]

    @property
    def active(self) -> Segment:
        """The one that is appended to."""
        return self._all[-1]

    @property
    def size_bytes(self) -> int:
        """The sum of their batches."""
        return sum(segment.size_bytes for segment in self._all)

    def from_offset(self, offset: int) -> tuple[Segment, ...]:
        """The one that an offset lies in, and all after it; all, if it lies before the first."""
        return self._all[max(0, bisect_right(self._bases, offset) - 1) :]

    def between(self, offset: int, end_offset: int) -> tuple[Segment, ...]:
        """Those that hold offsets of a range, whose end is exclusive."""
        first = max(0, bisect_right(self._bases, offset) - 1)
        return self._all[first : max(first, bisect_left(self._bases, end_offset))]

    def next_base(self, segment: Segment) -> int | None:
        """Where the segment after one begins."""
        place = bisect_right(self._bases, segment.base_offset)
        return self._bases[place] if place < len(self._bases) else None

    def adding(self, *segments: Segment) -> Self:
        """These and others."""
        return type(self)([*self._all, *segments])

    def without(self, gone: Iterable[Segment]) -> Self:
        """These but for some."""
        ids = {id(segment) for segment in gone}
        return type(self)(segment for segment in self._all if id(segment) not in ids)
