"""Names of folders and files, there and back; what Kafka makes of them is asked elsewhere."""

import pytest

from ottla.kernels.faults import InvalidValue
from ottla.storage.file_names import (
    BOOTSTRAP_SNAPSHOT,
    Kind,
    RemoteIndexFile,
    RemoteStage,
    SegmentFile,
    SnapshotFile,
    SnapshotStage,
    Stage,
    parse_remote_index_file,
    parse_segment_file,
    parse_snapshot_file,
)
from ottla.storage.folder_names import (
    PartitionFolder,
    Purpose,
    current_folder,
    delete_folder,
    future_folder,
    parse_folder,
    stray_folder,
)
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition

UNIQUE = Uuid(bytes.fromhex("0123456789abcdef0123456789abcdef"))
HEX = UNIQUE.hex()
ORDERS = TopicPartition("orders", 3)
LONGEST = TopicPartition("x" * 249, 12)


def test_folder_names() -> None:
    assert current_folder(ORDERS) == "orders-3"
    assert delete_folder(ORDERS, UNIQUE) == f"orders-3.{HEX}-delete"
    assert future_folder(ORDERS, UNIQUE) == f"orders-3.{HEX}-future"
    assert stray_folder(ORDERS, UNIQUE) == f"orders-3.{HEX}-stray"


def test_a_long_topic_is_cut_where_it_is_not_needed_again() -> None:
    assert delete_folder(LONGEST, UNIQUE) == f"{'x' * 212}-12.{HEX}-delete"
    assert stray_folder(LONGEST, UNIQUE) == f"{'x' * 213}-12.{HEX}-stray"
    assert len(delete_folder(LONGEST, UNIQUE)) == len(stray_folder(LONGEST, UNIQUE)) == 255
    assert parse_folder(future_folder(LONGEST, UNIQUE)).partition == LONGEST


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("orders-3", PartitionFolder(ORDERS)),
        ("a-1-0", PartitionFolder(TopicPartition("a-1", 0))),
        ("--0", PartitionFolder(TopicPartition("-", 0))),
        ("a.b-delete-7", PartitionFolder(TopicPartition("a.b-delete", 7))),
        ("t-2147483647", PartitionFolder(TopicPartition("t", 2**31 - 1))),
        (f"orders-3.{HEX}-delete", PartitionFolder(ORDERS, Purpose.DELETE, HEX)),
        (f"orders-3.{HEX}-future", PartitionFolder(ORDERS, Purpose.FUTURE, HEX)),
        (f"orders-3.{HEX}-stray", PartitionFolder(ORDERS, Purpose.STRAY, HEX)),
        ("a.b-1.c-2.x-stray", PartitionFolder(TopicPartition("a.b-1.c", 2), Purpose.STRAY, "x")),
    ],
)
def test_folders_are_read(name: str, folder: PartitionFolder) -> None:
    assert parse_folder(name) == folder


@pytest.mark.parametrize(
    "name",
    [
        "",
        "orders",
        "-0",
        "orders-",
        "orders-x",
        "orders-03",
        "orders-+3",
        "orders-2147483648",
        "orders-٣",
        "orders-3-delete",
        "orders-3.-delete",
        f"orders-3.{HEX}",
        f"orders-3.{HEX}-gone",
        f"orders.{HEX}-delete",
        "orders-3\n",
        "or ders-3",
        "remote-log-index-cache",
        "lost+found",
    ],
)
def test_other_folders_are_refused(name: str) -> None:
    with pytest.raises(InvalidValue, match="not the name of a partition's folder"):
        parse_folder(name)


def test_segment_files() -> None:
    for kind in Kind:
        for stage in Stage:
            file = SegmentFile(1234, kind, stage)
            assert file.name == f"00000000000000001234{kind}{stage}"
            assert parse_segment_file(file.name) == file
    assert parse_segment_file("09223372036854775807.log") == SegmentFile(2**63 - 1, Kind.LOG)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "5.log",
        "00000000000000000005",
        "00000000000000000005.txt",
        "00000000000000000005.log.tmp",
        "00000000000000000005.log.deleted.swap",
        "000000000000000000005.log",
        "0000000000000000000x.log",
        "09223372036854775808.log",
        "00000000000000000005.log\n",
        "00000000000000000005-0000000001.checkpoint",
        "leader-epoch-checkpoint",
    ],
)
def test_other_files_are_no_segments(name: str) -> None:
    assert parse_segment_file(name) is None


def test_snapshot_files() -> None:
    assert BOOTSTRAP_SNAPSHOT.name == "00000000000000000000-0000000000.checkpoint"
    for stage in SnapshotStage:
        file = SnapshotFile(1234, 56, stage)
        assert file.name == f"00000000000000001234-0000000056.checkpoint{stage}"
        assert parse_snapshot_file(file.name) == file


def test_a_part_of_a_snapshot_may_have_a_unique_name() -> None:
    name = "00000000000000001234-0000000056-7700123.checkpoint.part"
    assert parse_snapshot_file(name) == SnapshotFile(1234, 56, SnapshotStage.PART)


@pytest.mark.parametrize(
    "name",
    [
        "bootstrap.checkpoint",
        "00000000000000001234-0000000056",
        "00000000000000001234-0000000056.checkpoint.tmp",
        "00000000000000001234-0000000056-1.checkpoint",
        "00000000000000001234-56.checkpoint",
        "09223372036854775808-0000000056.checkpoint",
        "00000000000000001234-2147483648.checkpoint",
    ],
)
def test_other_files_are_no_snapshots(name: str) -> None:
    assert parse_snapshot_file(name) is None


def test_remote_index_files() -> None:
    for kind in (Kind.INDEX, Kind.TIME_INDEX, Kind.TXN_INDEX):
        for stage in RemoteStage:
            file = RemoteIndexFile(70, UNIQUE, kind, stage)
            assert file.name == f"70_ASNFZ4mrze8BI0VniavN7w{kind}{stage}"
            assert parse_remote_index_file(file.name) == file


@pytest.mark.parametrize(
    "name",
    [
        "70.index",
        "70_ASNFZ4mrze8BI0VniavN7w.log",
        "070_ASNFZ4mrze8BI0VniavN7w.index",
        "70_ASNFZ4mrze8BI0VniavN7.index",
        "9223372036854775808_ASNFZ4mrze8BI0VniavN7w.index",
    ],
)
def test_other_files_are_no_remote_indexes(name: str) -> None:
    assert parse_remote_index_file(name) is None
