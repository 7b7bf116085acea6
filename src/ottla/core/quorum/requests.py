"""The requests of a replica to others."""

from typing import Final

from ottla.api.add_raft_voter import AddRaftVoterRequest
from ottla.api.begin_quorum_epoch import BeginQuorumEpochRequest
from ottla.api.end_quorum_epoch import EndQuorumEpochRequest
from ottla.api.fetch import FetchRequest
from ottla.api.fetch_snapshot import FetchSnapshotRequest
from ottla.api.remove_raft_voter import RemoveRaftVoterRequest
from ottla.api.update_raft_voter import UpdateRaftVoterRequest
from ottla.api.vote import VoteRequest
from ottla.core.quorum.log import OffsetAndEpoch
from ottla.core.quorum.options import CLUSTER_METADATA, QuorumOptions
from ottla.core.quorum.voters import KRAFT_VERSIONS, ReplicaKey
from ottla.wire.fields import Message
from ottla.wire.uuids import METADATA_TOPIC

JOIN_TIMEOUT_MS: Final = 30_000


def vote_request(
    options: QuorumOptions, epoch: int, end: OffsetAndEpoch, voter: ReplicaKey, *, is_pre_vote: bool
) -> VoteRequest:
    """Ask a voter for its vote, or whether it would give it."""
    partition = VoteRequest.Topic.Partition(
        partition_index=0,
        replica_epoch=epoch,
        replica_id=options.key.id,
        replica_directory_id=options.key.directory_id,
        voter_directory_id=voter.directory_id,
        last_offset_epoch=end.epoch,
        last_offset=end.end_offset,
        pre_vote=is_pre_vote,
    )
    topic = VoteRequest.Topic(topic_name=CLUSTER_METADATA, partitions=[partition])
    return VoteRequest(cluster_id=options.cluster_id, voter_id=voter.id, topics=[topic])


def begin_request(options: QuorumOptions, epoch: int, voter: ReplicaKey) -> BeginQuorumEpochRequest:
    """Tell a voter that this replica leads."""
    partition = BeginQuorumEpochRequest.Topic.Partition(
        partition_index=0,
        voter_directory_id=voter.directory_id,
        leader_id=options.key.id,
        leader_epoch=epoch,
    )
    topic = BeginQuorumEpochRequest.Topic(topic_name=CLUSTER_METADATA, partitions=[partition])
    return BeginQuorumEpochRequest(
        cluster_id=options.cluster_id,
        voter_id=voter.id,
        topics=[topic],
        leader_endpoints=[
            BeginQuorumEpochRequest.LeaderEndpoint(name=e.name, host=e.host, port=e.port)
            for e in options.endpoints
        ],
    )


def end_request(
    options: QuorumOptions, epoch: int, successors: list[ReplicaKey]
) -> EndQuorumEpochRequest:
    """Tell a voter that this replica leads no longer, and who should, best first."""
    place = EndQuorumEpochRequest.Topic.Partition
    partition = place(
        partition_index=0,
        leader_id=options.key.id,
        leader_epoch=epoch,
        preferred_successors=[key.id for key in successors],
        preferred_candidates=[
            place.Candidate(candidate_id=key.id, candidate_directory_id=key.directory_id)
            for key in successors
        ],
    )
    topic = EndQuorumEpochRequest.Topic(topic_name=CLUSTER_METADATA, partitions=[partition])
    return EndQuorumEpochRequest(
        cluster_id=options.cluster_id,
        topics=[topic],
        leader_endpoints=[
            EndQuorumEpochRequest.LeaderEndpoint(name=e.name, host=e.host, port=e.port)
            for e in options.endpoints
        ],
    )


def fetch_request(
    options: QuorumOptions, epoch: int, end: OffsetAndEpoch, high_watermark: int
) -> FetchRequest:
    """Ask for what comes after the end of this log."""
    partition = FetchRequest.Topic.Partition(
        partition=0,
        current_leader_epoch=epoch,
        fetch_offset=end.end_offset,
        last_fetched_epoch=end.epoch,
        partition_max_bytes=options.fetch_bytes_max,
        replica_directory_id=options.key.directory_id,
        high_watermark=high_watermark,
    )
    topic = FetchRequest.Topic(
        topic=CLUSTER_METADATA, topic_id=METADATA_TOPIC, partitions=[partition]
    )
    return FetchRequest(
        cluster_id=options.cluster_id,
        replica_state=FetchRequest.ReplicaState(replica_id=options.key.id),
        max_wait_ms=options.fetch_wait_ms,
        min_bytes=0,
        max_bytes=options.fetch_bytes_max,
        topics=[topic],
    )


def fetch_snapshot_request(
    options: QuorumOptions, epoch: int, id_: OffsetAndEpoch, position: int
) -> FetchSnapshotRequest:
    """Ask for the next piece of a snapshot."""
    place = FetchSnapshotRequest.Topic.Partition
    partition = place(
        partition=0,
        current_leader_epoch=epoch,
        snapshot_id=place.SnapshotId(end_offset=id_.end_offset, epoch=id_.epoch),
        position=position,
        replica_directory_id=options.key.directory_id,
    )
    topic = FetchSnapshotRequest.Topic(name=CLUSTER_METADATA, partitions=[partition])
    return FetchSnapshotRequest(
        cluster_id=options.cluster_id,
        replica_id=options.key.id,
        max_bytes=options.snapshot_bytes_max,
        topics=[topic],
    )


def update_voter_request(options: QuorumOptions, epoch: int) -> UpdateRaftVoterRequest:
    """Tell the leader how this voter is to be described."""
    lowest, highest = KRAFT_VERSIONS
    return UpdateRaftVoterRequest(
        cluster_id=options.cluster_id,
        current_leader_epoch=epoch,
        voter_id=options.key.id,
        voter_directory_id=options.key.directory_id,
        listeners=[
            UpdateRaftVoterRequest.Listener(name=e.name, host=e.host, port=e.port)
            for e in options.endpoints
        ],
        kraft_version_feature=UpdateRaftVoterRequest.KRaftVersionFeature(
            min_supported_version=lowest, max_supported_version=highest
        ),
    )


def join_request(options: QuorumOptions, voter_keys: list[ReplicaKey]) -> Message:
    """Ask to become a voter, or first that one with this id and another directory goes."""
    for key in voter_keys:
        if key.id == options.key.id:
            return RemoveRaftVoterRequest(
                cluster_id=options.cluster_id,
                voter_id=key.id,
                voter_directory_id=key.directory_id,
            )
    return AddRaftVoterRequest(
        cluster_id=options.cluster_id,
        timeout_ms=JOIN_TIMEOUT_MS,
        voter_id=options.key.id,
        voter_directory_id=options.key.directory_id,
        listeners=[
            AddRaftVoterRequest.Listener(name=e.name, host=e.host, port=e.port)
            for e in options.endpoints
        ],
        ack_when_committed=False,
    )
