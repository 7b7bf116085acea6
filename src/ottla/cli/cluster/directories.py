"""`ottla cluster directories`: the log directories of brokers, and what room they take."""

import argparse

from ottla.api.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse
from ottla.cli import EXIT_FINE, EXIT_FOUND
from ottla.cli.client.arguments import ClusterArguments, cluster_of, declare_cluster
from ottla.cli.client.connection import check, said_error
from ottla.cli.columns import say_columns
from ottla.cli.log.values import Object, json_line
from ottla.cli.quantities import shown_size
from ottla.cli.terminal import Terminal

_Directory = DescribeLogDirsResponse.Directory


class Directories:
    """The verb."""

    operands = ""
    description = (
        "Print the log directories of all brokers: how many partitions lie there, what they take,\n"
        "and how much room is left. Exit code 1 means that one of them is offline."
    )
    examples = "  ottla cluster directories"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_cluster(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        given = ClusterArguments(**vars(arguments))
        found: list[tuple[int, _Directory]] = []
        with cluster_of(given) as cluster:
            cluster.metadata([])
            for broker_id in cluster.broker_ids:
                request = DescribeLogDirsRequest(topics=None)
                answer = cluster.broker(broker_id).ask(request, DescribeLogDirsResponse)
                check(answer.error_code, f"log directories of broker {broker_id}")
                found += [(broker_id, row) for row in answer.results]
        if given.json:
            for broker_id, row in found:
                terminal.say(json_line(_object(broker_id, row)))
        else:
            names = ("broker", "directory", "partitions", "taken", "free", "of", "state")
            say_columns(terminal, names, (_line(broker_id, row) for broker_id, row in found))
        return EXIT_FOUND if any(row.error_code for _, row in found) else EXIT_FINE


def _taken_bytes(row: _Directory) -> int:
    return sum(one.partition_size for topic in row.topics for one in topic.partitions)


def _partitions_count(row: _Directory) -> int:
    return sum(len(topic.partitions) for topic in row.topics)


def _object(broker_id: int, row: _Directory) -> Object:
    return {
        "broker": broker_id,
        "directory": row.log_dir,
        "partitions_count": _partitions_count(row),
        "taken_bytes": _taken_bytes(row),
        "free_bytes": row.usable_bytes,
        "total_bytes": row.total_bytes,
        "error": said_error(row.error_code) if row.error_code else None,
    }


def _line(broker_id: int, row: _Directory) -> tuple[object, ...]:
    free, total = (shown_size(n) if n >= 0 else "?" for n in (row.usable_bytes, row.total_bytes))
    state = said_error(row.error_code) if row.error_code else "fine"
    taken = shown_size(_taken_bytes(row))
    return broker_id, row.log_dir, _partitions_count(row), taken, free, total, state


def command() -> Directories:
    """What the table of verbs asks for."""
    return Directories()
