"""Changing the voters, one at a time (KIP-853).

A change counts as soon as it is appended, by the leader and by all who fetch it, so two majorities
of before and after must have a voter in common: they do if one voter comes or goes, and only once
the change before is committed, in this epoch or by its first record.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ottla.api.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from ottla.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.api.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from ottla.api.update_raft_voter import UpdateRaftVoterRequest
from ottla.core.quorum.answers import update_voter_answer
from ottla.core.quorum.checks import endpoints_of
from ottla.core.quorum.events import RequestReceived
from ottla.core.quorum.leader import Leader
from ottla.core.quorum.voters import KRAFT_VERSIONS, ReplicaKey, Voter
from ottla.core.quorum.writing import write_voters
from ottla.errors import ErrorCode
from ottla.wire.fields import NO_ID, Message

if TYPE_CHECKING:
    from ottla.core.quorum.effects import Destination
    from ottla.core.quorum.machine import Quorum

KRAFT_VERSION: Final = "kraft.version"


@dataclass(slots=True)
class Change:
    """A change whose request waits for its answer."""

    event: RequestReceived
    deadline_ms: int
    joining: Voter | None
    """Who is to be added; None if one is removed."""
    last_offset: int | None = None
    """Where the change stands in the log, once it does."""


class Refused(Exception):  # It is an answer.
    """A change that cannot be made."""

    def __init__(self, error: ErrorCode, reason: str) -> None:
        super().__init__(reason)
        self.error = error
        self.reason = reason


class Changes:
    """The part of a leader that changes the voters."""

    def __init__(self, quorum: "Quorum") -> None:
        self._quorum = quorum

    def on_add(self, event: RequestReceived, request: AddRaftVoterRequest) -> None:
        """Make a replica a voter that has caught up and speaks this protocol."""
        quorum = self._quorum
        try:
            leader = self._leader(request.cluster_id)
            joining = self._described(request)
            self._check_none_open(leader)
            if quorum.history.voters.get(joining.key.id) is not None:
                raise Refused(
                    ErrorCode.DUPLICATE_VOTER, f"there is a voter {joining.key.id} already"
                )
            self._ask_versions(joining)
            deadline_ms = quorum.now_ms + quorum.options.request_timeout_ms
            leader.change = Change(event, deadline_ms, joining)
        except Refused as refused:
            self._answer(event, refused.error, refused.reason)

    def _described(self, request: AddRaftVoterRequest) -> Voter:
        """The voter that a request describes."""
        quorum = self._quorum
        key = ReplicaKey(request.voter_id, request.voter_directory_id)
        if key.id < 0 or key.directory_id == NO_ID:
            raise Refused(ErrorCode.INVALID_REQUEST, "the request names no voter")
        endpoints = endpoints_of(request.listeners)
        if not any(endpoint.name == quorum.options.listener for endpoint in endpoints):
            reason = f"the voter has no endpoint for listener {quorum.options.listener}"
            raise Refused(ErrorCode.INVALID_REQUEST, reason)
        return Voter(key, endpoints)

    def _ask_versions(self, joining: Voter) -> None:
        """Ask the replica itself what it speaks."""
        quorum = self._quorum
        to = quorum.destination(joining.key.id, joining.endpoints)
        assert to is not None, "it has the endpoint"
        if not quorum.peers.is_ready(to.id, quorum.now_ms):
            raise Refused(ErrorCode.REQUEST_TIMED_OUT, f"node {to.id} takes no request yet")
        request = ApiVersionsRequest(
            client_software_name="ottla",
            client_software_version="1",
            cluster_id=quorum.options.cluster_id,
            node_id=joining.key.id,
        )
        quorum.fetching.send(to, request)

    def on_api_versions(self, source: "Destination", response: ApiVersionsResponse) -> bool:
        """Append the change if the replica speaks this protocol and has caught up."""
        leader = self._quorum.state
        change = leader.change if isinstance(leader, Leader) else None
        joining = change.joining if change and change.last_offset is None else None
        if not isinstance(leader, Leader) or not change or not joining:
            return True
        if joining.key.id != source.id:
            return True
        try:
            leader.change = self._with_voter(leader, change, joining, response)
        except Refused as refused:
            leader.change = None
            self._answer(change.event, refused.error, refused.reason)
        return not response.error_code

    def _with_voter(
        self, leader: Leader, change: Change, joining: Voter, response: ApiVersionsResponse
    ) -> Change | None:
        """Append the voters with one more; give what is still to be answered."""
        quorum = self._quorum
        if response.error_code:
            raise Refused(ErrorCode.REQUEST_TIMED_OUT, "the replica did not say what it speaks")
        version = quorum.history.kraft_version
        ranges = [f for f in response.supported_features if f.name == KRAFT_VERSION]
        lowest, highest = (ranges[0].min_version, ranges[0].max_version) if ranges else (0, 0)
        if not lowest <= version <= highest:
            reason = f"the replica speaks {KRAFT_VERSION} {lowest} to {highest}, not {version}"
            raise Refused(ErrorCode.INVALID_REQUEST, reason)
        if not leader.replicas.is_caught_up(joining.key, quorum.wall_ms):
            raise Refused(ErrorCode.REQUEST_TIMED_OUT, "the replica is lagging behind")
        added = quorum.history.voters.adding(
            Voter(joining.key, joining.endpoints, (lowest, highest))
        )
        if added is None:
            raise Refused(ErrorCode.DUPLICATE_VOTER, f"there is a voter {joining.key.id} already")
        quorum.write(write_voters(quorum, added))
        request = change.event.request
        if isinstance(request, AddRaftVoterRequest) and not request.ack_when_committed:
            self._answer(change.event, ErrorCode.NONE, None)
            return None
        change.last_offset = quorum.log.end_offset - 1
        return change

    def on_remove(self, event: RequestReceived, request: RemoveRaftVoterRequest) -> None:
        """Take a vote away."""
        quorum = self._quorum
        try:
            leader = self._leader(request.cluster_id)
            key = ReplicaKey(request.voter_id, request.voter_directory_id)
            if key.id < 0 or key.directory_id == NO_ID:
                raise Refused(ErrorCode.INVALID_REQUEST, "the request names no voter")
            self._check_none_open(leader)
            voters = quorum.history.voters.removing(key)
            if voters is None:
                raise Refused(ErrorCode.VOTER_NOT_FOUND, f"voter {key.id} is not there")
            if not voters:
                raise Refused(ErrorCode.INVALID_REQUEST, "the last voter has to stay")
            quorum.write(write_voters(quorum, voters))
            deadline_ms = quorum.now_ms + quorum.options.request_timeout_ms
            leader.change = Change(event, deadline_ms, None, quorum.log.end_offset - 1)
            # With fewer voters a majority may be there already.
            quorum.commit(leader)
        except Refused as refused:
            self._answer(event, refused.error, refused.reason)

    def on_update(self, event: RequestReceived, request: UpdateRaftVoterRequest) -> None:
        """Describe a voter as it is now."""
        quorum = self._quorum
        try:
            leader = self._leader(request.cluster_id, request.current_leader_epoch)
            self._update(leader, request)
            error = ErrorCode.NONE
        except Refused as refused:
            error = refused.error
        quorum.answer(event, update_voter_answer(quorum.leadership, error))

    def _update(self, leader: Leader, request: UpdateRaftVoterRequest) -> None:
        quorum = self._quorum
        key = ReplicaKey(request.voter_id, request.voter_directory_id)
        feature = request.kraft_version_feature
        versions = (feature.min_supported_version, feature.max_supported_version)
        endpoints = endpoints_of(request.listeners)
        self._check_none_open(leader)
        is_sane = (
            key.id >= 0
            and key.directory_id != NO_ID
            and 0 <= versions[0] <= quorum.history.kraft_version <= versions[1]
            and any(endpoint.name == quorum.options.listener for endpoint in endpoints)
        )
        if not is_sane:
            raise Refused(ErrorCode.INVALID_REQUEST, "the voter is not described well")
        voters = quorum.history.voters.updating(Voter(key, endpoints, versions))
        if voters is None:
            raise Refused(ErrorCode.VOTER_NOT_FOUND, f"voter {key.id} is not there")
        quorum.write(write_voters(quorum, voters))
        leader.hear(key, quorum)

    # What all changes need.

    def _leader(self, cluster_id: str | None, epoch: int | None = None) -> Leader:
        """The state of a leader, which this replica must be in."""
        quorum, state = self._quorum, self._quorum.state
        if cluster_id not in (None, quorum.options.cluster_id):
            reason = f"this is cluster {quorum.options.cluster_id}, not {cluster_id}"
            raise Refused(ErrorCode.INCONSISTENT_CLUSTER_ID, reason)
        error = quorum.serving.why_not_leading(quorum.epoch if epoch is None else epoch)
        if error is not ErrorCode.NONE or not isinstance(state, Leader):
            raise Refused(error, "this node does not lead the quorum")
        return state

    def _check_none_open(self, leader: Leader) -> None:
        """May a change be begun?"""
        history = self._quorum.history
        if leader.change is not None:
            raise Refused(ErrorCode.REQUEST_TIMED_OUT, "another change is under way")
        if leader.high_watermark < 0:
            raise Refused(ErrorCode.REQUEST_TIMED_OUT, "the leader has committed nothing yet")
        if history.kraft_version not in KRAFT_VERSIONS[1:]:
            reason = f"voters are fixed at {KRAFT_VERSION} {history.kraft_version}"
            raise Refused(ErrorCode.UNSUPPORTED_VERSION, reason)
        offset = history.voters_offset
        if offset is None or offset >= leader.high_watermark:
            raise Refused(ErrorCode.REQUEST_TIMED_OUT, "the last change is not committed yet")

    def _answer(self, event: RequestReceived, error: ErrorCode, reason: str | None) -> None:
        """Answer the request for a change."""
        answer: Message
        if isinstance(event.request, AddRaftVoterRequest):
            answer = AddRaftVoterResponse(
                throttle_time_ms=0, error_code=error, error_message=reason
            )
        else:
            answer = RemoveRaftVoterResponse(
                throttle_time_ms=0, error_code=error, error_message=reason
            )
        self._quorum.answer(event, answer)

    def on_committed(self, leader: Leader) -> None:
        """Answer the change that is committed; resign if it took this replica's own vote."""
        change = leader.change
        if change and change.last_offset is not None and change.last_offset < leader.high_watermark:
            leader.change = None
            self._answer(change.event, ErrorCode.NONE, None)
        offset = self._quorum.history.voters_offset
        is_committed = offset is not None and offset < leader.high_watermark
        if is_committed and not self._quorum.is_voter:
            leader.must_resign = True

    def expire(self, leader: Leader) -> None:
        """Answer a change that takes too long; it may come true later."""
        if leader.change is not None and self._quorum.now_ms >= leader.change.deadline_ms:
            event, leader.change = leader.change.event, None
            self._answer(event, ErrorCode.REQUEST_TIMED_OUT, "not committed in time")

    def give_up(self, leader: Leader) -> None:
        """Answer a change whose leader leads no longer."""
        if leader.change is not None:
            event, leader.change = leader.change.event, None
            self._answer(event, ErrorCode.NOT_LEADER_OR_FOLLOWER, "this node has resigned")
