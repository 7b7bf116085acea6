"""Which log of a node is cleaned, when, and what is remembered of it."""

from dataclasses import replace

from ottla.kernels.compaction import ENTRY_BYTES, OffsetMap
from ottla.records.builder import BatchOptions, write_batch
from ottla.records.scan import scan
from ottla.sim.disk import SimulatedDisk
from ottla.storage.cleaning.cleaner import Chosen, Cleaner
from ottla.storage.cleaning.cleaning import Cleaning, clean
from ottla.storage.cleaning.plan import plan_cleaning
from ottla.storage.directory_logs import HostedLog
from ottla.storage.file_names import CLEANER_OFFSETS
from ottla.storage.logs import Logs
from tests.unit.storage.log_directories import formatted
from tests.unit.storage.node_logs import SMALL, T, append, create, orders, started

COMPACTED = replace(SMALL, is_compacted=True, is_deleted=False, delete_retention_ms=1000)


def ready(*batches: int) -> tuple[SimulatedDisk, Logs, Cleaner]:
    """Compacted logs of so many batches each, of one key."""
    disk = formatted(("/a",))
    logs = started(disk, ("/a",))
    for number, count in enumerate(batches):
        hosted = create(logs, orders(number), COMPACTED)
        append(hosted, count)
        hosted.log.flush(T)
    return disk, logs, Cleaner(logs)


def all_of(hosted: HostedLog) -> int:
    return hosted.log.end_offset


def cleaning_of(chosen: Chosen, now_ms: int = T) -> Cleaning:
    found = chosen.dirtiness
    log = chosen.hosted.log
    plan = plan_cleaning(log, found.first_dirty_offset, found.upper_offset, now_ms)
    return Cleaning(plan, OffsetMap(bytearray(100 * ENTRY_BYTES), bytes(16), 90))


def cleaned(logs: Logs, cleaner: Cleaner, chosen: Chosen, now_ms: int = T) -> None:
    """Clean what was chosen, and write the checkpoint."""
    cleaning = cleaning_of(chosen, now_ms)
    cleaner.begin(chosen, cleaning)
    for removal in clean(chosen.hosted.log, cleaning):
        removal.run()
    cleaner.end(chosen, cleaning)
    job = logs.home_of(chosen.hosted.directory).plan_offsets(CLEANER_OFFSETS)
    if job is not None:
        job.run()
        logs.home_of(chosen.hosted.directory).offsets.ended(job, has_failed=False)
    assert chosen.hosted.cleaned_offset == cleaning.end_offset


def put_tombstone(hosted: HostedLog) -> None:
    base = hosted.log.end_offset
    data = bytes(write_batch([(base, T, b"gone", None, ())], BatchOptions(base_offset=base)))
    hosted.log.append([(data, scan(data).rows)], T)


def test_the_dirtiest_log_comes_first_and_none_twice_at_once() -> None:
    _, logs, cleaner = ready(20, 40, 3)
    first = cleaner.choose(all_of, T)
    assert first is not None
    assert first.dirtiness.ratio == cleaner.dirtiest_ratio == 1
    second = cleaner.choose(all_of, T)
    assert second is not None
    assert {first.hosted.partition, second.hosted.partition} == {orders(0), orders(1)}
    # The third has only its active segment.
    assert cleaner.choose(all_of, T) is None
    assert cleaner.dirtiest_ratio == 0
    assert len(logs) == 3


def test_where_a_log_is_clean_is_known_after_a_start() -> None:
    disk, logs, cleaner = ready(20)
    chosen = cleaner.choose(all_of, T)
    assert chosen is not None
    cleaned(logs, cleaner, chosen)
    assert cleaner.choose(all_of, T) is None
    offset = chosen.hosted.cleaned_offset
    assert disk.contents()[f"/a/{CLEANER_OFFSETS}"] == b"0\n1\norders 0 %d\n" % (offset or 0)
    logs.directories.release()
    disk.end_process()
    assert started(disk, ("/a",))[orders(0)].cleaned_offset == offset


def test_little_dirt_waits_until_there_is_more() -> None:
    _, logs, cleaner = ready(40)
    chosen = cleaner.choose(all_of, T)
    assert chosen is not None
    hosted = chosen.hosted
    hosted.log.options = replace(COMPACTED, min_cleanable_ratio=0.99)
    cleaned(logs, cleaner, chosen)
    append(hosted, 20)
    hosted.log.flush(T)
    assert cleaner.choose(all_of, T) is None
    assert 0.5 < cleaner.dirtiest_ratio <= 0.99
    hosted.log.options = COMPACTED
    assert cleaner.choose(all_of, T) is not None


def test_an_undecided_record_holds_back_its_segment() -> None:
    _, logs, cleaner = ready(40)
    base = next(s for s in logs[orders(0)].log.segments if s.base_offset > 20).base_offset
    chosen = cleaner.choose(lambda _: base + 1, T)
    assert chosen is not None
    assert chosen.dirtiness.upper_offset == base
    cleaner.give_up(chosen)
    assert cleaner.choose(lambda _: 1, T) is None


def test_a_log_that_failed_does_not_keep_others_waiting() -> None:
    _, _, cleaner = ready(20, 20)
    chosen = cleaner.choose(all_of, T)
    assert chosen is not None
    cleaner.give_up(chosen, "it is damaged")
    assert cleaner.uncleanable == {chosen.hosted.partition: "it is damaged"}
    other = cleaner.choose(all_of, T)
    assert other is not None
    assert other.hosted is not chosen.hosted
    cleaner.forget(chosen.hosted.partition)
    again = cleaner.choose(all_of, T)
    assert again is not None
    assert again.hosted is chosen.hosted


def test_a_pause_cancels_and_holds_until_all_are_taken_back() -> None:
    _, _, cleaner = ready(20)
    chosen = cleaner.choose(all_of, T)
    assert chosen is not None
    cleaning = cleaning_of(chosen)
    cleaner.begin(chosen, cleaning)
    assert not cleaner.pause(orders(0))
    assert cleaning.is_cancelled
    cleaner.give_up(chosen)
    assert cleaner.pause(orders(0))
    cleaner.resume(orders(0))
    assert cleaner.choose(all_of, T) is None
    cleaner.resume(orders(0))
    assert cleaner.choose(all_of, T) is not None


def test_a_log_without_new_records_is_cleaned_once_its_tombstones_time_has_come() -> None:
    _, logs, cleaner = ready(20)
    hosted = logs[orders(0)]
    put_tombstone(hosted)
    append(hosted, 20)
    hosted.log.flush(T)
    chosen = cleaner.choose(all_of, T)
    assert chosen is not None
    cleaned(logs, cleaner, chosen)
    horizon_ms = T + COMPACTED.delete_retention_ms
    assert cleaner.choose(all_of, horizon_ms - 1) is None
    chosen = cleaner.choose(all_of, horizon_ms)
    assert chosen is not None
    assert chosen.dirtiness.cleanable_bytes == 0
    before = hosted.log.size_bytes
    cleaned(logs, cleaner, chosen, horizon_ms)
    assert hosted.log.size_bytes < before
    assert cleaner.choose(all_of, 2 * horizon_ms) is None
