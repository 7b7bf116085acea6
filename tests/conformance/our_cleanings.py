"""Cleans the logs of a node of ours that are due, one after the other, as its cleaner would."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from ottla.kernels.compaction import ENTRY_BYTES, OffsetMap
from ottla.storage.cleaning.cleaner import Cleaner
from ottla.storage.cleaning.cleaning import Cleaning, clean
from ottla.storage.cleaning.plan import plan_cleaning
from ottla.storage.directory_logs import HostedLog
from ottla.storage.file_names import CLEANER_OFFSETS
from tests.conformance.clients import Seen
from tests.conformance.our_directories import OurNode
from tests.conformance.seen_records import seen_records

_KEYS_MAX: Final = 1000
_CLEANINGS_MAX: Final = 10
Values: TypeAlias = dict[bytes | None, bytes | None]
"""By key, the newest value; None where it was deleted."""


def newest(records: list[Seen]) -> Values:
    """What a reader that keeps the newest of each key holds in the end."""
    return {one.key: one.value for one in records}


def living(values: Mapping[bytes | None, bytes | None]) -> Values:
    """The keys that were not deleted."""
    return {key: value for key, value in values.items() if value is not None}


def committed(node: OurNode, topic: str) -> list[Seen]:
    """The records of a topic that a reader of committed ones gets."""
    hosted = node[topic]
    stable = _last_stable_offset(node, hosted)
    start = hosted.log.log_start_offset
    aborted = hosted.log.aborted(start, stable)
    return seen_records(node.partition(topic).records(), aborted, stable)


def clean_due(node: OurNode, now_ms: int) -> int:
    """Clean what is due at a time; the files that were replaced stay, until somebody starts."""
    for hosted in node.logs.current.values():
        if hosted.log.options.is_compacted:
            # Only what is on the device is cleaned.
            hosted.log.flush(now_ms)
    cleaner = Cleaner(node.logs)
    for count in range(_CLEANINGS_MAX):
        chosen = cleaner.choose(lambda hosted: _last_stable_offset(node, hosted), now_ms)
        if chosen is None:
            return count
        found, log = chosen.dirtiness, chosen.hosted.log
        plan = plan_cleaning(log, found.first_dirty_offset, found.upper_offset, now_ms)
        keys = OffsetMap(bytearray(2 * _KEYS_MAX * ENTRY_BYTES), bytes(16), _KEYS_MAX)
        cleaning = Cleaning(plan, keys)
        cleaner.begin(chosen, cleaning)
        clean(log, cleaning)
        cleaner.end(chosen, cleaning)
        home = node.logs.home_of(chosen.hosted.directory)
        job = home.plan_offsets(CLEANER_OFFSETS)
        assert job is not None, "the checkpoint does not say yet how far the log is clean"
        job.run()
        home.offsets.ended(job, has_failed=False)
    raise AssertionError(f"{_CLEANINGS_MAX} cleanings, and one is due still")


def _last_stable_offset(node: OurNode, hosted: HostedLog) -> int:
    log, state = hosted.log, node.history(hosted.partition.topic).state
    state.move_high_watermark(log.end_offset)
    return state.last_stable_offset(log.log_start_offset, log.end_offset)
