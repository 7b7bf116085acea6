"""`ottla topic grow`: give a topic more partitions."""

import argparse

from ottla.api.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from ottla.cli import EXIT_FINE
from ottla.cli.client.arguments import ChangeArguments, cluster_of, declare_cluster, declare_yes
from ottla.cli.client.cluster import Cluster
from ottla.cli.client.confirmation import confirm
from ottla.cli.client.connection import check
from ottla.cli.log.arguments import count
from ottla.cli.log.values import json_line
from ottla.cli.terminal import Terminal


class GrowArguments(ChangeArguments):
    """What was typed."""

    topic: str
    partitions: int
    dry_run: bool


class Grow:
    """The verb."""

    operands = "TOPIC --partitions N"
    description = (
        "Give a topic more partitions. It never has fewer again, and records of one key will go\n"
        "to another partition than before, so it is asked first."
    )
    examples = "  ottla topic grow orders --partitions 12"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("topic", metavar="TOPIC", help="its name")
        parser.add_argument(
            "--partitions", type=count, required=True, metavar="N", help="how many in all"
        )
        parser.add_argument("--dry-run", action="store_true", help="only ask whether it could be")
        declare_yes(parser)
        declare_cluster(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        given = GrowArguments(**vars(arguments))
        with cluster_of(given) as cluster:
            before = _partitions_count(cluster, given.topic)
            change = f"{given.topic}: {before} -> {given.partitions} partitions"
            if not given.dry_run and not confirm(terminal, f"{change}?", is_certain=given.yes):
                return EXIT_FINE
            row = CreatePartitionsRequest.Topic(
                name=given.topic, count=given.partitions, assignments=None
            )
            request = CreatePartitionsRequest(
                topics=[row],
                timeout_ms=int(cluster.timeout_seconds * 1000),
                validate_only=given.dry_run,
            )
            answer = cluster.controller().ask(
                request, CreatePartitionsResponse, wait_seconds=cluster.timeout_seconds
            )
            found = answer.results[0]
            check(found.error_code, f"topic {given.topic}", found.error_message)
            if not given.dry_run:
                cluster.settle(lambda: _partitions_count(cluster, given.topic) >= given.partitions)
        state = "could be grown" if given.dry_run else "grown"
        if given.json:
            object_ = {"topic": given.topic, "state": state.replace(" ", "_")}
            terminal.say(json_line(object_ | {"partitions_count": given.partitions}))
        else:
            terminal.say(f"{change}: {state}")
        return EXIT_FINE


def _partitions_count(cluster: Cluster, topic: str) -> int:
    """How many partitions there are that have a leader."""
    return len(cluster.topic(topic).partitions)


def command() -> Grow:
    """What the table of verbs asks for."""
    return Grow()
