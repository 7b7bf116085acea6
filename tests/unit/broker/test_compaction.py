"""A node cleans its compacted topics, without being told to."""

from ottla.records.scan import scan
from ottla.wire.topics import TopicPartition
from tests.unit.broker.one_node import TOPIC, OneNode

CONFIGS = {
    "cleanup.policy": "compact",
    "segment.bytes": str(1 << 20),
    "min.cleanable.dirty.ratio": "0.01",
}
BACKOFF_MS = 15_000


def filled(**settings: str) -> OneNode:
    made = OneNode(CONFIGS, **settings)
    for number in range(30):
        assert made.produce(made.batch(*[b"%d" % number * 100_000])).error_code == 0
    made.world.run(BACKOFF_MS * 3)
    return made


def offsets(made: OneNode) -> list[int]:
    found, offset = list[int](), 0
    while True:
        answer = made.fetch(offset)
        rows = scan(bytes(answer.records or b"")).rows
        if not rows:
            return found
        found += [row.base_offset for row in rows if row.records_count]
        offset = rows[-1].last_offset + 1


def test_a_compacted_topic_ends_up_cleaned() -> None:
    made = filled()
    hosted = made.node.logs.logs[TopicPartition(TOPIC, 0)]
    active = hosted.log.segments.active.base_offset
    assert hosted.cleaned_offset == active > 0
    assert offsets(made) == [active - 1, *range(active, 30)]


def test_without_the_cleaner_all_stays() -> None:
    assert offsets(filled(log_cleaner_enable="false")) == list(range(30))
