"""Elections: ask the voters, count what they say, and answer when asked."""

from typing import TYPE_CHECKING

from ottla.api.begin_quorum_epoch import BeginQuorumEpochRequest, BeginQuorumEpochResponse
from ottla.api.end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse
from ottla.api.vote import VoteRequest, VoteResponse
from ottla.core.quorum.answers import begin_answer, end_answer, vote_answer
from ottla.core.quorum.candidate import Candidate
from ottla.core.quorum.checks import Said, endpoints_of, is_metadata, said_of_node
from ottla.core.quorum.election import Ballot
from ottla.core.quorum.events import RequestReceived
from ottla.core.quorum.follower import Follower
from ottla.core.quorum.leader import Leader
from ottla.core.quorum.log import OffsetAndEpoch
from ottla.core.quorum.prospective import Prospective
from ottla.core.quorum.requests import vote_request
from ottla.core.quorum.resigned import Resigned
from ottla.core.quorum.unattached import Unattached
from ottla.core.quorum.voters import Endpoint, ReplicaKey
from ottla.errors import ErrorCode

if TYPE_CHECKING:
    from ottla.core.quorum.effects import Destination
    from ottla.core.quorum.machine import Quorum


class Voting:
    """The part of a replica that elects."""

    def __init__(self, quorum: "Quorum") -> None:
        self._quorum = quorum

    def ask_voters(self, ballot: Ballot, *, is_pre_vote: bool) -> None:
        """Ask everybody who has not answered, and may be asked."""
        quorum = self._quorum
        for id_ in ballot.open_ids:
            voter = quorum.history.voters.get(id_)
            if voter is not None and quorum.now_ms >= quorum.ready_ms(id_):
                request = vote_request(
                    quorum.options, quorum.epoch, quorum.log_end, voter.key, is_pre_vote=is_pre_vote
                )
                quorum.send_to_voter(id_, request)

    def next_asking_ms(self, ballot: Ballot) -> int:
        """When the next may be asked."""
        quorum = self._quorum
        return min(map(quorum.ready_ms, ballot.open_ids), default=quorum.never_ms)

    def on_vote(self, event: RequestReceived, request: VoteRequest) -> None:
        """Give the vote or not; whoever asks in a newer epoch is believed that there is one."""
        quorum = self._quorum
        if (refused := self._refusal(request.cluster_id, request.topics)) is not None:
            quorum.answer(event, VoteResponse(error_code=refused, topics=[]))
            return
        asked = request.topics[0].partitions[0]
        candidate = ReplicaKey(asked.replica_id, asked.replica_directory_id)
        is_pre_vote = asked.pre_vote
        end = OffsetAndEpoch(asked.last_offset, asked.last_offset_epoch)
        error, is_granted = (
            self._why_no_vote(asked.replica_epoch, candidate, end, is_pre_vote),
            False,
        )
        if error is ErrorCode.NONE and asked.replica_epoch > quorum.epoch:
            quorum.become_unattached(asked.replica_epoch, None)
        if error is ErrorCode.NONE:
            if not self._is_meant(request.voter_id, asked.voter_directory_id):
                error = ErrorCode.INVALID_VOTER_KEY
            else:
                is_granted = quorum.state.would_vote(
                    candidate,
                    is_up_to_date=end.is_up_to_date(quorum.log_end),
                    is_pre_vote=is_pre_vote,
                )
        state = quorum.state
        is_new = isinstance(state, Unattached | Prospective) and state.voted is None
        if is_granted and not is_pre_vote and is_new:
            quorum.add_vote(candidate)
        quorum.answer(
            event, vote_answer(quorum.leadership, event.version, error, is_granted=is_granted)
        )

    def _refusal(self, cluster_id: str | None, topics: object) -> ErrorCode | None:
        """What is wrong with a request as a whole."""
        if cluster_id not in (None, self._quorum.options.cluster_id):
            return ErrorCode.INCONSISTENT_CLUSTER_ID
        return None if is_metadata(topics) else ErrorCode.INVALID_REQUEST

    def _why_no_vote(
        self, epoch: int, candidate: ReplicaKey, end: OffsetAndEpoch, is_pre_vote: bool
    ) -> ErrorCode:
        """What is wrong with a request for a vote before the vote is thought of."""
        # A candidate's own epoch has no record yet; one who only asks has not gone to it.
        epoch_max = epoch if is_pre_vote else epoch - 1
        if end.end_offset < 0 or not 0 <= end.epoch <= epoch_max:
            return ErrorCode.INVALID_REQUEST
        if epoch < self._quorum.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        is_own = candidate.id == self._quorum.options.key.id
        return ErrorCode.INVALID_REQUEST if candidate.id < 0 or is_own else ErrorCode.NONE

    def _is_meant(self, voter_id: int, directory_id: bytes) -> bool:
        """Is a request that names a voter for this replica?"""
        key = self._quorum.options.key
        if voter_id < 0:
            return True
        return voter_id == key.id and directory_id in (bytes(16), key.directory_id)

    def on_vote_response(self, source: "Destination", response: VoteResponse) -> bool:
        """Count a vote."""
        quorum = self._quorum
        state = quorum.state
        too_old = ErrorCode.of(response.error_code) is ErrorCode.UNSUPPORTED_VERSION
        if too_old and isinstance(state, Prospective):
            quorum.become_candidate()
            return True
        if response.error_code or not is_metadata(response.topics):
            return False
        place = response.topics[0].partitions[0]
        handled = quorum.take_in(said_of_node(place, response.node_endpoints), source)
        if handled is not None:
            return handled
        if place.error_code:
            return False
        if isinstance(state := quorum.state, Prospective | Candidate):
            state.ballot.count(source.id, is_granted=place.vote_granted)
        return True

    def on_begin(self, event: RequestReceived, request: BeginQuorumEpochRequest) -> None:
        """Take note that somebody leads."""
        quorum = self._quorum
        if (refused := self._refusal(request.cluster_id, request.topics)) is not None:
            quorum.answer(event, BeginQuorumEpochResponse(error_code=refused, topics=[]))
            return
        place = request.topics[0].partitions[0]
        endpoints = endpoints_of(request.leader_endpoints)
        error = self._accept_leader(place.leader_id, place.leader_epoch, endpoints)
        is_meant = self._is_meant(request.voter_id, place.voter_directory_id)
        if error is ErrorCode.NONE and not is_meant:
            error = ErrorCode.INVALID_VOTER_KEY
        quorum.answer(event, begin_answer(quorum.leadership, event.version, error))

    def _accept_leader(
        self, leader_id: int, epoch: int, endpoints: tuple[Endpoint, ...]
    ) -> ErrorCode:
        """Take a leader's word that it leads or led an epoch."""
        quorum = self._quorum
        if epoch < quorum.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if leader_id < 0:
            return ErrorCode.INVALID_REQUEST
        endpoints = endpoints or quorum.history.voters.endpoints(leader_id)
        if not quorum.follow_news(Said(ErrorCode.NONE, leader_id, epoch, endpoints)):
            return ErrorCode.INVALID_REQUEST
        return ErrorCode.NONE

    def on_begin_response(self, source: "Destination", response: BeginQuorumEpochResponse) -> bool:
        """A voter knows that this replica leads."""
        quorum = self._quorum
        if response.error_code or not is_metadata(response.topics):
            return False
        place = response.topics[0].partitions[0]
        handled = quorum.take_in(said_of_node(place, response.node_endpoints), source)
        if handled is not None:
            return handled
        if isinstance(quorum.state, Leader) and (
            replica := quorum.state.replicas.voters.get(source.id)
        ):
            replica.has_acknowledged = not place.error_code
        return not place.error_code

    def on_end(self, event: RequestReceived, request: EndQuorumEpochRequest) -> None:
        """The leader resigned: stand for election, the sooner the further this log goes."""
        quorum = self._quorum
        if (refused := self._refusal(request.cluster_id, request.topics)) is not None:
            quorum.answer(event, EndQuorumEpochResponse(error_code=refused, topics=[]))
            return
        place = request.topics[0].partitions[0]
        endpoints = endpoints_of(request.leader_endpoints)
        error = self._accept_leader(place.leader_id, place.leader_epoch, endpoints)
        state = quorum.state
        if (
            error is ErrorCode.NONE
            and isinstance(state, Follower)
            and state.leader_id == place.leader_id
        ):
            named = [
                ReplicaKey(c.candidate_id, c.candidate_directory_id)
                for c in place.preferred_candidates
            ]
            named = named or [ReplicaKey(id_) for id_ in place.preferred_successors]
            state.fetch_deadline_ms = quorum.now_ms + self._wait_ms(named)
        quorum.answer(event, end_answer(quorum.leadership, event.version, error))

    def _wait_ms(self, successors: list[ReplicaKey]) -> int:
        """How long to leave it to those before this replica, each twice as long as the last."""
        key = self._quorum.options.key
        most = self._quorum.options.election_backoff_ms_max
        for place, named in enumerate(successors):
            if named.id == key.id and named.directory_id in (bytes(16), key.directory_id):
                step = most >> (len(successors) - 1)
                return min(most, step << (place - 1)) if place else 0
        return most if successors else 0

    def on_end_response(self, source: "Destination", response: EndQuorumEpochResponse) -> bool:
        """A voter knows that this replica has resigned."""
        quorum = self._quorum
        if response.error_code or not is_metadata(response.topics):
            return False
        place = response.topics[0].partitions[0]
        handled = quorum.take_in(said_of_node(place, response.node_endpoints), source)
        if handled is not None:
            return handled
        if isinstance(quorum.state, Resigned) and source.id in quorum.state.unaware:
            quorum.state.unaware.remove(source.id)
        return not place.error_code
