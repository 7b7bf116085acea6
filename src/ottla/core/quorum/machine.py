"""A replica of the metadata log: events in, effects out.

KRaft is Raft by pulling: followers fetch, and a fetch at an offset says that all below it is there.
The states are those of the modules of their names; this one moves between them.

    unattached --time out--> prospective --majority would--> candidate --majority did--> leader
    any, on news of a newer epoch --> unattached, or follower if its leader is known
    leader --cut off, asked to, or stopping--> resigned --time out--> unattached of the next epoch

What a replica said must still be true after a power cut. So whatever changes its election is stored
before anything else leaves it: while that is under way, effects are held back and events wait.
The log is flushed before its own end counts, and before a follower says by a fetch that it has it.

Invariants (Kafka's own simulation checks most of them, and so does ours)
  I-QRM-1  Epochs never go back, on any replica.
  I-QRM-2  A replica votes once an epoch, and not in one that it led or leads.
  I-QRM-3  An epoch has one leader at most.
  I-QRM-4  The high watermark never goes back on a replica, and a majority of the voters has all
           below it on the device.
  I-QRM-5  A leader commits older epochs only with a record of its own, and has all committed ones.
  I-QRM-6  What is committed is the same everywhere: a log is never cut below the high watermark.
  I-QRM-7  No fetch is under way while the log is being flushed or a snapshot frozen.
  I-QRM-8  A leader never loads a snapshot, and every log that begins past 0 has one at its start.
  I-QRM-9  Nothing leaves a replica that depends on an election which is not stored.
  I-QRM-10 After a step nothing is due: the next deadline lies ahead.
"""

from collections import deque
from typing import Final, NamedTuple

from ottla.core.quorum.answers import Leadership
from ottla.core.quorum.candidate import Candidate
from ottla.core.quorum.changes import Changes
from ottla.core.quorum.checks import Said
from ottla.core.quorum.dispatch import request_handlers, response_handlers
from ottla.core.quorum.effects import (
    Answer,
    BecameLeader,
    Destination,
    Effect,
    FlushLog,
    HighWatermarkMoved,
    LeaderChanged,
    LogTruncated,
    Noticed,
    StoreElection,
)
from ottla.core.quorum.election import Ballot, Election
from ottla.core.quorum.events import (
    ElectionStored,
    Event,
    LogFlushed,
    RequestReceived,
    ResignRequested,
    ResponseReceived,
    SnapshotFrozen,
    Stopping,
    Ticked,
)
from ottla.core.quorum.fetching import Fetching
from ottla.core.quorum.follower import Follower
from ottla.core.quorum.leader import Leader
from ottla.core.quorum.log import OffsetAndEpoch, QuorumLog
from ottla.core.quorum.options import QuorumOptions, RandomSource
from ottla.core.quorum.peers import Peers
from ottla.core.quorum.prospective import Prospective
from ottla.core.quorum.replicas import Replicas
from ottla.core.quorum.resigned import Resigned
from ottla.core.quorum.serving import Serving
from ottla.core.quorum.state import State
from ottla.core.quorum.unattached import Unattached
from ottla.core.quorum.voter_history import VoterHistory
from ottla.core.quorum.voters import Endpoint, ReplicaKey
from ottla.core.quorum.voting import Voting
from ottla.core.quorum.writing import start_of_epoch, write_values
from ottla.errors import ErrorCode
from ottla.wire.fields import Buffer, Message

NEVER_MS: Final = 2**63 - 1


class Appended(NamedTuple):
    """Where records were appended, and what is to be done about it."""

    base_offset: int
    end_offset: int
    effects: list[Effect]


class Quorum:
    """One replica."""

    def __init__(
        self,
        options: QuorumOptions,
        log: QuorumLog,
        random: RandomSource,
        stored: Election,
        now: Ticked,
    ) -> None:
        """Take up what `quorum-state` and the log say; the first event is to be a `Ticked`."""
        self.options = options
        self.log = log
        self.now_ms, self.wall_ms = now.now_ms, now.wall_ms
        self.history = VoterHistory(options.static_voters)
        self.history.load(log)
        self.peers = Peers(options.request_timeout_ms, options.retry_backoff_ms)
        self.voting = Voting(self)
        self.fetching = Fetching(self)
        self.serving = Serving(self)
        self.changes = Changes(self)
        snapshot = log.latest_snapshot
        self.high_watermark = snapshot.end_offset if snapshot else -1
        self.is_stopping = False
        self.is_flushing = False
        self.freezing: OffsetAndEpoch | None = None
        """The snapshot that is being made whole."""
        self.never_ms = NEVER_MS
        self._random = random
        self._stored = stored
        self._is_storing = False
        self._events: deque[Event] = deque()
        self._out: list[Effect] = []
        self._held: list[Effect] = []
        self._told: tuple[int | None, int] = (None, 0)
        self.epoch = max(stored.epoch, log.last_epoch)
        self.state: State = self._state_at_start(stored)
        self._request_handlers = request_handlers(self)
        self._response_handlers = response_handlers(self)
        if self.history.voters.has_only(options.key) and not isinstance(self.state, Candidate):
            self.become_prospective()

    def _state_at_start(self, stored: Election) -> State:
        """Where it stopped, but for a leader: see `resigned`."""
        deadline_ms = self.now_ms + self._drawn_timeout_ms()
        if stored.epoch < self.epoch:
            return Unattached(deadline_ms)
        own = self.options.key
        if stored.leader_id == own.id:
            others = [id_ for id_ in self.history.voters.ids if id_ != own.id]
            return Resigned(own.id, self.options.endpoints, deadline_ms, others, [], stored.voted)
        if stored.voted == own and self.is_voter:
            return Candidate(deadline_ms, self._new_ballot(), own)
        if stored.leader_id is not None:
            endpoints = self.history.voters.endpoints(stored.leader_id)
            if endpoints:
                return self._new_follower(stored.leader_id, endpoints, stored.voted)
        return Unattached(deadline_ms, stored.leader_id, stored.voted)

    # What others are asked and told.

    @property
    def is_voter(self) -> bool:
        """Does this replica vote, as far as its log says?"""
        return self.history.voters.has(self.options.key)

    @property
    def is_leader(self) -> bool:
        """Does this replica lead, and may it say so already?"""
        return isinstance(self.state, Leader) and not self._is_storing

    @property
    def leadership(self) -> Leadership:
        """What answers say of the leader."""
        leader_id = -1 if self.state.leader_id is None else self.state.leader_id
        return Leadership(leader_id, self.epoch, self.endpoint_of(self.state.leader_endpoints))

    @property
    def log_end(self) -> OffsetAndEpoch:
        """The end of the log, by which logs are compared."""
        return OffsetAndEpoch(self.log.end_offset, self.log.last_epoch)

    def endpoint_of(self, endpoints: tuple[Endpoint, ...]) -> Endpoint | None:
        """The endpoint of the listener that replicas use; the one of an answer has no name."""
        wanted = ("", self.options.listener)
        return next((endpoint for endpoint in endpoints if endpoint.name in wanted), None)

    # Events.

    def step(self, event: Event) -> list[Effect]:
        """Take an event in."""
        if isinstance(event, ElectionStored):
            assert self._is_storing, "I-QRM-9"
            self._is_storing = False
            ready, self._held = self._held, []
        else:
            self._events.append(event)
            ready = []
        while self._events and not self._is_storing:
            self._handle(self._events.popleft())
            self._poll()
            ready += self._released()
        return ready

    def _handle(self, event: Event) -> None:
        match event:
            case Ticked():
                assert event.now_ms >= self.now_ms, "the clock does not go back"
                self.now_ms, self.wall_ms = event.now_ms, event.wall_ms
            case RequestReceived():
                self._request_handlers[type(event.request)](event, event.request)
            case ResponseReceived():
                self._on_response(event)
            case LogFlushed():
                self._on_flushed()
            case SnapshotFrozen():
                self.fetching.on_frozen(event.id)
            case ResignRequested():
                if isinstance(self.state, Leader) and event.epoch == self.epoch:
                    self.state.must_resign = True
            case Stopping():
                self.is_stopping = True
            case ElectionStored():
                raise AssertionError("taken in by step")

    def _on_response(self, event: ResponseReceived) -> None:
        source = self.peers.answered(event.correlation)
        if source is None:
            return
        response = event.response
        if response is None or not self._response_handlers[type(response)](source, response):
            self.peers.pause(source.id, self.now_ms)

    def _on_flushed(self) -> None:
        self.is_flushing = False
        if isinstance(self.state, Leader):
            self.count_own_log(self.state)
        self.flush()

    def _poll(self) -> None:
        """Let the state do what is due, and the next one if there is another then."""
        state = None
        while state is not self.state:
            state = self.state
            state.tick(self)

    def _released(self) -> list[Effect]:
        """What may be done now: all, or storing the election and the rest after that."""
        self._tell_leader()
        out, self._out = self._out, []
        election = Election(self.epoch, self.state.leader_id, self.state.voted)
        if election == self._stored:
            return out
        self._stored = election
        self._held = out
        self._is_storing = True
        return [StoreElection(election, self.history.kraft_version, self.history.voters)]

    def _tell_leader(self) -> None:
        """Say who leads when that is another than before."""
        leader_id = None if isinstance(self.state, Resigned) else self.state.leader_id
        if (leader_id, self.epoch) == self._told:
            return
        self._told = (leader_id, self.epoch)
        if isinstance(self.state, Leader):
            self.emit(BecameLeader(self.epoch, self.state.start_offset))
        else:
            self.emit(LeaderChanged(leader_id, self.epoch))

    def next_deadline_ms(self) -> int:
        """When to tick again at the latest."""
        return NEVER_MS if self._is_storing else self.state.deadline_ms(self)

    # The log.

    def append(self, epoch: int, values: list[bytes]) -> Appended | None:
        """Append records as one batch; None if this replica does not lead that epoch any more.

        Raises `Unencodable` if they are too large for a batch.
        """
        if not self.is_leader or epoch != self.epoch:
            return None
        base_offset = self.log.end_offset
        data = write_values(values, base_offset, epoch, self.wall_ms, self.options.batch_bytes_max)
        self.write(data)
        return Appended(base_offset, self.log.end_offset, self._released())

    def write(self, data: Buffer) -> None:
        """Append batches that have their offsets, and let the leader's voters be what they say."""
        voters = self.history.voters
        self.log.append(data)
        self.history.replay(data)
        if isinstance(self.state, Leader):
            if self.history.voters != voters:
                self.state.replicas.change(self.history.voters)
            self.serving.wake(self.state)
        self.flush()

    def flush(self) -> None:
        """Have the log brought to the device, unless that is done or being done."""
        if not self.is_flushing and self.log.flushed_offset < self.log.end_offset:
            self.is_flushing = True
            self.emit(FlushLog())

    def count_own_log(self, leader: Leader) -> None:
        """Let what is on the device here count for the majority."""
        own = leader.replicas.get(self.options.key)
        own.end_offset = self.log.flushed_offset
        self.commit(leader)

    def commit(self, leader: Leader) -> None:
        """Move the high watermark if a majority has come further."""
        offset = leader.committed()
        if offset is None:
            return
        leader.high_watermark = offset
        self.raise_high_watermark(offset)
        self.changes.on_committed(leader)
        self.serving.wake(leader)

    def raise_high_watermark(self, offset: int) -> None:
        """Know that everything below is committed."""
        if offset > self.high_watermark:
            self.high_watermark = offset
            self.emit(HighWatermarkMoved(offset))

    def truncate(self, end_offset: int) -> None:
        """Cut off what the leader does not have."""
        assert end_offset >= self.high_watermark, "I-QRM-6"
        assert not self.is_flushing, "I-QRM-7"
        self.log.truncate_to(end_offset)
        self.history.truncate_to(self.log.end_offset)
        self.emit(LogTruncated(self.log.end_offset))

    # Messages.

    def emit(self, effect: Effect) -> None:
        """Want something done, once the election is stored."""
        self._out.append(effect)

    def answer(self, event: RequestReceived, response: Message) -> None:
        """Answer a request."""
        self.emit(Answer(event.token, response))

    def notice(self, what: str) -> None:
        """Say that something is not as it should be."""
        self.emit(Noticed(what))

    def destination(self, id_: int, endpoints: tuple[Endpoint, ...]) -> Destination | None:
        """Where to send to a replica."""
        endpoint = self.endpoint_of(endpoints)
        return endpoint and Destination(id_, endpoint.host, endpoint.port)

    def send_to_voter(self, id_: int, request: Message) -> None:
        """Send to a voter, if it may be sent to."""
        to = self.destination(id_, self.history.voters.endpoints(id_))
        if to is not None:
            self.fetching.send(to, request)

    def ready_ms(self, id_: int) -> int:
        """From when on a voter may be sent a request; never if nobody knows where it is."""
        if self.endpoint_of(self.history.voters.endpoints(id_)) is None:
            return NEVER_MS
        return self.peers.ready_ms(id_)

    def take_in(self, said: Said, source: Destination) -> bool | None:
        """Take what an answer says of the leader; None if its own matter is still to be heard.

        Otherwise: is the peer to be asked again at once?
        """
        if said.epoch < self.epoch or said.error is ErrorCode.UNKNOWN_LEADER_EPOCH:
            return True
        voters = self.history.voters
        if said.leader_id is not None and not said.endpoints:
            said = said._replace(endpoints=voters.endpoints(said.leader_id))
        is_stale = said.error in (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if said.epoch > self.epoch or is_stale:
            return self.follow_news(said)
        if said.leader_id is not None and self.state.leader_id is None:
            if not self.follow_news(said):
                return False
            return None if said.error is ErrorCode.NONE else True
        if said.error is ErrorCode.INVALID_REQUEST:
            self.notice(f"node {source.id} finds a request invalid")
        return None if said.error is not ErrorCode.BROKER_NOT_AVAILABLE else False

    def follow_news(self, said: Said) -> bool:
        """Go where somebody says that the quorum is; false if that cannot be."""
        if said.epoch < self.epoch:
            return True
        if not self._can_be(said):
            self.notice(f"leader {said.leader_id} of epoch {said.epoch} cannot be")
            return False
        state = self.state
        if said.epoch == self.epoch:
            is_known = state.leader_id is not None and (
                state.leader_id == self.options.key.id
                or len(said.endpoints) <= len(state.leader_endpoints)
            )
            if said.leader_id is None or is_known:
                return True
        if said.leader_id is not None and said.endpoints:
            self.become_follower(said.epoch, said.leader_id, said.endpoints)
        elif said.epoch > self.epoch:
            self.become_unattached(said.epoch, said.leader_id)
        return True

    def _can_be(self, said: Said) -> bool:
        """Is what somebody says of an epoch consistent with what is known?"""
        known = self.state.leader_id if said.epoch == self.epoch else None
        if said.leader_id == self.options.key.id:
            return known == said.leader_id
        return None in (known, said.leader_id) or known == said.leader_id

    # Transitions.

    def _drawn_timeout_ms(self) -> int:
        """How long to wait for an election, by chance, so that not all stand at once."""
        shortest = self.options.election_timeout_ms
        return shortest + self._random.randrange(shortest)

    def drawn(self, count: int) -> int:
        """One of so many, by chance."""
        return self._random.randrange(count)

    def _new_ballot(self) -> Ballot:
        return Ballot(self.history.voters.ids, self.options.key.id)

    def _new_follower(
        self, leader_id: int, endpoints: tuple[Endpoint, ...], voted: ReplicaKey | None
    ) -> Follower:
        until_ms = self.now_ms + self.options.fetch_timeout_ms
        return Follower(leader_id, endpoints, voted, until_ms, until_ms)

    def _leave(self, epoch: int) -> ReplicaKey | None:
        """Leave a state for one of an epoch; give the vote that still counts there."""
        assert epoch >= self.epoch, "I-QRM-1"
        voted = self.state.voted if epoch == self.epoch else None
        if isinstance(self.state, Leader):
            self.serving.refuse_parked(self.state)
            self.changes.give_up(self.state)
        self.epoch = epoch
        self.peers.reset()
        return voted

    def become_unattached(self, epoch: int, leader_id: int | None) -> None:
        """Know of an epoch, and nobody to follow in it."""
        deadline_ms = self._remaining_deadline_ms()
        voted = self._leave(epoch)
        self.state = Unattached(deadline_ms, leader_id, voted)

    def _remaining_deadline_ms(self) -> int:
        """An election's time goes on when only the epoch is another."""
        state = self.state
        is_lost = isinstance(state, Prospective) and state.ballot.is_lost
        if isinstance(state, Leader | Follower) or is_lost:
            return self.now_ms + self._drawn_timeout_ms()
        assert isinstance(state, Candidate | Unattached | Prospective | Resigned), "all states"
        return state.election_deadline_ms

    def add_vote(self, for_: ReplicaKey) -> None:
        """Vote in this epoch."""
        state = self.state
        assert isinstance(state, Unattached | Prospective), "I-QRM-2"
        assert state.voted is None, "I-QRM-2"
        state.voted = for_
        state.election_deadline_ms = self.now_ms + self._drawn_timeout_ms()

    def become_prospective(self) -> None:
        """Ask whether an election could be won; who is alone need not ask."""
        assert self.is_voter, "observers do not stand for election"
        state = self.state
        leader_id, endpoints = state.leader_id, state.leader_endpoints
        voted = self._leave(self.epoch)
        deadline_ms = self.now_ms + self._drawn_timeout_ms()
        self.state = Prospective(deadline_ms, self._new_ballot(), leader_id, endpoints, voted)

    def become_candidate(self) -> None:
        """Stand for election, and vote for oneself."""
        assert self.is_voter, "observers do not stand for election"
        self._leave(self.epoch + 1)
        deadline_ms = self.now_ms + self._drawn_timeout_ms()
        self.state = Candidate(deadline_ms, self._new_ballot(), self.options.key)

    def become_leader(self, ballot: Ballot) -> None:
        """Begin an epoch with a record that says so."""
        voted = self._leave(self.epoch)
        replicas = Replicas(self.history.voters, self.options.key)
        cut_off_ms = self.now_ms + self.options.fetch_timeout_ms * 3 // 2
        leader = Leader(
            self.options.key.id,
            self.options.endpoints,
            voted,
            ballot,
            self.log.end_offset,
            replicas,
            cut_off_ms,
            self.now_ms,
        )
        self.state = leader
        replicas.get(self.options.key).end_offset = self.log.flushed_offset
        self.write(start_of_epoch(self, leader))

    def become_follower(self, epoch: int, leader_id: int, endpoints: tuple[Endpoint, ...]) -> None:
        """Follow a leader."""
        assert leader_id != self.options.key.id, "nobody follows himself"
        assert not (epoch == self.epoch and isinstance(self.state, Leader)), "I-QRM-3"
        voted = self._leave(epoch)
        self.state = self._new_follower(leader_id, endpoints, voted)

    def become_resigned(self) -> None:
        """Lead no longer, and let another be elected soon."""
        leader = self.state
        assert isinstance(leader, Leader), "only a leader resigns"
        successors = leader.replicas.successors()
        voted = self._leave(self.epoch)
        deadline_ms = self.now_ms + self._drawn_timeout_ms()
        others = [key.id for key in successors]
        own_id = self.options.key.id
        self.state = Resigned(
            own_id, leader.leader_endpoints, deadline_ms, others, successors, voted
        )
