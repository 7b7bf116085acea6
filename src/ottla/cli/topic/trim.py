"""`ottla topic trim`: remove the oldest records of a topic."""

import argparse

from ottla.api.delete_records import DeleteRecordsRequest, DeleteRecordsResponse
from ottla.cli import EXIT_FINE, Refused
from ottla.cli.client.arguments import ChangeArguments, cluster_of, declare_cluster, declare_yes
from ottla.cli.client.cluster import Cluster, Topic
from ottla.cli.client.confirmation import confirm
from ottla.cli.client.connection import check
from ottla.cli.log.values import json_line
from ottla.cli.quantities import shown_count
from ottla.cli.terminal import Terminal
from ottla.cli.times import FORMS, now_ms, parse_time
from ottla.cli.topic.offsets import EARLIEST, LATEST, NO_OFFSET, offsets_at


class TrimArguments(ChangeArguments):
    """What was typed."""

    topic: str
    before: str | None
    before_offset: int | None
    partition: int | None


class Trim:
    """The verb."""

    operands = "TOPIC (--before TIME | --before-offset N)"
    description = (
        "Remove the oldest records of a topic, up to a time or an offset. How many would go is\n"
        "shown, and asked first."
    )
    examples = (
        "  ottla topic trim orders --before -7d\n"
        "  ottla topic trim orders --partition 3 --before-offset 120000\n"
        "  ottla topic trim test --before now --yes"
    )

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("topic", metavar="TOPIC", help="its name")
        limit = parser.add_mutually_exclusive_group(required=True)
        limit.add_argument("--before", metavar="TIME", help=f"records earlier than this: {FORMS}")
        limit.add_argument(
            "--before-offset", type=int, metavar="N", help="records below this offset"
        )
        parser.add_argument("--partition", type=int, metavar="N", help="only this partition")
        declare_yes(parser)
        declare_cluster(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        given = TrimArguments(**vars(arguments))
        with cluster_of(given) as cluster:
            topic = cluster.topic(given.topic)
            limits = _limits(cluster, topic, given)
            if not limits:
                terminal.note(f"{given.topic}: there is nothing to remove")
                return EXIT_FINE
            if not given.yes:
                for index, (start, limit) in limits.items():
                    gone = shown_count(limit - start, "offset")
                    terminal.note(f"{given.topic}-{index}: {gone}, {start}..{limit - 1}")
            if not confirm(terminal, "remove for good?", is_certain=given.yes):
                return EXIT_FINE
            for index, start in _trimmed(cluster, topic, limits).items():
                found = {"topic": given.topic, "partition": index, "start_offset": start}
                line = (
                    json_line(found) if given.json else f"{given.topic}-{index} begins at {start}"
                )
                terminal.say(line)
        return EXIT_FINE


def _limits(cluster: Cluster, topic: Topic, given: TrimArguments) -> dict[int, tuple[int, int]]:
    """From which offset to which records would go, for each partition that would lose any."""
    known = {row.partition_index for row in topic.partitions}
    if given.partition is not None and given.partition not in known:
        raise Refused(f"{given.topic} has no partition {given.partition}, only 0..{max(known)}")
    chosen = known if given.partition is None else {given.partition}
    starts = offsets_at(cluster, topic, EARLIEST, chosen)
    ends = offsets_at(cluster, topic, LATEST, chosen)
    if given.before is None:
        limits = dict.fromkeys(chosen, given.before_offset or 0)
    else:
        limits = offsets_at(cluster, topic, parse_time(given.before, now_ms()), chosen)
    found: dict[int, tuple[int, int]] = {}
    for index in sorted(chosen):
        limit = ends[index] if limits[index] == NO_OFFSET else limits[index]
        if limit > ends[index]:
            raise Refused(f"{given.topic}-{index} ends at offset {ends[index]}, below {limit}")
        if limit > starts[index]:
            found[index] = (starts[index], limit)
    return found


def _trimmed(cluster: Cluster, topic: Topic, limits: dict[int, tuple[int, int]]) -> dict[int, int]:
    leaders = {row.partition_index: row.leader_id for row in topic.partitions}
    starts: dict[int, int] = {}
    for leader in sorted({leaders[index] for index in limits}):
        row = DeleteRecordsRequest.Topic.Partition
        rows = [
            row(partition_index=index, offset=limit)
            for index, (_, limit) in limits.items()
            if leaders[index] == leader
        ]
        request = DeleteRecordsRequest(
            topics=[DeleteRecordsRequest.Topic(name=topic.name or "", partitions=rows)],
            timeout_ms=int(cluster.timeout_seconds * 1000),
        )
        answer = cluster.broker(leader).ask(
            request, DeleteRecordsResponse, wait_seconds=cluster.timeout_seconds
        )
        for found in answer.topics[0].partitions:
            check(found.error_code, f"{topic.name}-{found.partition_index}")
            starts[found.partition_index] = found.low_watermark
    return dict(sorted(starts.items()))


def command() -> Trim:
    """What the table of verbs asks for."""
    return Trim()
