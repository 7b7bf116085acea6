"""`ottla topic delete`: remove topics with all their records."""

import argparse

from ottla.api.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ottla.cli import EXIT_FINE
from ottla.cli.client.arguments import ChangeArguments, cluster_of, declare_cluster, declare_yes
from ottla.cli.client.cluster import Cluster, Topic
from ottla.cli.client.confirmation import confirm
from ottla.cli.client.connection import check
from ottla.cli.log.values import json_line
from ottla.cli.quantities import shown_count
from ottla.cli.terminal import Terminal
from ottla.cli.topic.offsets import EARLIEST, LATEST, offsets_at

_OLDEST_WITH_IDS = 6


class DeleteArguments(ChangeArguments):
    """What was typed."""

    topics: list[str]


class Delete:
    """The verb."""

    operands = "TOPIC..."
    description = "Remove topics with all their records. What would go is shown, and asked first."
    examples = "  ottla topic delete orders\n  ottla topic delete --yes test-1 test-2"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("topics", nargs="+", metavar="TOPIC", help="its name")
        declare_yes(parser)
        declare_cluster(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        given = DeleteArguments(**vars(arguments))
        with cluster_of(given) as cluster:
            topics = [cluster.topic(name) for name in dict.fromkeys(given.topics)]
            if not given.yes:
                for topic in topics:
                    terminal.note(_what_goes(cluster, topic))
            if not confirm(terminal, "remove for good?", is_certain=given.yes):
                return EXIT_FINE
            for name in _deleted(cluster, topics):
                line = json_line({"topic": name, "state": "deleted"})
                terminal.say(line if given.json else f"{name} deleted")
        return EXIT_FINE


def _what_goes(cluster: Cluster, topic: Topic) -> str:
    starts, ends = (offsets_at(cluster, topic, time) for time in (EARLIEST, LATEST))
    count = sum(ends.values()) - sum(starts.values())
    partitions = shown_count(len(topic.partitions), "partition")
    return f"{topic.name}: {partitions}, {shown_count(count, 'offset')} of records"


def _deleted(cluster: Cluster, topics: list[Topic]) -> list[str]:
    """Remove the very topics that were shown: by id, so that a new one of the name is safe."""
    controller = cluster.controller()
    version = controller.version_for(DeleteTopicsRequest)
    names = {topic.topic_id: topic.name or "" for topic in topics}
    request = DeleteTopicsRequest(timeout_ms=int(cluster.timeout_seconds * 1000))
    if version >= _OLDEST_WITH_IDS:
        row = DeleteTopicsRequest.Topic
        request.topics = [row(name=None, topic_id=topic.topic_id) for topic in topics]
    else:
        request.topic_names = [topic.name or "" for topic in topics]
    answer = controller.ask(
        request, DeleteTopicsResponse, version=version, wait_seconds=cluster.timeout_seconds
    )
    deleted: list[str] = []
    for found in answer.responses:
        name = found.name or names.get(found.topic_id, "")
        check(found.error_code, f"topic {name}", found.error_message)
        deleted.append(name)

    def is_seen() -> bool:
        found = cluster.metadata(deleted).topics
        return all(row.error_code or row.topic_id not in names for row in found)

    cluster.settle(is_seen)
    return deleted


def command() -> Delete:
    """What the table of verbs asks for."""
    return Delete()
