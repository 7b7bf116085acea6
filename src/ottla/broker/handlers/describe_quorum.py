"""DescribeQuorum: who votes on the metadata log, and how far each has come."""

from typing import cast

from ottla.api.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from ottla.broker.connections import Request
from ottla.broker.node import Node
from ottla.core.quorum.options import CLUSTER_METADATA
from ottla.errors import ErrorCode
from ottla.wire.fields import Message

_Topic = DescribeQuorumResponse.Topic


def handle(node: Node, message: Message, request: Request) -> Message | None:
    del request
    asked = cast("DescribeQuorumRequest", message)
    wanted = [(one.topic_name, [p.partition_index for p in one.partitions]) for one in asked.topics]
    if wanted != [(CLUSTER_METADATA, [0])]:
        return refuse(message, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    machine = node.quorum.machine
    own = machine.options.key
    state = _Topic.Partition.ReplicaState(
        replica_id=own.id,
        replica_directory_id=own.directory_id,
        log_end_offset=machine.log.end_offset,
        last_fetch_timestamp=node.clock.wall_ms,
        last_caught_up_timestamp=node.clock.wall_ms,
    )
    partition = _Topic.Partition(
        partition_index=0,
        error_code=0,
        leader_id=machine.leadership.leader_id,
        leader_epoch=machine.epoch,
        high_watermark=machine.high_watermark,
        current_voters=[state],
        observers=[],
    )
    told = DescribeQuorumResponse.Node
    nodes = [
        told(
            node_id=voter.key.id,
            listeners=[
                told.Listener(name=one.name, host=one.host, port=one.port)
                for one in voter.endpoints
            ],
        )
        for voter in machine.history.voters.voters
    ]
    topic = _Topic(topic_name=CLUSTER_METADATA, partitions=[partition])
    return DescribeQuorumResponse(error_code=0, topics=[topic], nodes=nodes)


def refuse(message: Message, code: ErrorCode) -> Message | None:
    asked = cast("DescribeQuorumRequest", message)
    told = _Topic.Partition
    return DescribeQuorumResponse(
        error_code=0,
        topics=[
            _Topic(
                topic_name=topic.topic_name,
                partitions=[
                    told(
                        partition_index=one.partition_index,
                        error_code=code,
                        leader_id=0,
                        leader_epoch=0,
                        high_watermark=0,
                        current_voters=[],
                        observers=[],
                    )
                    for one in topic.partitions
                ],
            )
            for topic in asked.topics
        ],
    )
