"""Whatever happens to a cluster: decisions can be replayed, and no partition is led wrongly."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.core.controller.state import State
from ottla.core.metadata.image import Image, snapshot
from ottla.core.metadata.partition import NO_LEADER, Partition, PartitionId
from ottla.core.metadata.snapshots import bootstrap_records
from tests.conformance.drawn_cluster import Life
from tests.conformance.kafka_controller import Asked, Cluster, Same

levels = st.sampled_from([30, 30, 29, 25, 21, 17, 11])


class Watched(Cluster):
    """A cluster that asks everything twice before it believes it."""

    def decide(self, asked: Asked, same: Same) -> object:
        before, _ = snapshot(self.image)
        if not asked.line.startswith(("BrokerHeartbeat", "fence", "Create")):
            again = asked.ours()
            assert snapshot(self.image)[0] == before, "I-CTRL-1"
            assert asked.ours() == again, "I-CTRL-1"
        return super().decide(asked, same)


def partitions(image: Image) -> dict[PartitionId, Partition]:
    return {PartitionId(topic.id, number): one for topic, number, one in image.topics}


def check(state: State, before: dict[PartitionId, Partition]) -> None:
    cluster = state.image.cluster
    for place, now in partitions(state.image).items():
        assert now.leader in (NO_LEADER, *now.isr), "I-CTRL-2"
        assert not set(now.elr) & set(now.isr), "I-CTRL-2"
        was = before.get(place)
        joined = set(now.isr) - set(was.isr if was else ())
        assert all(map(cluster.is_active, joined)), "I-CTRL-3"
        if was is None or now == was:
            continue
        assert now.partition_epoch > was.partition_epoch, "I-META-4"
        assert now.leader_epoch >= was.leader_epoch, "I-META-4"
        if now.leader not in (was.leader, NO_LEADER):
            assert cluster.is_active(now.leader), "I-CTRL-3"
            assert now.leader_epoch > was.leader_epoch, "I-META-4"


@settings(max_examples=40)
@given(st.integers(0, 1 << 32), levels)
def test_decisions_keep_the_invariants(seed: int, level: int) -> None:
    life = Life(Watched(seed, bootstrap_records(level)), seed)
    for _ in range(80):
        before = partitions(life.image)
        life.step()
        check(life.state, before)
    made = Image()
    for record in snapshot(life.image)[0]:
        made.replay(record)
    assert snapshot(made)[0] == snapshot(life.image)[0], "I-META-7"
