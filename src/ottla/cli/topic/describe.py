"""`ottla topic describe`: all there is to know of some topics."""

import argparse

from ottla.api.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from ottla.cli import EXIT_FINE
from ottla.cli.client.arguments import ClusterArguments, cluster_of, declare_cluster
from ottla.cli.client.cluster import Cluster, Partition, Topic
from ottla.cli.client.connection import check
from ottla.cli.columns import say_columns
from ottla.cli.log.values import Object, json_line
from ottla.cli.quantities import shown_count
from ottla.cli.terminal import Terminal
from ottla.cli.topic.list import replicas_count, state_of, topic_object
from ottla.cli.topic.offsets import EARLIEST, LATEST, offsets_at
from ottla.wire.uuids import uuid_text

_TOPIC = 2
_SET_ON_TOPIC = 1


class DescribeArguments(ClusterArguments):
    """What was typed."""

    topics: list[str]


class Describe:
    """The verb."""

    operands = "TOPIC..."
    description = (
        "Print the partitions of topics: leader, replicas, which of them are in sync, and from\n"
        "which offset to which there are records; and what is configured other than by default."
    )
    examples = (
        "  ottla topic describe orders\n"
        "  ottla topic describe --json orders | jq '.partitions[] | .end_offset'"
    )

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("topics", nargs="+", metavar="TOPIC", help="its name")
        declare_cluster(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        given = DescribeArguments(**vars(arguments))
        with cluster_of(given) as cluster:
            for number, name in enumerate(given.topics):
                described = _Described(cluster, cluster.topic(name))
                if given.json:
                    terminal.say(json_line(described.as_object()))
                else:
                    if number:
                        terminal.say("")
                    described.say(terminal)
        return EXIT_FINE


class _Described:
    def __init__(self, cluster: Cluster, topic: Topic) -> None:
        self.topic = topic
        self.starts = offsets_at(cluster, topic, EARLIEST)
        self.ends = offsets_at(cluster, topic, LATEST)
        self.configs = set_configs(cluster, topic.name or "")

    def as_object(self) -> Object:
        partitions = [self._partition(row) for row in self.topic.partitions]
        return topic_object(self.topic) | {"configs": self.configs, "partitions": partitions}

    def say(self, terminal: Terminal) -> None:
        topic, count = self.topic, sum(self.ends.values()) - sum(self.starts.values())
        head = (
            f"{topic.name}  {shown_count(len(topic.partitions), 'partition')}, "
            f"{shown_count(replicas_count(topic), 'replica')}, "
            f"{shown_count(count, 'offset')}, {state_of(topic)}  id {uuid_text(topic.topic_id)}"
        )
        terminal.say(terminal.paint(head, "bold"))
        for name, value in self.configs.items():
            terminal.say(f"  {name}={value}")
        rows = [tuple(self._partition(row).values()) for row in topic.partitions]
        names = ("partition", "leader", "epoch", "replicas", "in sync", "start", "end")
        say_columns(terminal, names, (list(map(_joined, row)) for row in rows))

    def _partition(self, row: Partition) -> Object:
        index = row.partition_index
        return {
            "partition": index,
            "leader": row.leader_id,
            "leader_epoch": row.leader_epoch,
            "replicas": row.replica_nodes,
            "in_sync_replicas": row.isr_nodes,
            "start_offset": self.starts[index],
            "end_offset": self.ends[index],
        }


def _joined(cell: object) -> str:
    return str(cell).strip("[]").replace(" ", "")


def set_configs(cluster: Cluster, name: str) -> dict[str, str | None]:
    """What is set on a topic itself; a secret is null."""
    resource = DescribeConfigsRequest.Resource(
        resource_type=_TOPIC, resource_name=name, configuration_keys=None
    )
    answer = cluster.ask(DescribeConfigsRequest(resources=[resource]), DescribeConfigsResponse)
    found = answer.results[0]
    check(found.error_code, f"configs of {name}", found.error_message)
    return {
        row.name: row.value
        for row in sorted(found.configs, key=lambda row: row.name)
        if row.config_source == _SET_ON_TOPIC or (row.config_source < 0 and not row.is_default)
    }


def command() -> Describe:
    """What the table of verbs asks for."""
    return Describe()
