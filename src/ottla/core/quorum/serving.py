"""Leading: what followers fetch, and what is told of the quorum."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ottla.api.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from ottla.api.fetch import FetchRequest, FetchResponse
from ottla.api.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from ottla.core.quorum.answers import Fetched, Piece, fetch_answer, fetch_snapshot_answer
from ottla.core.quorum.checks import is_metadata
from ottla.core.quorum.events import RequestReceived
from ottla.core.quorum.leader import Leader
from ottla.core.quorum.log import BOOTSTRAP_SNAPSHOT, Fit, OffsetAndEpoch, fit_of
from ottla.core.quorum.options import CLUSTER_METADATA
from ottla.core.quorum.replicas import Replica
from ottla.core.quorum.voters import ReplicaKey
from ottla.errors import ErrorCode
from ottla.wire.fields import NO_ID
from ottla.wire.uuids import METADATA_TOPIC

if TYPE_CHECKING:
    from ottla.core.quorum.machine import Quorum


@dataclass(frozen=True, slots=True)
class ParkedFetch:
    """A fetch that waits for records, or for a higher watermark than its replica knows."""

    event: RequestReceived
    request: FetchRequest
    deadline_ms: int

    @property
    def place(self) -> FetchRequest.Topic.Partition:
        """What is fetched."""
        return self.request.topics[0].partitions[0]


class Serving:
    """The part of a replica that leads."""

    def __init__(self, quorum: "Quorum") -> None:
        self._quorum = quorum

    def why_not_leading(self, epoch: int) -> ErrorCode:
        """What is wrong with a request that only the leader of an epoch may answer."""
        quorum = self._quorum
        if epoch < quorum.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if epoch > quorum.epoch:
            return ErrorCode.UNKNOWN_LEADER_EPOCH
        if not isinstance(quorum.state, Leader):
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.NONE

    # Fetch.

    def on_fetch(self, event: RequestReceived, request: FetchRequest) -> None:
        """Give what there is, or let the fetch wait."""
        quorum = self._quorum
        refused = self._refusal(request)
        if refused is not None:
            quorum.answer(event, FetchResponse(error_code=refused, responses=[]))
            return
        place = request.topics[0].partitions[0]
        found = self._found(event, request)
        leader = quorum.state
        waits = (
            found.error is ErrorCode.NONE
            and found.fit is Fit.VALID
            and not found.records
            and request.max_wait_ms > 0
            and place.high_watermark >= found.high_watermark
        )
        if waits and isinstance(leader, Leader):
            deadline_ms = quorum.now_ms + request.max_wait_ms
            leader.parked.append(ParkedFetch(event, request, deadline_ms))
        else:
            self._give(event, found)

    def _give(self, event: RequestReceived, found: Fetched) -> None:
        quorum = self._quorum
        quorum.answer(event, fetch_answer(quorum.leadership, event.version, found))

    def _refusal(self, request: FetchRequest) -> ErrorCode | None:
        if request.cluster_id not in (None, self._quorum.options.cluster_id):
            return ErrorCode.INCONSISTENT_CLUSTER_ID
        if len(request.topics) != 1 or len(request.topics[0].partitions) != 1:
            return ErrorCode.INVALID_REQUEST
        topic = request.topics[0]
        is_meant = topic.topic == CLUSTER_METADATA or topic.topic_id == METADATA_TOPIC
        if not is_meant or topic.partitions[0].partition != 0:
            return ErrorCode.INVALID_REQUEST
        return None

    def _found(self, event: RequestReceived, request: FetchRequest) -> Fetched:
        """What a fetch finds now."""
        quorum = self._quorum
        place = request.topics[0].partitions[0]
        id_ = request.replica_state.replica_id if event.version >= 15 else request.replica_id
        is_sane = (
            place.fetch_offset >= 0
            and 0 <= place.last_fetched_epoch <= place.current_leader_epoch
            and request.max_wait_ms >= 0
            and id_ != quorum.options.key.id
        )
        if not is_sane:
            return Fetched(ErrorCode.INVALID_REQUEST)
        error = self.why_not_leading(place.current_leader_epoch)
        leader = quorum.state
        if error is not ErrorCode.NONE or not isinstance(leader, Leader):
            return Fetched(error)
        end = OffsetAndEpoch(place.fetch_offset, place.last_fetched_epoch)
        fit, at = self._fit(end)
        records = b""
        if fit is Fit.VALID:
            bytes_max = max(1, min(request.max_bytes, quorum.options.fetch_bytes_max))
            if end.end_offset < quorum.log.end_offset:
                records = quorum.log.read(end.end_offset, bytes_max)
            self._note(leader, ReplicaKey(id_, place.replica_directory_id), end.end_offset)
        return Fetched(
            ErrorCode.NONE, leader.high_watermark, quorum.log.start_offset, fit, at, records
        )

    def _fit(self, end: OffsetAndEpoch) -> tuple[Fit, OffsetAndEpoch]:
        """Does a replica's log go on as this one does? An empty one begins with a snapshot."""
        log = self._quorum.log
        latest = log.latest_snapshot
        if end.end_offset == 0 and latest not in (None, BOOTSTRAP_SNAPSHOT):
            assert latest is not None, "just looked at"
            return Fit.SNAPSHOT, latest
        return fit_of(log, end)

    def _note(self, leader: Leader, key: ReplicaKey, offset: int) -> None:
        """A replica has everything below an offset."""
        if key.id < 0:
            return
        quorum = self._quorum
        leader.replicas.get(key).fetched(offset, quorum.log.end_offset, quorum.wall_ms)
        leader.hear(key, quorum)
        if leader.replicas.is_voter(key):
            quorum.commit(leader)

    def wake(self, leader: Leader) -> None:
        """Answer the fetches for which there is something now."""
        quorum = self._quorum
        if not leader.parked:
            return
        ready = [
            parked
            for parked in leader.parked
            if parked.place.fetch_offset < quorum.log.end_offset
            or parked.place.high_watermark < leader.high_watermark
        ]
        leader.parked = [parked for parked in leader.parked if parked not in ready]
        for parked in ready:
            self._give(parked.event, self._found(parked.event, parked.request))

    def expire(self, leader: Leader) -> None:
        """Answer the fetches that have waited long enough."""
        now_ms = self._quorum.now_ms
        late = [parked for parked in leader.parked if parked.deadline_ms <= now_ms]
        leader.parked = [parked for parked in leader.parked if parked.deadline_ms > now_ms]
        for parked in late:
            found = Fetched(ErrorCode.NONE, leader.high_watermark, self._quorum.log.start_offset)
            self._give(parked.event, found)

    def refuse_parked(self, leader: Leader) -> None:
        """Let nobody wait for one who leads no longer."""
        parked, leader.parked = leader.parked, []
        for fetch in parked:
            self._give(fetch.event, Fetched(ErrorCode.NOT_LEADER_OR_FOLLOWER))

    # FetchSnapshot.

    def on_fetch_snapshot(self, event: RequestReceived, request: FetchSnapshotRequest) -> None:
        """Give a piece of a snapshot."""
        quorum = self._quorum
        error = None
        if request.cluster_id not in (None, quorum.options.cluster_id):
            error = ErrorCode.INCONSISTENT_CLUSTER_ID
        elif len(request.topics) != 1 or len(request.topics[0].partitions) != 1:
            error = ErrorCode.INVALID_REQUEST
        if error is not None:
            quorum.answer(
                event, FetchSnapshotResponse(throttle_time_ms=0, error_code=error, topics=[])
            )
            return
        found = self._piece(request)
        quorum.answer(event, fetch_snapshot_answer(quorum.leadership, event.version, found))

    def _piece(self, request: FetchSnapshotRequest) -> Piece:
        quorum = self._quorum
        if not is_metadata(request.topics):
            return Piece(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        place = request.topics[0].partitions[0]
        error = self.why_not_leading(place.current_leader_epoch)
        leader = quorum.state
        if error is not ErrorCode.NONE or not isinstance(leader, Leader):
            return Piece(error)
        id_ = OffsetAndEpoch(place.snapshot_id.end_offset, place.snapshot_id.epoch)
        size_bytes = quorum.log.snapshot_bytes(id_)
        if size_bytes is None or id_ == BOOTSTRAP_SNAPSHOT:
            return Piece(ErrorCode.SNAPSHOT_NOT_FOUND)
        if not 0 <= place.position < size_bytes:
            return Piece(ErrorCode.POSITION_OUT_OF_RANGE)
        bytes_max = max(1, min(request.max_bytes, quorum.options.snapshot_bytes_max))
        data = quorum.log.read_snapshot(id_, place.position, bytes_max)
        leader.hear(ReplicaKey(request.replica_id, place.replica_directory_id), quorum)
        return Piece(ErrorCode.NONE, id_, size_bytes, place.position, data)

    # DescribeQuorum.

    def on_describe(self, event: RequestReceived, request: DescribeQuorumRequest) -> None:
        """Tell who leads and how far each replica is."""
        quorum, leader = self._quorum, self._quorum.state
        place = DescribeQuorumResponse.Topic.Partition
        answer = DescribeQuorumResponse(error_code=ErrorCode.NONE, topics=[])
        if not is_metadata(request.topics):
            answer.topics = [_unknown(topic) for topic in request.topics]
        elif not isinstance(leader, Leader):
            partition = _refused(0, ErrorCode.NOT_LEADER_OR_FOLLOWER)
            answer.topics = [_topic(CLUSTER_METADATA, [partition])]
        else:
            replicas = leader.replicas
            own = replicas.get(quorum.options.key)
            own.fetched_ms = own.caught_up_ms = quorum.wall_ms
            partition = place(
                partition_index=0,
                error_code=ErrorCode.NONE,
                leader_id=quorum.options.key.id,
                leader_epoch=quorum.epoch,
                high_watermark=leader.high_watermark,
                current_voters=[self._told(r) for r in replicas.voters.values()],
                observers=[self._told(r) for r in replicas.live_observers(quorum.wall_ms)],
            )
            answer.topics = [_topic(CLUSTER_METADATA, [partition])]
            if event.version >= 2:
                answer.nodes = self._nodes()
        if event.version < 2:
            _leave_out_directories(answer)
        quorum.answer(event, answer)

    def _told(self, replica: Replica) -> DescribeQuorumResponse.Topic.Partition.ReplicaState:
        is_own = replica.key.id == self._quorum.options.key.id
        return DescribeQuorumResponse.Topic.Partition.ReplicaState(
            replica_id=replica.key.id,
            replica_directory_id=replica.key.directory_id,
            log_end_offset=self._quorum.log.end_offset if is_own else replica.end_offset,
            last_fetch_timestamp=replica.fetched_ms,
            last_caught_up_timestamp=replica.caught_up_ms,
        )

    def _nodes(self) -> list[DescribeQuorumResponse.Node]:
        node = DescribeQuorumResponse.Node
        return [
            node(
                node_id=voter.key.id,
                listeners=[
                    node.Listener(name=e.name, host=e.host, port=e.port) for e in voter.endpoints
                ],
            )
            for voter in self._quorum.history.voters.voters
        ]


def _topic(
    name: str, partitions: list[DescribeQuorumResponse.Topic.Partition]
) -> DescribeQuorumResponse.Topic:
    return DescribeQuorumResponse.Topic(topic_name=name, partitions=partitions)


def _refused(index: int, error: ErrorCode) -> DescribeQuorumResponse.Topic.Partition:
    return DescribeQuorumResponse.Topic.Partition(
        partition_index=index,
        error_code=error,
        error_message=None,
        leader_id=0,
        leader_epoch=0,
        high_watermark=0,
        current_voters=[],
        observers=[],
    )


def _unknown(topic: DescribeQuorumRequest.Topic) -> DescribeQuorumResponse.Topic:
    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return _topic(topic.topic_name, [_refused(p.partition_index, error) for p in topic.partitions])


def _leave_out_directories(answer: DescribeQuorumResponse) -> None:
    """Before version 2 replicas are told apart by their ids alone."""
    for topic in answer.topics:
        for partition in topic.partitions:
            for state in [*partition.current_voters, *partition.observers]:
                state.replica_directory_id = NO_ID
