"""Whatever the metadata log holds: a snapshot makes the same image, the impossible stays out."""

from hypothesis import given
from hypothesis import strategies as st

from ottla.api.metadata_records import FeatureLevelRecord
from ottla.core.metadata.difference import difference
from ottla.core.metadata.features import ELIGIBLE_LEADER_REPLICAS_VERSION
from ottla.core.metadata.image import Image, snapshot
from ottla.core.metadata.partition import NO_LEADER
from ottla.kernels.faults import InvalidValue
from tests.conformance.drawn_metadata import Drawn

seeds = st.integers(0, 1 << 32)


def history(seed: int, count: int) -> Drawn:
    drawn = Drawn(seed)
    for _ in range(count):
        drawn.next()
    return drawn


@given(seeds, st.integers(1, 150))
def test_a_snapshot_makes_the_same_image(seed: int, count: int) -> None:
    image = history(seed, count).image
    # Without it eligible leader replicas that are left are not written, as Kafka does not.
    image.replay(FeatureLevelRecord(name=ELIGIBLE_LEADER_REPLICAS_VERSION, feature_level=1))
    records, lost = snapshot(image)
    made = Image()
    for record in records:
        made.replay(record)
    assert not lost
    assert snapshot(made)[0] == records
    changes = difference(image, made)
    assert changes == difference(image, image)
    assert not changes.partitions


@given(seeds, st.integers(1, 60), st.integers(1, 60))
def test_changes_are_the_difference_as_far_as_anything_differs(
    seed: int, first: int, second: int
) -> None:
    drawn = history(seed, first)
    before = drawn.image.copy()
    drawn.image.take_changes()
    for _ in range(second):
        drawn.next()
    taken, needed = drawn.image.take_changes(), difference(before, drawn.image)
    for name in ("features", "brokers", "partitions", "configs", "quotas", "access"):
        all_of_them, different = getattr(taken, name), getattr(needed, name)
        assert {key: all_of_them[key] for key in different} == different
    assert taken.topics_created == needed.topics_created
    assert taken.topics_deleted == needed.topics_deleted


@given(seeds, seeds, st.integers(1, 60))
def test_a_record_is_taken_in_or_changes_nothing(seed: int, other: int, count: int) -> None:
    image, foreign = history(seed, count).image, Drawn(other)
    for _ in range(20):
        record = foreign.next()
        before = snapshot(image)[0]
        try:
            image.replay(record)
        except InvalidValue:
            assert snapshot(image)[0] == before
        for _, _, partition in image.topics:
            assert set(partition.isr) <= set(partition.replicas)
            assert len(set(partition.replicas)) == len(partition.directories)
            assert partition.leader in (NO_LEADER, *partition.replicas)
