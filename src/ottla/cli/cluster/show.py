"""`ottla cluster show`: the brokers, the controller and the quorum."""

import argparse

from ottla.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.api.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from ottla.api.metadata import MetadataResponse
from ottla.cli import EXIT_FINE
from ottla.cli.client.arguments import ClusterArguments, cluster_of, declare_cluster
from ottla.cli.client.cluster import Cluster
from ottla.cli.columns import say_columns
from ottla.cli.log.values import Object, json_line
from ottla.cli.terminal import Terminal

_METADATA_TOPIC = "__cluster_metadata"
_Quorum = DescribeQuorumResponse.Topic.Partition


class Show:
    """The verb."""

    operands = ""
    description = "Print the brokers of a cluster, its quorum of controllers and its features."
    examples = "  ottla cluster show\n  ottla cluster show --json | jq .quorum.leader"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_cluster(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        given = ClusterArguments(**vars(arguments))
        with cluster_of(given) as cluster:
            metadata = cluster.metadata([])
            features, quorum = _features(cluster), _quorum(cluster)
        if given.json:
            terminal.say(json_line(_object(metadata, features, quorum)))
            return EXIT_FINE
        terminal.say(terminal.paint(f"cluster {metadata.cluster_id or 'without an id'}", "bold"))
        names = ("broker", "host", "port", "rack")
        say_columns(terminal, names, ([one or "" for one in row] for row in _brokers(metadata)))
        if quorum is not None:
            voters = ",".join(str(row.replica_id) for row in quorum.current_voters)
            terminal.say(
                f"quorum: leader {quorum.leader_id}, epoch {quorum.leader_epoch}, voters {voters},"
                f" high watermark {quorum.high_watermark}"
            )
        if features:
            terminal.say("features: " + " ".join(f"{n}={level}" for n, level in features.items()))
        return EXIT_FINE


def _brokers(metadata: MetadataResponse) -> list[tuple[int, str, int, str | None]]:
    rows = [(row.node_id, row.host, row.port, row.rack) for row in metadata.brokers]
    return sorted(rows, key=lambda row: row[0])


def _features(cluster: Cluster) -> dict[str, int]:
    asked = ApiVersionsRequest(client_software_name="ottla", client_software_version="1")
    answer = cluster.ask(asked, ApiVersionsResponse)
    rows = sorted(answer.finalized_features, key=lambda row: row.name)
    return {row.name: row.max_version_level for row in rows}


def _quorum(cluster: Cluster) -> _Quorum | None:
    """The quorum, if the cluster has one and may tell."""
    connection = cluster.anyone()
    if DescribeQuorumRequest.api_key not in connection.versions:
        return None
    partition = DescribeQuorumRequest.Topic.Partition(partition_index=0)
    topic = DescribeQuorumRequest.Topic(topic_name=_METADATA_TOPIC, partitions=[partition])
    answer = connection.ask(DescribeQuorumRequest(topics=[topic]), DescribeQuorumResponse)
    if answer.error_code or not answer.topics:
        return None
    found = answer.topics[0].partitions[0]
    return None if found.error_code else found


def _object(metadata: MetadataResponse, features: dict[str, int], quorum: _Quorum | None) -> Object:
    brokers = [
        dict(zip(("broker", "host", "port", "rack"), row, strict=True))
        for row in _brokers(metadata)
    ]
    found: Object = {"cluster_id": metadata.cluster_id, "brokers": brokers, "features": features}
    if quorum is not None:
        found["quorum"] = {
            "leader": quorum.leader_id,
            "epoch": quorum.leader_epoch,
            "high_watermark": quorum.high_watermark,
            "voters": [_replica(row) for row in quorum.current_voters],
            "observers": [_replica(row) for row in quorum.observers],
        }
    return found


def _replica(row: _Quorum.ReplicaState) -> Object:
    return {"node": row.replica_id, "end_offset": row.log_end_offset}


def command() -> Show:
    """What the table of verbs asks for."""
    return Show()
