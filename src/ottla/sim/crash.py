"""What a disk may hold after a power cut: every legal state, or some drawn by chance.

Theory. A file has a content; a folder has entries, each a name and the node it leads to. Of both,
memory knows the present and the device some past. A power cut leaves what the device had. The end
of a process leaves everything, since it takes nothing from the kernel's memory.

Contents, in both models:
 I-CRASH-1  What was written before a sync that succeeded is there: a sector that was not changed
            since then is as it was.
 I-CRASH-2  A sector is there whole: as it was at the last sync, or at any moment since. Each sector
            of a write is kept or lost on its own, so a write may be torn anywhere between sectors.
            A write cannot be there without the earlier ones to the same sector: the kernel brings
            the sector as memory has it, never one write alone.
 I-CRASH-3  The size is one that the file had since its last sync. While bytes are written behind
            its end it passes every sector's bound. It does not wait for the bytes: where they
            are lost and nothing was before, there are zeros.
 I-CRASH-4  After a sync that failed nothing that it should have brought is sure, whatever later
            syncs say, until it is written anew: the kernel counts it as clean. The size alone may
            come with a later sync, as a file system's journal brings it.
 I-CRASH-5  Starting write-back and closing promise nothing. Room allocated is a size like others,
            even below an end that was written and not synced.

Names, in both models:
 I-CRASH-6  A change of entries is sure only after a sync of its folder. A sync of the file does not
            bring its name: a synced file may be without one, and then it is not there.
 I-CRASH-7  A rename within a folder is there whole or not at all.
 I-CRASH-8  Contents do not wait for names, nor names for contents: after a rename the new name may
            lead to a file whose bytes never came.

ORDERED reads ext4 (data=ordered) with the promises that only ext4 makes left out:
 I-CRASH-9  Changes of entries are there in the order they were made, over all folders: some of the
            first are, and none of the others. A rename between folders is one change.
 I-CRASH-10 A cut takes its place among the sizes: with what was before the cut, nothing is there of
            what was written after it, and the other way round, but for what both have below it.

POSIX reads what the standard promises, which is less:
 I-CRASH-11 Any of the changes of entries are there, each on its own; of those of one name the last
            that is there holds. So a name may come without that which was removed before it going.
 I-CRASH-12 A rename of a file between folders is two changes, one for the sync of each folder: the
            file may have both names, or none. A folder is moved in one step, for else it could be
            in itself; found under two names, it keeps one of them, as a check of the disk does.
 I-CRASH-13 Sectors from before and after a cut may be there side by side, with any of the sizes; so
            what a cut takes may be zeros while the file is still as long as before.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise, product
from math import prod
from random import Random
from typing import Final

from ottla.sim.content import SECTOR_BYTES, Content, SizeStep, Way, cut_sector
from ottla.sim.image import Chosen, Entries, Image, State, Tree, Unread, none_unread
from ottla.sim.names import Folder, NameChange, Names, Node

# How often an image is drawn that was there before, until there are taken to be no others.
_DRAWS_PER_IMAGE: Final = 8


class CrashModel(Enum):
    """Which reading of a file system's promises."""

    ORDERED = "ordered"
    POSIX = "posix"


@dataclass(frozen=True, slots=True)
class Span:
    """The states of a content between two cuts: any of the sizes, with any of the sectors."""

    steps: tuple[SizeStep, ...]
    # What each sector may be that is not sure, oldest first, in the order of their numbers.
    sectors: dict[int, list[bytes]]

    def sizes(self) -> Iterator[int]:
        """Every size, and for bytes behind the end the sectors' bounds on the way."""
        for step in self.steps:
            if step.way is Way.WRITTEN:
                first = step.before_bytes // SECTOR_BYTES + 1
                yield from range(first * SECTOR_BYTES, step.size_bytes, SECTOR_BYTES)
            yield step.size_bytes

    def within(self, size_bytes: int) -> dict[int, list[bytes]]:
        """The sectors that matter at a size."""
        return {n: found for n, found in self.sectors.items() if n * SECTOR_BYTES < size_bytes}


def spans(content: Content, model: CrashModel) -> list[Span]:
    """The states that a content may be in: those of one span or another."""
    steps = content.size_steps
    cuts = [index for index, step in enumerate(steps) if step.way is Way.CUT]
    if model is CrashModel.POSIX:
        return [_span(content, steps, [])]
    bounds = [0, *cuts, len(steps)]
    return [
        _span(content, steps[first:end], [steps[cut] for cut in cuts if cut <= first], steps[end:])
        for first, end in pairwise(bounds)
    ]


def _span(
    content: Content, steps: list[SizeStep], cuts: list[SizeStep], later: Iterable[SizeStep] = ()
) -> Span:
    """The states with some sizes, after some cuts and before what came later."""
    end = next((step.moment for step in later), None)
    sectors: dict[int, list[bytes]] = {}
    for number, versions in sorted(content.versions().items()):
        found: dict[bytes, None] = {}
        for moment, version in versions:
            sector = version
            if end is None or moment < end:
                for cut in cuts:
                    if cut.moment > moment:
                        sector = cut_sector(number, sector, cut.size_bytes)
                found[sector] = None
        sectors[number] = list(found)
    return Span(tuple(steps), sectors)


def _every_content(content: Content, model: CrashModel) -> Iterator[Chosen]:
    """All that a device may hold of a file; one state may come more than once."""
    for span in spans(content, model):
        for size_bytes in dict.fromkeys(span.sizes()):
            sectors = span.within(size_bytes)
            for picked in product(*sectors.values()):
                yield size_bytes, dict(zip(sectors, picked, strict=True))


def _count_contents(content: Content, model: CrashModel, at_most: int) -> int:
    """How many states those are, as far as counted."""
    total = 0
    for span in spans(content, model):
        for size_bytes in dict.fromkeys(span.sizes()):
            total += prod(len(found) for found in span.within(size_bytes).values())
            if total > at_most:
                return total
    return total


def _draw_content(content: Content, model: CrashModel, chance: Random) -> Chosen:
    """One state of a file.

    Whole loss, none, a torn tail and one lost sector are what recovery meets most, and even chances
    for each sector of a long write would hardly ever give them.
    """
    found = spans(content, model)
    how = chance.choice(("kept", "lost", "torn", "but one", "any"))
    if how in {"kept", "but one"}:
        span, step = found[-1], found[-1].steps[-1]
    elif how == "lost":
        span, step = found[0], found[0].steps[0]
    else:
        span = chance.choice(found)
        step = chance.choice(span.steps)
    size_bytes = step.size_bytes
    if how in {"torn", "any"} and step.way is Way.WRITTEN:
        bounds = range(step.before_bytes // SECTOR_BYTES + 1, -(-size_bytes // SECTOR_BYTES))
        if bounds and chance.random() < 0.5:
            size_bytes = chance.choice(bounds) * SECTOR_BYTES
    sectors = span.within(size_bytes)
    special = chance.randrange(len(sectors) + 1)
    chosen: dict[int, bytes] = {}
    for index, (number, versions) in enumerate(sectors.items()):
        is_new = how == "kept" or (how == "torn" and index < special)
        if how == "any" or (how == "but one" and index == special):
            chosen[number] = chance.choice(versions)
        else:
            chosen[number] = versions[-1 if is_new or how == "but one" else 0]
    return size_bytes, chosen


def _first_ends(changes: list[NameChange]) -> list[int]:
    """How many changes of entries there may be, in order; halves of one moment stay together."""
    synced = [change.moment for change in changes if change.is_synced]
    moments = [0, *sorted({change.moment for change in changes})]
    return [
        sum(change.moment <= moment for change in changes)
        for moment in moments
        if moment >= max(synced, default=0)
    ]


def _every_naming(names: Names, model: CrashModel) -> Iterator[list[NameChange]]:
    """All sets of changes of entries that the device may have."""
    if model is CrashModel.ORDERED:
        yield from (names.changes[:end] for end in _first_ends(names.changes))
        return
    ways = [(True,) if change.is_synced else (False, True) for change in names.changes]
    for kept in product(*ways):
        yield [change for change, is_kept in zip(names.changes, kept, strict=True) if is_kept]


def _count_namings(names: Names, model: CrashModel) -> int:
    if model is CrashModel.ORDERED:
        return len(_first_ends(names.changes))
    return 1 << sum(not change.is_synced for change in names.changes)


def _draw_naming(names: Names, model: CrashModel, chance: Random) -> list[NameChange]:
    """One such set; all and none are as likely as any other together."""
    if model is CrashModel.ORDERED:
        return names.changes[: chance.choice(_first_ends(names.changes))]
    share = chance.choice((0.0, 1.0, 0.5, 0.9))
    return [change for change in names.changes if change.is_synced or chance.random() < share]


def _entries(names: Names, kept: Iterable[NameChange]) -> Entries:
    """The entries of each folder on the device, as the changes left them."""
    found: dict[Folder, dict[str, Node]] = {}
    for change in kept:
        for folder, name, node in change.entries:
            entries = found.setdefault(folder, dict(folder.settled))
            entries.pop(name, None)
            if node is not None:
                entries[name] = node
    reached: dict[Folder, dict[str, Node]] = {}
    waiting = [names.root]
    seen = {names.root}
    while waiting:
        folder = waiting.pop(0)
        entries = reached[folder] = {}
        for name, node in sorted(found.get(folder, folder.settled).items()):
            if isinstance(node, Folder):
                if node in seen:
                    continue
                seen.add(node)
                waiting.append(node)
            entries[name] = node
    return reached


def count_images(
    names: Names, model: CrashModel, at_most: int, unread: Unread = none_unread
) -> int:
    """How many images there are at most; beyond `at_most` it only says that there are more."""
    if _count_namings(names, model) > at_most:
        return at_most + 1
    total = 0
    known: dict[Content, int] = {}
    for kept in _every_naming(names, model):
        product_here = 1
        tree = Tree(names.root, _entries(names, kept), unread)
        for content in tree.contents:
            if not tree.is_read(content):
                continue
            if content not in known:
                known[content] = _count_contents(content, model, at_most)
            product_here *= known[content]
        total += product_here
        if total > at_most:
            return at_most + 1
    return total


def draw_image(
    names: Names, model: CrashModel, chance: Random, unread: Unread = none_unread
) -> Image:
    """One legal state of the disk."""
    tree = Tree(names.root, _entries(names, _draw_naming(names, model, chance)), unread)
    drawn = [State.of(content, _draw_content(content, model, chance)) for content in tree.contents]
    return Image(tree, drawn)


def _every_image(names: Names, model: CrashModel, unread: Unread) -> Iterator[Image]:
    known: dict[Content, list[State]] = {}
    for kept in _every_naming(names, model):
        tree = Tree(names.root, _entries(names, kept), unread)
        for content in tree.contents:
            if content not in known:
                every = (State.of(content, chosen) for chosen in _every_content(content, model))
                known[content] = list({state.digest: state for state in every}.values())
        some = (
            known[content] if tree.is_read(content) else known[content][:1]
            for content in tree.contents
        )
        for states in product(*some):
            yield Image(tree, states)


def images(
    names: Names, model: CrashModel, images_max: int, chance: Random, unread: Unread
) -> Iterator[Image]:
    """Every legal state once; where there are too many, so many different ones drawn by chance.

    States that differ only in what is unread count as one.
    """
    if count_images(names, model, images_max, unread) <= images_max:
        made = _every_image(names, model, unread)
    else:
        draws = range(images_max * _DRAWS_PER_IMAGE)
        made = (draw_image(names, model, chance, unread) for _ in draws)
    seen: set[bytes] = set()
    for image in made:
        if image.identity not in seen:
            seen.add(image.identity)
            yield image
        if len(seen) == images_max:
            return
