"""A cluster of one: it elects itself, is told by its own controller, and forgets nothing."""

from errno import EIO, ENOSPC

import pytest

from ottla.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.api.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from ottla.api.create_topics import CreateTopicsRequest, CreateTopicsResponse
from ottla.api.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ottla.api.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ottla.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.api.metadata import MetadataRequest, MetadataResponse
from ottla.broker.broker_life import AGAIN_MS, Stage
from ottla.broker.quorum_log import FOLDER
from ottla.core.controller.producer_ids import BLOCK_IDS
from ottla.core.metadata.configs import ResourceType
from ottla.errors import ErrorCode
from ottla.sim.client import create_topic, start_serving
from ottla.sim.crash import CrashModel
from ottla.sim.faults import Fails, Fault, Operation
from ottla.sim.node import FOLDER as DIRECTORY
from ottla.sim.node import SimulatedNode
from tests.unit.broker.one_node import TOPIC, OneNode


def restart(one: OneNode, *, is_clean: bool = True, has_power_cut: bool = False) -> None:
    """End the node, cleanly or not, and start it again on what is left."""
    if is_clean:
        ended: list[bool] = []
        one.driver.stop(lambda: ended.append(True))
        while not ended:
            one.world.run(one.world.now_ms + 1)
    else:
        one.driver.end()
    if has_power_cut:
        one.disk = one.disk.crash(one.world.chance, CrashModel.POSIX)
    one.driver = SimulatedNode(one.world, one.disk, one.settings)
    one.node = one.driver.node
    start_serving(one.driver)


def metadata(one: OneNode, *names: str) -> MetadataResponse:
    topics = [MetadataRequest.Topic(name=name) for name in names] if names else None
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    return one.ask(request, 12, MetadataResponse)


def delete(one: OneNode, name: str) -> int:
    request = DeleteTopicsRequest(topic_names=[name], timeout_ms=1000)
    return one.ask(request, 5, DeleteTopicsResponse).responses[0].error_code


def test_it_elects_itself_registers_and_serves_only_then() -> None:
    one = OneNode()
    image = one.node.committed.image
    broker = image.cluster.brokers[1]
    assert one.node.life.stage is Stage.SERVING
    assert broker.is_active
    assert broker.epoch == one.node.life.epoch
    assert broker.directories == (b"d" * 16,)
    assert image.features.level == 30


@pytest.mark.parametrize(
    ("is_clean", "has_power_cut"), [(True, True), (False, False), (False, True)]
)
def test_a_restart_forgets_nothing_that_was_answered(is_clean: bool, has_power_cut: bool) -> None:
    one = OneNode()
    topic_id = create_topic(one.driver, "kept", 3, {"retention.ms": "1234"})
    create_topic(one.driver, "gone", 1)
    assert delete(one, "gone") == 0
    epoch = one.node.life.epoch
    restart(one, is_clean=is_clean, has_power_cut=has_power_cut)
    told = {topic.name: topic for topic in metadata(one).topics}
    assert sorted(name or "" for name in told) == ["kept", TOPIC]
    assert told["kept"].topic_id == topic_id
    assert [p.leader_id for p in told["kept"].partitions] == [1, 1, 1]
    kept = one.node.topics.named("kept")
    assert kept is not None
    assert kept.options.log.retention_ms == 1234
    assert one.node.life.epoch > epoch
    # That the broker says how it stopped is what keeps its replicas eligible.
    assert one.node.logs.clean_epoch == (epoch if is_clean else None)


def test_a_leader_epoch_rises_with_every_start_and_stands_in_the_batches() -> None:
    one = OneNode()
    one.produce(one.batch(b"one"))
    restart(one)
    one.produce(one.batch(b"two"))
    partition = one.node.partitions.get(TOPIC, 0)
    assert partition is not None
    epoch = metadata(one, TOPIC).topics[0].partitions[0].leader_epoch
    assert epoch > 0
    assert partition.leader.leader_epoch == epoch
    assert list(partition.history.leader_epochs.entries()) == [(0, 0), (epoch, 1)]


def test_a_topic_made_again_under_its_name_is_another_and_empty() -> None:
    one = OneNode()
    one.produce(one.batch(b"old"))
    before = metadata(one, TOPIC).topics[0].topic_id
    assert delete(one, TOPIC) == 0
    assert metadata(one, TOPIC).topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert delete(one, TOPIC) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    after = create_topic(one.driver, TOPIC, 1)
    assert after != before
    assert one.fetch(0).high_watermark == 0
    names = [name for name in one.disk.names(DIRECTORY) if name.startswith(f"{TOPIC}-0")]
    assert len(names) == 2
    one.world.run(one.world.now_ms + 120_000)
    assert f"{TOPIC}-0" in one.disk.names(DIRECTORY)
    assert not [name for name in one.disk.names(DIRECTORY) if name.endswith("-delete")]


def test_a_topic_grows() -> None:
    one = OneNode()
    wanted = CreatePartitionsRequest.Topic(name=TOPIC, count=3, assignments=None)
    request = CreatePartitionsRequest(topics=[wanted], timeout_ms=1000, validate_only=False)
    assert one.ask(request, 3, CreatePartitionsResponse).results[0].error_code == 0
    assert len(metadata(one, TOPIC).topics[0].partitions) == 3
    assert one.node.partitions.get(TOPIC, 2) is not None


def test_a_setting_has_its_effect_on_an_open_log() -> None:
    one = OneNode()
    told = IncrementalAlterConfigsRequest.Resource
    config = told.Config(name="max.message.bytes", config_operation=0, value="100")
    resource = told(resource_type=ResourceType.TOPIC, resource_name=TOPIC, configs=[config])
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
    assert one.produce(one.batch(bytes(200))).error_code == 0
    answer = one.ask(request, 1, IncrementalAlterConfigsResponse)
    assert answer.responses[0].error_code == 0
    assert one.produce(one.batch(bytes(200))).error_code == ErrorCode.MESSAGE_TOO_LARGE


def test_producer_ids_are_never_given_out_twice() -> None:
    one = OneNode()
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    first = one.ask(request, 4, InitProducerIdResponse).producer_id
    restart(one, is_clean=False)
    assert one.ask(request, 4, InitProducerIdResponse).producer_id == first + BLOCK_IDS


def test_an_answer_waits_until_its_records_are_on_the_device() -> None:
    one = OneNode()
    wanted = CreateTopicsRequest.Topic(
        name="new", num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    before = one.node.committed.end.end_offset
    one.ask(CreateTopicsRequest(topics=[wanted]), 7, CreateTopicsResponse)
    # What was answered outlives a power cut at once.
    restart(one, is_clean=False, has_power_cut=True)
    assert one.node.committed.end.end_offset > before
    assert metadata(one, "new").topics[0].error_code == 0


def test_snapshots_are_written_when_due_and_read_at_a_start() -> None:
    one = OneNode(metadata_log_max_snapshot_interval_ms="1000")
    for number in range(3):
        create_topic(one.driver, f"topic-{number}", 1)
        one.world.run(one.world.now_ms + 1500)
    create_topic(one.driver, "last", 1)
    one.world.run(one.world.now_ms + 1500)
    names = [n for n in one.disk.names(f"{DIRECTORY}/{FOLDER}") if n.endswith(".checkpoint")]
    assert max(names) > "00000000000000000000-0000000000.checkpoint"
    restart(one, is_clean=False)
    assert len(metadata(one).topics) == 5


def test_features_are_told() -> None:
    one = OneNode()
    request = ApiVersionsRequest(client_software_name="x", client_software_version="1")
    told = one.ask(request, 4, ApiVersionsResponse)
    levels = {each.name: each.max_version_level for each in told.finalized_features}
    assert levels["metadata.version"] == 30
    assert levels["kraft.version"] == 1
    assert told.finalized_features_epoch == one.node.committed.end.end_offset - 1
    older = one.ask(request, 3, ApiVersionsResponse)
    assert {each.name for each in older.supported_features} == {"metadata.version"}


def test_nothing_is_answered_of_what_could_not_be_made_durable() -> None:
    one = OneNode()
    one.disk.inject(Fault(Fails(EIO), Operation.SYNC, f"*/{FOLDER}/*.log"))
    wanted = CreateTopicsRequest.Topic(
        name="lost", num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    request = CreateTopicsRequest(topics=[wanted], timeout_ms=500)
    told = one.ask(request, 7, CreateTopicsResponse).topics[0]
    assert told.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert metadata(one, "lost").topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert one.node.partitions.get("lost", 0) is None


def test_a_disk_that_is_full_for_a_while_only_delays_a_start() -> None:
    one = OneNode()
    one.driver.end()
    driver = SimulatedNode(one.world, one.disk)
    # Its own record is written, and not yet committed: the registration comes next.
    while not driver.node.quorum.machine.is_leader:
        one.world.run(one.world.now_ms + 1)
    assert not driver.node.controller.is_active
    one.disk.inject(Fault(Fails(ENOSPC), Operation.WRITE, f"*/{FOLDER}/*.log", count=3))
    began_ms = one.world.now_ms
    start_serving(driver)
    assert one.world.now_ms - began_ms >= AGAIN_MS
