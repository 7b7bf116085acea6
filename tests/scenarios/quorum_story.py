"""One replica of the metadata log, told what happens to it, that says what it does about it."""

from ottla.api.add_raft_voter import AddRaftVoterRequest
from ottla.api.api_versions import ApiVersionsResponse
from ottla.api.control_records import KRaftVersionRecord
from ottla.api.remove_raft_voter import RemoveRaftVoterRequest
from ottla.core.quorum.answers import Fetched, Leadership, fetch_answer, vote_answer
from ottla.core.quorum.effects import Answer, Effect, FlushLog, SendRequest, StoreElection
from ottla.core.quorum.election import Election
from ottla.core.quorum.events import (
    ElectionStored,
    Event,
    LogFlushed,
    RequestReceived,
    ResignRequested,
    ResponseReceived,
    Stopping,
    Ticked,
)
from ottla.core.quorum.log import Fit, OffsetAndEpoch
from ottla.core.quorum.machine import Quorum
from ottla.core.quorum.options import QuorumOptions
from ottla.core.quorum.requests import begin_request, end_request, fetch_request, vote_request
from ottla.core.quorum.voters import Voter, VoterSet
from ottla.core.quorum.writing import write_values
from ottla.errors import ErrorCode
from ottla.storage.metadata_snapshots import SnapshotContent, write_snapshot_batches
from ottla.wire.fields import Message
from tests.sim.memory_log import MemoryLog
from tests.sim.quorum_world import endpoint, key

WALL_MS = 1_700_000_000_000


class FirstOfAll:
    """Chance that always draws the lowest number."""

    def randrange(self, stop: int, /) -> int:
        return 0 * stop


class QuorumStory:
    """Plays commands on a replica. Devices are done at once unless `devices wait=1` was said."""

    def __call__(self, verb: str, numbers: dict[str, int]) -> list[str]:
        self.said: list[str] = []
        getattr(self, verb)(**numbers)
        machine = self.machine
        leader = "" if machine.state.leader_id is None else f" of {machine.state.leader_id}"
        return [*self.said, f"= {machine.state.name}{leader}, epoch {machine.epoch}"]

    def replica(self, id: int = 1, voters: int = 3, kraft: int = 0) -> None:  # noqa: A002  # A verb's word.
        """Begin with an empty log."""
        self.id, self.kraft, self.waits = id, kraft, False
        self.voters = VoterSet(Voter(key(i), (endpoint(i),)) for i in range(1, voters + 1))
        self.log, self.stored, self.now_ms = MemoryLog(), Election(), 0
        if kraft:
            record = KRaftVersionRecord(version=0, kraft_version=1)
            content = SnapshotContent((), 0, 0, 0, [record, self.voters.to_record()])
            self.log.snapshots[OffsetAndEpoch(0, 0)] = b"".join(write_snapshot_batches(content))
        self.restart()

    def restart(self) -> None:
        """Begin with what was there, after a power cut."""
        self.log, self.sent = self.log.crashed(), dict[int, tuple[int, Message]]()
        now = Ticked(self.now_ms, WALL_MS + self.now_ms)
        self.machine = Quorum(self._options(self.id), self.log, FirstOfAll(), self.stored, now)
        self._step(now)

    def _options(self, id_: int) -> QuorumOptions:
        return QuorumOptions(
            key=key(id_),
            cluster_id="cluster",
            listener="CONTROLLER",
            endpoints=(endpoint(id_),),
            static_voters=VoterSet() if self.kraft else self.voters,
        )

    def devices(self, wait: int) -> None:
        self.waits = bool(wait)

    def stored_election(self) -> None:
        self._step(ElectionStored())

    def flushed(self) -> None:
        self.log.flush()
        self._step(LogFlushed())

    # What is done.

    def _step(self, event: Event) -> None:
        self._do(self.machine.step(event))

    def _do(self, effects: list[Effect]) -> None:
        for effect in effects:
            self.said.append(self._shown(effect))
            if isinstance(effect, StoreElection):
                self.stored = effect.election
                if not self.waits:
                    self._step(ElectionStored())
            elif isinstance(effect, FlushLog) and not self.waits:
                self.flushed()

    def _shown(self, effect: Effect) -> str:
        match effect:
            case SendRequest():
                self.sent[effect.to.id] = (effect.correlation, effect.request)
                return f"to {effect.to.id}: {asked(effect.request)}"
            case Answer():
                return f"answer: {answered(effect.response)}"
            case StoreElection():
                epoch, leader, voted = effect.election
                return f"store epoch={epoch} leader={leader} voted={voted and voted.id}"
        values = (getattr(effect, name) for name in effect.__slots__)
        return " ".join([type(effect).__name__, *map(str, values)])

    # What happens.

    def tick(self, ms: int) -> None:
        """So much time goes by."""
        self.now_ms += ms
        self._step(Ticked(self.now_ms, WALL_MS + self.now_ms))

    def append(self, count: int) -> None:
        """Whoever leads by this replica appends records."""
        appended = self.machine.append(self.machine.epoch, [b"r"] * count)
        self._do(appended.effects) if appended else self.said.append("refused")

    def resign(self) -> None:
        self._step(ResignRequested(self.machine.epoch))

    def stop(self) -> None:
        self._step(Stopping())

    def _request(self, request: Message) -> None:
        self._step(RequestReceived(7, request.versions.last, request))

    def vote(self, by: int, epoch: int, end: int = 0, last: int = 0, pre: int = 0) -> None:
        """A replica asks for a vote."""
        at = OffsetAndEpoch(end, last)
        me = key(self.id)
        self._request(vote_request(self._options(by), epoch, at, me, is_pre_vote=bool(pre)))

    def begin(self, by: int, epoch: int) -> None:
        self._request(begin_request(self._options(by), epoch, key(self.id)))

    def end(self, by: int, epoch: int, first: int, second: int) -> None:
        """A leader resigns, and names two successors."""
        self._request(end_request(self._options(by), epoch, [key(first), key(second)]))

    def fetch(self, by: int, offset: int, last: int = 0, epoch: int = 0) -> None:
        """A replica fetches."""
        at = OffsetAndEpoch(offset, last)
        self._request(fetch_request(self._options(by), epoch or self.machine.epoch, at, 1 << 40))

    def add(self, id: int) -> None:  # noqa: A002  # A verb's word.
        """Somebody asks to add a voter."""
        at = endpoint(id)
        listener = AddRaftVoterRequest.Listener(name=at.name, host=at.host, port=at.port)
        me = key(id)
        self._request(
            AddRaftVoterRequest(
                cluster_id=None,
                timeout_ms=1000,
                voter_id=me.id,
                voter_directory_id=me.directory_id,
                listeners=[listener],
            )
        )

    def remove(self, id: int) -> None:  # noqa: A002  # A verb's word.
        me = key(id)
        self._request(
            RemoveRaftVoterRequest(
                cluster_id=None, voter_id=me.id, voter_directory_id=me.directory_id
            )
        )

    # Answers to what was asked.

    def _respond(self, by: int, response: Message | None) -> None:
        self._step(ResponseReceived(self.sent[by][0], response))

    def fails(self, by: int) -> None:
        self._respond(by, None)

    def votes(self, by: int, yes: int = 1, epoch: int = -1, leader: int = -1) -> None:
        """A voter answers."""
        said = Leadership(leader, self.machine.epoch if epoch < 0 else epoch, None)
        self._respond(by, vote_answer(said, 2, ErrorCode.NONE, is_granted=bool(yes)))

    def speaks(self, by: int, most: int) -> None:
        """A replica says which levels of the protocol it speaks."""
        feature = ApiVersionsResponse.SupportedFeature(
            name="kraft.version", min_version=0, max_version=most
        )
        self._respond(
            by, ApiVersionsResponse(error_code=0, api_keys=[], supported_features=[feature])
        )

    def gives(self, by: int, epoch: int, count: int = 0, high_watermark: int = 0) -> None:
        """The leader gives records of its epoch."""
        data = b""
        if count:
            data = bytes(write_values([b"r"] * count, self.log.end_offset, epoch, 0, 1 << 20))
        found = Fetched(ErrorCode.NONE, high_watermark, 0, records=data)
        self._respond(by, fetch_answer(self._led_by(by, epoch), 17, found))

    def diverges(self, by: int, epoch: int, end: int, last: int) -> None:
        """The leader says where its log parts from this one."""
        found = Fetched(fit=Fit.DIVERGING, place=OffsetAndEpoch(end, last))
        self._respond(by, fetch_answer(self._led_by(by, epoch), 17, found))

    def tells(self, by: int, epoch: int, leader: int) -> None:
        """A replica that is asked does not lead, and knows who does."""
        found = Fetched(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        self._respond(by, fetch_answer(self._led_by(leader, epoch), 17, found))

    def _led_by(self, id_: int, epoch: int) -> Leadership:
        return Leadership(id_, epoch, endpoint(id_))


def asked(request: Message) -> str:
    name = type(request).__name__.removesuffix("Request")
    topics = getattr(request, "topics", None)
    if not topics:
        return name
    place = topics[0].partitions[0]
    words = ("replica_epoch", "leader_epoch", "current_leader_epoch", "last_offset", "fetch_offset")
    said = [f"{word}={getattr(place, word)}" for word in words if hasattr(place, word)]
    if getattr(place, "pre_vote", False):
        said.append("pre_vote")
    if hasattr(place, "preferred_successors"):
        said.append(f"successors={place.preferred_successors}")
    return " ".join([name, *said])


def answered(response: Message) -> str:
    name = type(response).__name__.removesuffix("Response")
    code = ErrorCode.of(getattr(response, "error_code", 0))
    topics = getattr(response, "topics", None) or getattr(response, "responses", None)
    if not topics:
        return f"{name} {code.name} {getattr(response, 'error_message', None) or ''}".rstrip()
    place = topics[0].partitions[0]
    said = [ErrorCode.of(place.error_code).name]
    if hasattr(place, "vote_granted"):
        said.append("yes" if place.vote_granted else "no")
    if hasattr(place, "records"):
        said += [f"{len(place.records)} bytes", f"high_watermark={place.high_watermark}"]
        diverging = place.diverging_epoch
        if diverging.epoch >= 0:
            said.append(f"diverging epoch={diverging.epoch} end={diverging.end_offset}")
    return " ".join([name, *said])
