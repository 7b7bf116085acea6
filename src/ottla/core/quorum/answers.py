"""The answers of a replica; each says who leads, as far as that is known."""

from typing import NamedTuple

from ottla.api.begin_quorum_epoch import BeginQuorumEpochResponse
from ottla.api.end_quorum_epoch import EndQuorumEpochResponse
from ottla.api.fetch import FetchResponse
from ottla.api.fetch_snapshot import FetchSnapshotResponse
from ottla.api.update_raft_voter import UpdateRaftVoterResponse
from ottla.api.vote import VoteResponse
from ottla.core.quorum.log import Fit, OffsetAndEpoch
from ottla.core.quorum.options import CLUSTER_METADATA
from ottla.core.quorum.voters import Endpoint
from ottla.errors import ErrorCode
from ottla.wire.uuids import METADATA_TOPIC


class Leadership(NamedTuple):
    """Who leads in which epoch, as an answer says it; -1 is nobody."""

    leader_id: int
    epoch: int
    endpoint: Endpoint | None

    def is_told(self, version: int, version_min: int) -> bool:
        """Is there an address to tell, and room for it in the version of an answer?"""
        return self.endpoint is not None and self.leader_id >= 0 and version >= version_min


def vote_answer(
    leadership: Leadership, version: int, error: ErrorCode, *, is_granted: bool
) -> VoteResponse:
    """Give the vote or not."""
    partition = VoteResponse.Topic.Partition(
        partition_index=0,
        error_code=error,
        leader_id=leadership.leader_id,
        leader_epoch=leadership.epoch,
        vote_granted=is_granted,
    )
    topic = VoteResponse.Topic(topic_name=CLUSTER_METADATA, partitions=[partition])
    answer = VoteResponse(error_code=ErrorCode.NONE, topics=[topic])
    if leadership.endpoint and leadership.is_told(version, 1):
        _, host, port = leadership.endpoint
        node = VoteResponse.NodeEndpoint(node_id=leadership.leader_id, host=host, port=port)
        answer.node_endpoints = [node]
    return answer


def begin_answer(
    leadership: Leadership, version: int, error: ErrorCode
) -> BeginQuorumEpochResponse:
    """Accept a leader or not."""
    partition = BeginQuorumEpochResponse.Topic.Partition(
        partition_index=0,
        error_code=error,
        leader_id=leadership.leader_id,
        leader_epoch=leadership.epoch,
    )
    topic = BeginQuorumEpochResponse.Topic(topic_name=CLUSTER_METADATA, partitions=[partition])
    answer = BeginQuorumEpochResponse(error_code=ErrorCode.NONE, topics=[topic])
    if leadership.endpoint and leadership.is_told(version, 1):
        _, host, port = leadership.endpoint
        answer.node_endpoints = [
            BeginQuorumEpochResponse.NodeEndpoint(
                node_id=leadership.leader_id, host=host, port=port
            )
        ]
    return answer


def end_answer(leadership: Leadership, version: int, error: ErrorCode) -> EndQuorumEpochResponse:
    """Take note of a resignation or not."""
    partition = EndQuorumEpochResponse.Topic.Partition(
        partition_index=0,
        error_code=error,
        leader_id=leadership.leader_id,
        leader_epoch=leadership.epoch,
    )
    topic = EndQuorumEpochResponse.Topic(topic_name=CLUSTER_METADATA, partitions=[partition])
    answer = EndQuorumEpochResponse(error_code=ErrorCode.NONE, topics=[topic])
    if leadership.endpoint and leadership.is_told(version, 1):
        _, host, port = leadership.endpoint
        answer.node_endpoints = [
            EndQuorumEpochResponse.NodeEndpoint(node_id=leadership.leader_id, host=host, port=port)
        ]
    return answer


class Fetched(NamedTuple):
    """What a fetch finds in the log."""

    error: ErrorCode = ErrorCode.NONE
    high_watermark: int = -1
    log_start_offset: int = -1
    fit: Fit = Fit.VALID
    place: OffsetAndEpoch = OffsetAndEpoch(-1, -1)
    records: bytes = b""


def fetch_answer(leadership: Leadership, version: int, found: Fetched) -> FetchResponse:
    """Give records, or where to cut, or which snapshot to fetch."""
    place = FetchResponse.Topic.Partition
    partition = place(
        partition_index=0,
        error_code=found.error,
        high_watermark=found.high_watermark,
        log_start_offset=found.log_start_offset,
        current_leader=place.CurrentLeader(
            leader_id=leadership.leader_id, leader_epoch=leadership.epoch
        ),
        aborted_transactions=None,
        records=found.records,
    )
    offset, epoch = found.place
    if found.fit is Fit.DIVERGING:
        partition.diverging_epoch = place.DivergingEpoch(epoch=epoch, end_offset=offset)
    elif found.fit is Fit.SNAPSHOT:
        partition.snapshot_id = place.SnapshotId(end_offset=offset, epoch=epoch)
    topic = FetchResponse.Topic(
        topic=CLUSTER_METADATA, topic_id=METADATA_TOPIC, partitions=[partition]
    )
    answer = FetchResponse(responses=[topic])
    if leadership.endpoint and leadership.is_told(version, 16):
        _, host, port = leadership.endpoint
        node = FetchResponse.NodeEndpoint(node_id=leadership.leader_id, host=host, port=port)
        answer.node_endpoints = [node]
    return answer


class Piece(NamedTuple):
    """What a fetch of a snapshot finds."""

    error: ErrorCode = ErrorCode.NONE
    id: OffsetAndEpoch = OffsetAndEpoch(0, 0)
    size_bytes: int = 0
    position: int = 0
    data: bytes = b""


def fetch_snapshot_answer(
    leadership: Leadership, version: int, found: Piece
) -> FetchSnapshotResponse:
    """Give a piece of a snapshot."""
    place = FetchSnapshotResponse.Topic.Partition
    partition = place(
        index=0,
        error_code=found.error,
        snapshot_id=place.SnapshotId(end_offset=found.id.end_offset, epoch=found.id.epoch),
        current_leader=place.CurrentLeader(
            leader_id=leadership.leader_id, leader_epoch=leadership.epoch
        ),
        size=found.size_bytes,
        position=found.position,
        unaligned_records=found.data,
    )
    topic = FetchSnapshotResponse.Topic(name=CLUSTER_METADATA, partitions=[partition])
    answer = FetchSnapshotResponse(throttle_time_ms=0, error_code=ErrorCode.NONE, topics=[topic])
    if leadership.endpoint and leadership.is_told(version, 1):
        _, host, port = leadership.endpoint
        answer.node_endpoints = [
            FetchSnapshotResponse.NodeEndpoint(node_id=leadership.leader_id, host=host, port=port)
        ]
    return answer


def update_voter_answer(leadership: Leadership, error: ErrorCode) -> UpdateRaftVoterResponse:
    """Take note of how a voter is to be described, or not."""
    endpoint = leadership.endpoint
    return UpdateRaftVoterResponse(
        throttle_time_ms=0,
        error_code=error,
        current_leader=UpdateRaftVoterResponse.CurrentLeader(
            leader_id=leadership.leader_id,
            leader_epoch=leadership.epoch,
            host=endpoint.host if endpoint else "",
            port=endpoint.port if endpoint else 0,
        ),
    )
