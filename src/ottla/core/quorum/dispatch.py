"""Which part of a replica takes which message."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.api.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from ottla.api.api_versions import ApiVersionsResponse
from ottla.api.begin_quorum_epoch import BeginQuorumEpochRequest, BeginQuorumEpochResponse
from ottla.api.describe_quorum import DescribeQuorumRequest
from ottla.api.end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse
from ottla.api.fetch import FetchRequest, FetchResponse
from ottla.api.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from ottla.api.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from ottla.api.update_raft_voter import UpdateRaftVoterRequest, UpdateRaftVoterResponse
from ottla.api.vote import VoteRequest, VoteResponse
from ottla.wire.fields import Message

if TYPE_CHECKING:
    from ottla.core.quorum.machine import Quorum


def request_handlers(quorum: "Quorum") -> dict[type[Message], Callable[..., None]]:
    """What lets a request be answered, now or later, given the event and the request."""
    return {
        FetchRequest: quorum.serving.on_fetch,
        FetchSnapshotRequest: quorum.serving.on_fetch_snapshot,
        DescribeQuorumRequest: quorum.serving.on_describe,
        VoteRequest: quorum.voting.on_vote,
        BeginQuorumEpochRequest: quorum.voting.on_begin,
        EndQuorumEpochRequest: quorum.voting.on_end,
        AddRaftVoterRequest: quorum.changes.on_add,
        RemoveRaftVoterRequest: quorum.changes.on_remove,
        UpdateRaftVoterRequest: quorum.changes.on_update,
    }


def response_handlers(quorum: "Quorum") -> dict[type[Message], Callable[..., bool]]:
    """What takes an answer in, given who sent it; may that peer be asked again at once?"""
    return {
        FetchResponse: quorum.fetching.on_fetch_response,
        FetchSnapshotResponse: quorum.fetching.on_fetch_snapshot_response,
        VoteResponse: quorum.voting.on_vote_response,
        BeginQuorumEpochResponse: quorum.voting.on_begin_response,
        EndQuorumEpochResponse: quorum.voting.on_end_response,
        ApiVersionsResponse: quorum.changes.on_api_versions,
        UpdateRaftVoterResponse: quorum.fetching.on_change_response,
        AddRaftVoterResponse: quorum.fetching.on_change_response,
        RemoveRaftVoterResponse: quorum.fetching.on_change_response,
    }
