"""DescribeLogDirs: the directories of this broker, and the partitions in them."""

from typing import cast

from ottla.api.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse
from ottla.broker.connections import Request
from ottla.broker.node import Node
from ottla.errors import ErrorCode
from ottla.storage.directory_logs import DirectoryLogs, HostedLog
from ottla.wire.fields import Message

_Told = DescribeLogDirsResponse.Directory


def handle(node: Node, message: Message, request: Request) -> Message | None:
    del request
    asked = cast("DescribeLogDirsRequest", message)
    wanted: set[tuple[str, int]] | None = None
    if asked.topics is not None:
        wanted = {(one.topic, number) for one in asked.topics for number in one.partitions}
    results = [_told(home, wanted) for home in node.logs.logs.homes if home.directory.is_live]
    results += [
        _Told(error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir=path, topics=[])
        for path in sorted(node.logs.logs.directories.offline)
    ]
    return DescribeLogDirsResponse(throttle_time_ms=0, results=results)


def refuse(message: Message, code: ErrorCode) -> Message | None:
    del message
    return DescribeLogDirsResponse(throttle_time_ms=0, error_code=code, results=[])


def _told(home: DirectoryLogs, wanted: set[tuple[str, int]] | None) -> _Told:
    by_topic: dict[str, list[_Told.Topic.Partition]] = {}
    for name, hosted in sorted(home.hosted.items()):
        if wanted is None or (name.topic, name.partition) in wanted:
            by_topic.setdefault(name.topic, []).append(_partition(hosted))
    disk, path = home.directory.disk, home.directory.path
    return _Told(
        error_code=0,
        log_dir=path,
        topics=[_Told.Topic(name=name, partitions=found) for name, found in by_topic.items()],
        usable_bytes=disk.free_bytes(path),
    )


def _partition(hosted: HostedLog) -> _Told.Topic.Partition:
    log = hosted.log
    return _Told.Topic.Partition(
        partition_index=hosted.partition.partition,
        partition_size=log.size_bytes,
        offset_lag=max(0, log.end_offset - hosted.high_watermark),
        is_future_key=False,
    )
