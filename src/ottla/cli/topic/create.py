"""`ottla topic create`: make topics."""

import argparse

from ottla.api.create_topics import CreateTopicsRequest, CreateTopicsResponse
from ottla.cli import EXIT_FINE
from ottla.cli.client.arguments import ClusterArguments, cluster_of, declare_cluster, pairs
from ottla.cli.client.cluster import Cluster
from ottla.cli.client.connection import check
from ottla.cli.log.values import json_line
from ottla.cli.quantities import shown_count
from ottla.cli.terminal import Terminal
from ottla.errors import ErrorCode
from ottla.wire.uuids import uuid_text

_BROKER_DEFAULT = -1
_OLDEST_WITH_DEFAULTS = 4


class CreateArguments(ClusterArguments):
    """What was typed."""

    topics: list[str]
    partitions: int
    replicas: int
    config: list[str]
    if_not_exists: bool
    dry_run: bool


class Create:
    """The verb."""

    operands = "TOPIC..."
    description = "Make topics, and wait until each of their partitions has a leader."
    examples = (
        "  ottla topic create orders --partitions 6\n"
        "  ottla topic create users --config cleanup.policy=compact --if-not-exists"
    )

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("topics", nargs="+", metavar="TOPIC", help="its name")
        default = "(default: what the cluster says)"
        parser.add_argument(
            "--partitions", type=_count, default=_BROKER_DEFAULT, metavar="N", help=default
        )
        parser.add_argument(
            "--replicas", type=_count, default=_BROKER_DEFAULT, metavar="N", help=default
        )
        parser.add_argument(
            "--config", action="append", default=[], metavar="NAME=VALUE", help="may be repeated"
        )
        parser.add_argument(
            "--if-not-exists", action="store_true", help="be content with one that is there"
        )
        parser.add_argument("--dry-run", action="store_true", help="only ask whether it could be")
        declare_cluster(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        given = CreateArguments(**vars(arguments))
        with cluster_of(given) as cluster:
            answer = _asked(cluster, given)
            there = {ErrorCode.TOPIC_ALREADY_EXISTS.value} if given.if_not_exists else set[int]()
            for row in answer.topics:
                check(row.error_code, f"topic {row.name}", row.error_message, fine=there)
            for row in answer.topics:
                if not given.dry_run:
                    cluster.topic(row.name)
                _say(terminal, row, given)
        return EXIT_FINE


def _asked(cluster: Cluster, given: CreateArguments) -> CreateTopicsResponse:
    config = CreateTopicsRequest.Topic.Config
    configs = [config(name=n, value=v) for n, v in pairs(given.config, "NAME=VALUE").items()]
    topics = [
        CreateTopicsRequest.Topic(
            name=name,
            num_partitions=given.partitions,
            replication_factor=given.replicas,
            assignments=[],
            configs=configs,
        )
        for name in dict.fromkeys(given.topics)
    ]
    request = CreateTopicsRequest(
        topics=topics,
        timeout_ms=int(cluster.timeout_seconds * 1000),
        validate_only=given.dry_run,
    )
    controller = cluster.controller()
    version = controller.version_for(CreateTopicsRequest)
    if version < _OLDEST_WITH_DEFAULTS:
        for topic in topics:
            topic.num_partitions = max(topic.num_partitions, 1)
            topic.replication_factor = max(topic.replication_factor, 1)
    return controller.ask(
        request, CreateTopicsResponse, version=version, wait_seconds=cluster.timeout_seconds
    )


def _say(terminal: Terminal, row: CreateTopicsResponse.Topic, given: CreateArguments) -> None:
    was_there = bool(row.error_code)
    state = "exists" if was_there else "could be created" if given.dry_run else "created"
    if given.json:
        terminal.say(
            json_line(
                {
                    "topic": row.name,
                    "state": state.replace(" ", "_"),
                    "topic_id": None if was_there else uuid_text(row.topic_id),
                    "partitions_count": None if was_there else row.num_partitions,
                    "replicas_count": None if was_there else row.replication_factor,
                }
            )
        )
        return
    counts = ""
    if not was_there and row.num_partitions > 0:
        partitions = shown_count(row.num_partitions, "partition")
        counts = f" with {partitions}, {shown_count(row.replication_factor, 'replica')}"
    terminal.say(f"{row.name} {state}{counts}")


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def command() -> Create:
    """What the table of verbs asks for."""
    return Create()
