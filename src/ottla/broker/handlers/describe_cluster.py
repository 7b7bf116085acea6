"""DescribeCluster: the brokers, the controller, the cluster's id."""

from typing import Final, cast

from ottla.api.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from ottla.broker.connections import Request
from ottla.broker.described import CLUSTER_OPERATIONS, NOT_ASKED
from ottla.broker.node import Node
from ottla.errors import ErrorCode
from ottla.wire.fields import Message

BROKERS: Final = 1
CONTROLLERS: Final = 2


def handle(node: Node, message: Message, request: Request) -> Message | None:
    asked = cast("DescribeClusterRequest", message)
    if asked.endpoint_type != BROKERS:
        known = asked.endpoint_type == CONTROLLERS
        code = ErrorCode.MISMATCHED_ENDPOINT_TYPE if known else ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
        response = refuse(message, code)
        assert isinstance(response, DescribeClusterResponse)
        response.endpoint_type = asked.endpoint_type
        return response
    listener = request.connection.listener
    brokers: list[DescribeClusterResponse.Broker] = []
    for id_, broker in sorted(node.committed.image.cluster.brokers.items()):
        point = broker.end_point(listener)
        if point is not None and (asked.include_fenced_brokers or not broker.is_fenced):
            told = DescribeClusterResponse.Broker(
                broker_id=id_,
                host=point.host,
                port=point.port,
                rack=broker.rack,
                is_fenced=broker.is_fenced,
            )
            brokers.append(told)
    is_asked = asked.include_cluster_authorized_operations
    return DescribeClusterResponse(
        throttle_time_ms=0,
        error_code=0,
        cluster_id=node.identity.cluster_id,
        controller_id=node.identity.node_id,
        brokers=brokers,
        cluster_authorized_operations=CLUSTER_OPERATIONS if is_asked else NOT_ASKED,
    )


def refuse(message: Message, code: ErrorCode) -> Message | None:
    del message
    return DescribeClusterResponse(
        throttle_time_ms=0, error_code=code, error_message=None, cluster_id="", brokers=[]
    )
