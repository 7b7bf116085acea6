"""`ottla topic list`: the topics of a cluster."""

import argparse

from ottla.cli import EXIT_FINE
from ottla.cli.client.arguments import ClusterArguments, cluster_of, declare_cluster
from ottla.cli.client.cluster import Topic
from ottla.cli.columns import say_columns
from ottla.cli.log.values import Object, json_line
from ottla.cli.terminal import Terminal
from ottla.wire.uuids import uuid_text


class ListArguments(ClusterArguments):
    """What was typed."""

    internal: bool


class List:
    """The verb."""

    operands = ""
    description = "Print the topics of a cluster, with how many partitions and replicas they have."
    examples = "  ottla topic list\n  ottla topic list --json -b broker-1:9092 | jq -r .topic"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_cluster(parser)
        parser.add_argument("--internal", action="store_true", help="Kafka's own topics too")

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        given = ListArguments(**vars(arguments))
        with cluster_of(given) as cluster:
            topics = [one for one in cluster.topics() if given.internal or not one.is_internal]
        if given.json:
            for topic in topics:
                terminal.say(json_line(topic_object(topic)))
        elif topics:
            say_columns(terminal, ("topic", "partitions", "replicas", "state"), map(_row, topics))
        else:
            terminal.note("there are no topics; create one: ottla topic create NAME")
        return EXIT_FINE


def topic_object(topic: Topic) -> Object:
    """What is said of a topic as a whole."""
    return {
        "topic": topic.name,
        "topic_id": uuid_text(topic.topic_id),
        "partitions_count": len(topic.partitions),
        "replicas_count": replicas_count(topic),
        "is_internal": topic.is_internal,
        "state": state_of(topic),
    }


def replicas_count(topic: Topic) -> int:
    """How many replicas the partitions have; the least, if they differ."""
    return min((len(row.replica_nodes) for row in topic.partitions), default=0)


def state_of(topic: Topic) -> str:
    """What is wrong with a topic's replicas, in a few words."""
    offline = sum(row.leader_id < 0 for row in topic.partitions)
    if offline:
        return f"{offline} without leader"
    behind = sum(len(row.isr_nodes) < len(row.replica_nodes) for row in topic.partitions)
    return f"{behind} under-replicated" if behind else "fine"


def _row(topic: Topic) -> tuple[object, ...]:
    return topic.name, len(topic.partitions), replicas_count(topic), state_of(topic)


def command() -> List:
    """What the table of verbs asks for."""
    return List()
