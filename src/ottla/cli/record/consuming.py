"""Read a topic's records in a window of offsets and times, and print those that are wanted."""

import os

from ottla.cli import EXIT_FINE, EXIT_FOUND, Refused
from ottla.cli.client.address import bootstrap
from ottla.cli.client.cluster import Cluster, Topic
from ottla.cli.log.batch_objects import record_line, record_object
from ottla.cli.log.batches import Batch
from ottla.cli.log.conditions import OFFSET_MAX, Wanted, Window, patterns_bounded
from ottla.cli.log.decoding import Decode, decode_of
from ottla.cli.log.question import Question, conditions_of, question_of
from ottla.cli.log.records import wanted_records
from ottla.cli.log.values import json_line
from ottla.cli.record.consume import ConsumeArguments
from ottla.cli.record.fetching import Fetcher, Progress
from ottla.cli.terminal import Terminal
from ottla.cli.topic.offsets import EARLIEST, LATEST, NO_OFFSET, offsets_at
from ottla.kernels.faults import Malformed
from ottla.records.check import entry_checksum
from ottla.records.reader import Record

_FOLLOW_WAIT_MS = 500
_WAIT_MS = 100


def consume(given: ConsumeArguments, terminal: Terminal) -> int:
    """Do what was asked, and give the exit code: 1 if a batch was damaged."""
    question = question_of(given, conditions_of(given), terminal)
    with Cluster(bootstrap(given.bootstrap, os.environ), given.timeout) as cluster:
        topic = cluster.topic(given.name)
        printer = _Printer(terminal, topic, question, is_json=given.json)
        places = _places(cluster, topic, given, question.window)
        fetcher = Fetcher(cluster, topic, places, is_committed=given.committed)
        with patterns_bounded():
            while not printer.is_done and any(not place.is_done for place in places.values()):
                wait_ms = _FOLLOW_WAIT_MS if given.follow else _WAIT_MS
                for fetched in fetcher.batches(wait_ms):
                    printer.batch(fetched.partition, fetched.batch)
                    if printer.is_done:
                        break
                terminal.flush()
    return EXIT_FOUND if printer.damaged_count else EXIT_FINE


def _places(
    cluster: Cluster, topic: Topic, given: ConsumeArguments, window: Window
) -> dict[int, Progress]:
    """From where to where each partition is to be read."""
    known = {row.partition_index for row in topic.partitions}
    for index in given.partition:
        if index not in known:
            raise Refused(f"{topic.name} has no partition {index}, only 0..{max(known)}")
    chosen = set(given.partition) or known
    starts = offsets_at(cluster, topic, EARLIEST, chosen)
    ends = offsets_at(cluster, topic, LATEST, chosen)
    firsts = dict.fromkeys(chosen, window.offset_first)
    if window.from_ms is not None:
        firsts = offsets_at(cluster, topic, window.from_ms, chosen)
    places: dict[int, Progress] = {}
    for index in sorted(chosen):
        first = ends[index] if firsts[index] == NO_OFFSET else firsts[index]
        first = max(first, starts[index], window.offset_first)
        last = min(window.offset_last, OFFSET_MAX - 1) + 1
        end = last if given.follow and last != OFFSET_MAX else min(last, ends[index])
        is_endless = given.follow and last == OFFSET_MAX
        places[index] = Progress(min(first, ends[index]), None if is_endless else end)
    return places


class _Printer:
    """Prints the records that are wanted, as many as are."""

    def __init__(
        self, terminal: Terminal, topic: Topic, question: Question, *, is_json: bool
    ) -> None:
        self.damaged_count = 0
        self._terminal = terminal
        self._topic = topic
        self._question = question
        self._is_json = is_json
        self._wanted = Wanted(question.window, question.conditions)
        self._decode: Decode | None = decode_of(question.decoding, topic.name)
        self._left = question.records_max
        self._has_several = len(topic.partitions) > 1

    @property
    def is_done(self) -> bool:
        """Were as many printed as were asked for?"""
        return self._left == 0

    def batch(self, partition: int, batch: Batch) -> None:
        """Print what is wanted of a batch; one that is damaged is named and passed over."""
        if entry_checksum(batch.view, batch.row._replace(position=0)) != batch.row.crc:
            self._bad(partition, batch, "its checksum is wrong")
            return
        try:
            for record in wanted_records(batch, self._wanted):
                if self.is_done:
                    return
                self._say(partition, batch, record)
                if self._left is not None:
                    self._left -= 1
        except Malformed as fault:
            self._bad(partition, batch, str(fault))

    def _say(self, partition: int, batch: Batch, record: Record) -> None:
        decoded = None if self._decode is None else self._decode(record)
        if self._is_json:
            found = record_object(batch, record, decoded, self._question.forms)
            del found["position"]
            place = {"type": "record", "topic": self._topic.name, "partition": partition}
            self._terminal.say(json_line(place | found))
        else:
            line = record_line(record, decoded, self._question.forms)
            self._terminal.say(f"{partition}:{line}" if self._has_several else line)

    def _bad(self, partition: int, batch: Batch, reason: str) -> None:
        self.damaged_count += 1
        place = f"{self._topic.name}-{partition} offset {batch.row.base_offset}"
        self._terminal.note(f"{place}: a damaged batch is passed over: {reason}")
