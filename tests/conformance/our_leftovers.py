"""Leaves in log directories what a node that ends may: moves, a log let go of, one of no topic."""

from typing import Final
from uuid import uuid4

from ottla.broker.partition_history import PartitionHistory
from ottla.records.builder import BatchOptions, write_batch
from ottla.records.scan import scan
from ottla.storage.log_options import LogOptions
from ottla.storage.moves import Move, start_move
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition
from tests.conformance.our_directories import OurNode, now_ms

MOVED: Final = "stamped"
"""It has been moved; the folder that it was in waits to be removed."""
MOVING: Final = "codecs"
"""Some of it has been copied."""
GONE: Final = "gone"
STRANGER: Final = "stranger"


def leave_behind(node: OurNode) -> None:
    """Do it all."""
    for topic in (GONE, STRANGER):
        _create(node, topic)
    node.logs.delete(TopicPartition(GONE, 0), _unique())
    moved = _start(node, MOVED)
    while not moved.is_over:
        _step(moved)
    assert moved.fault is None
    moving = _start(node, MOVING)
    _step(moving)
    assert not moving.is_over


def _create(node: OurNode, topic: str) -> None:
    knowledge = (LogOptions(), PartitionHistory())
    hosted = node.logs.create(TopicPartition(topic, 0), _unique(), knowledge, now_ms())
    rows = [(0, now_ms(), b"key", b"value", ())]
    data = bytes(write_batch(rows, BatchOptions(partition_leader_epoch=0)))
    hosted.log.append([(data, scan(data).rows)], now_ms())
    hosted.high_watermark = hosted.log.end_offset


def _start(node: OurNode, topic: str) -> Move:
    """Begin to move a partition to the other directory."""
    partition = TopicPartition(topic, 0)
    here = node[topic].directory
    (there,) = (home.directory for home in node.logs.homes if home.directory is not here)
    histories = (PartitionHistory(), PartitionHistory())
    return start_move(node.logs, partition, there, _unique(), histories, now_ms())


def _step(move: Move) -> None:
    job = move.plan(now_ms())
    assert job is not None
    job.run()
    # The job that removes the old folder is for the next start.
    move.ended(job, None, now_ms())


def _unique() -> Uuid:
    return Uuid(uuid4().bytes)
