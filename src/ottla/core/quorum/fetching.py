"""Following: what to fetch from whom, and what to do with what comes."""

from typing import TYPE_CHECKING

from ottla.api.fetch import FetchResponse
from ottla.api.fetch_snapshot import FetchSnapshotResponse
from ottla.core.quorum.checks import is_metadata, said_of_fetch
from ottla.core.quorum.effects import Destination, FreezeSnapshot, SendRequest, SnapshotInstalled
from ottla.core.quorum.follower import Download, Follower
from ottla.core.quorum.log import OffsetAndEpoch
from ottla.core.quorum.requests import (
    fetch_request,
    fetch_snapshot_request,
    join_request,
    update_voter_request,
)
from ottla.core.quorum.sound_batches import sound_bytes
from ottla.wire.fields import Message
from ottla.wire.uuids import METADATA_TOPIC

if TYPE_CHECKING:
    from ottla.core.quorum.machine import Quorum


class Fetching:
    """The part of a replica that follows."""

    def __init__(self, quorum: "Quorum") -> None:
        self._quorum = quorum

    def send(self, to: Destination, request: Message) -> None:
        """Send a request, if the peer may be sent one."""
        quorum = self._quorum
        if quorum.peers.is_ready(to.id, quorum.now_ms):
            quorum.emit(SendRequest(quorum.peers.send(to, quorum.now_ms), to, request))

    def fetch(self, follower: Follower) -> None:
        """Fetch on from the leader, or ask others for another one if it does not answer."""
        quorum = self._quorum
        leader = self._leader(follower)
        if leader is None or not self._may_fetch():
            return
        if quorum.peers.is_failing(leader.id, quorum.now_ms):
            quorum.peers.give_up(leader.id)
            self.ask_around()
        elif not quorum.peers.has_open_request(quorum.now_ms):
            self.send(leader, self._request(follower))

    def _request(self, follower: Follower) -> Message:
        quorum, download = self._quorum, follower.download
        if download is not None:
            return fetch_snapshot_request(
                quorum.options, quorum.epoch, download.id, download.position
            )
        return fetch_request(quorum.options, quorum.epoch, quorum.log_end, quorum.high_watermark)

    def _leader(self, follower: Follower) -> Destination | None:
        if follower.leader_id is None:
            return None
        return self._quorum.destination(follower.leader_id, follower.leader_endpoints)

    @property
    def _is_settled(self) -> bool:
        """Is no device being waited for?"""
        return not self._quorum.is_flushing and self._quorum.freezing is None

    def _may_fetch(self) -> bool:
        """Is all that a fetch would claim on the device? (I-QRM-7)"""
        quorum = self._quorum
        if not self._is_settled:
            return False
        if quorum.options.can_vote and quorum.log.flushed_offset < quorum.log.end_offset:
            quorum.flush()
            return False
        return True

    def next_fetch_ms(self, follower: Follower) -> int:
        """When to look again whether to fetch."""
        quorum = self._quorum
        leader = self._leader(follower)
        times = [follower.voter_update_ms]
        if quorum.now_ms >= follower.voter_update_ms:
            times = [quorum.now_ms + quorum.options.retry_backoff_ms]
        if leader is not None and self._is_settled:
            times += [quorum.peers.ready_ms(leader.id), self.next_asking_ms()]
        return min(later for later in [*times, quorum.never_ms] if later > quorum.now_ms)

    # Finding a leader.

    def _servers(self) -> list[Destination]:
        """Whom to ask for the leader."""
        quorum = self._quorum
        if quorum.options.bootstrap:
            return [
                Destination(-2 - number, host, port)
                for number, (host, port) in enumerate(quorum.options.bootstrap)
            ]
        others = [v for v in quorum.history.voters.voters if v.key.id != quorum.options.key.id]
        found = [quorum.destination(voter.key.id, voter.endpoints) for voter in others]
        return [to for to in found if to is not None]

    def ask_around(self) -> None:
        """Send a fetch to anyone, who will say who leads."""
        quorum = self._quorum
        if quorum.peers.has_open_request(quorum.now_ms) or not self._may_fetch():
            return
        ready = [to for to in self._servers() if quorum.peers.is_ready(to.id, quorum.now_ms)]
        if ready:
            to = ready[quorum.drawn(len(ready))]
            request = fetch_request(
                quorum.options, quorum.epoch, quorum.log_end, quorum.high_watermark
            )
            self.send(to, request)

    def next_asking_ms(self) -> int:
        """When anyone may be asked."""
        quorum = self._quorum
        if not self._is_settled:
            return quorum.never_ms
        ready_ms = [quorum.peers.ready_ms(to.id) for to in self._servers()]
        return max(quorum.peers.open_until_ms(), min(ready_ms, default=quorum.never_ms))

    # Being a voter, or wanting to be.

    def ask_for_change(self, follower: Follower) -> bool:
        """Tell the leader how to describe this voter, or ask to become one; false if neither."""
        quorum = self._quorum
        leader = self._leader(follower)
        ready = leader is not None and quorum.peers.is_ready(leader.id, quorum.now_ms)
        options, voters = quorum.options, quorum.history.voters
        if leader is None or not ready or not self._is_settled:
            return False
        is_described = not voters.needs_update(options.voter)
        joins = options.auto_join and options.can_vote
        if quorum.history.kraft_version == 0 or (is_described if quorum.is_voter else not joins):
            follower.voter_update_ms = quorum.now_ms + options.fetch_timeout_ms
            return False
        if quorum.is_voter:
            self.send(leader, update_voter_request(options, quorum.epoch))
        else:
            self.send(leader, join_request(options, [voter.key for voter in voters.voters]))
        return True

    def on_change_response(self, source: Destination, response: Message) -> bool:
        """The leader has the wish; whether it came true will stand in the log."""
        return not getattr(response, "error_code", 0)

    # What comes.

    def on_fetch_response(self, source: Destination, response: FetchResponse) -> bool:
        """Append, cut, or begin to fetch a snapshot."""
        quorum = self._quorum
        if response.error_code or len(response.responses) != 1:
            return False
        topic = response.responses[0]
        is_meant = topic.topic_id == METADATA_TOPIC or topic.topic != ""
        if not is_meant or len(topic.partitions) != 1:
            return False
        place = topic.partitions[0]
        handled = quorum.take_in(said_of_fetch(place, response.node_endpoints), source)
        follower = quorum.state
        if handled is not None or not isinstance(follower, Follower):
            return True if handled is None else handled
        if place.error_code or not self._take(follower, place):
            return False
        self._heard(follower)
        return True

    def _heard(self, follower: Follower) -> None:
        """The leader is there."""
        follower.has_fetched = True
        follower.fetch_deadline_ms = self._quorum.now_ms + self._quorum.options.fetch_timeout_ms

    def _take(self, follower: Follower, place: FetchResponse.Topic.Partition) -> bool:
        """Do what an answer of the leader says; false if it makes no sense."""
        diverging, snapshot = place.diverging_epoch, place.snapshot_id
        if diverging.epoch >= 0:
            return self._cut(OffsetAndEpoch(diverging.end_offset, diverging.epoch))
        if snapshot.epoch >= 0 or snapshot.end_offset >= 0:
            return self._begin_download(
                follower, OffsetAndEpoch(snapshot.end_offset, snapshot.epoch)
            )
        return self._take_records(place)

    def _take_records(self, place: FetchResponse.Topic.Partition) -> bool:
        quorum = self._quorum
        if place.records:
            end = quorum.log_end
            good = sound_bytes(place.records, end, quorum.epoch)
            if good == 0:
                quorum.notice(f"records fetched for offset {end.end_offset} do not belong there")
                return False
            quorum.write(memoryview(place.records)[:good])
        quorum.raise_high_watermark(min(place.high_watermark, quorum.log.end_offset))
        return True

    def _cut(self, diverging: OffsetAndEpoch) -> bool:
        """Cut the log where the leader's is another."""
        quorum = self._quorum
        end_offset = min(diverging.end_offset, quorum.log.end_offset)
        if diverging.epoch > 0:
            own = quorum.log.end_offset_for_epoch(diverging.epoch)
            is_same = own.epoch == diverging.epoch
            end_offset = min(own.end_offset, end_offset) if is_same else own.end_offset
        if end_offset < quorum.high_watermark:
            quorum.notice(f"the leader's log parts at {end_offset}, below what is committed")
            return False
        quorum.truncate(end_offset)
        return True

    # Snapshots.

    def _begin_download(self, follower: Follower, id_: OffsetAndEpoch) -> bool:
        quorum = self._quorum
        if id_.epoch < 0 or id_.end_offset < 0:
            quorum.notice(f"the leader names snapshot {id_}, which cannot be")
            return False
        if id_.end_offset <= quorum.high_watermark:
            quorum.notice(f"the leader names snapshot {id_}, below what is committed")
            return False
        if quorum.log.snapshot_bytes(id_) is not None:
            self._install(id_)
            return True
        quorum.log.begin_snapshot(id_)
        follower.download = Download(id_)
        return True

    def on_fetch_snapshot_response(
        self, source: Destination, response: FetchSnapshotResponse
    ) -> bool:
        """Take a piece; when it is the last, make the snapshot whole."""
        quorum = self._quorum
        if response.error_code or not is_metadata(response.topics):
            return False
        place = response.topics[0].partitions[0]
        handled = quorum.take_in(said_of_fetch(place, response.node_endpoints), source)
        follower = quorum.state
        if handled is not None or not isinstance(follower, Follower):
            return True if handled is None else handled
        if follower.download is None:
            return True
        if not self._take_piece(follower.download, place):
            # It may be gone from the leader; the next fetch says what there is instead.
            follower.download = None
        self._heard(follower)
        return True

    def _take_piece(self, download: Download, place: FetchSnapshotResponse.Topic.Partition) -> bool:
        id_ = OffsetAndEpoch(place.snapshot_id.end_offset, place.snapshot_id.epoch)
        fits = id_ == download.id and place.position == download.position
        if place.error_code or not fits or not place.unaligned_records:
            return False
        quorum = self._quorum
        quorum.log.append_snapshot(id_, place.unaligned_records)
        download.position += len(place.unaligned_records)
        if download.position >= place.size:
            quorum.freezing = id_
            quorum.emit(FreezeSnapshot(id_))
        return True

    def on_frozen(self, id_: OffsetAndEpoch) -> None:
        """Begin the log anew after the snapshot, unless the next fetch has to bring that up."""
        quorum = self._quorum
        assert quorum.freezing == id_, "I-QRM-7"
        quorum.freezing = None
        if isinstance(quorum.state, Follower):
            quorum.state.download = None
            if not quorum.is_flushing:
                self._install(id_)

    def _install(self, id_: OffsetAndEpoch) -> None:
        quorum = self._quorum
        assert not quorum.is_flushing, "I-QRM-7"
        if quorum.log.restart_at_snapshot():
            quorum.history.load(quorum.log)
            quorum.emit(SnapshotInstalled(id_))
            quorum.raise_high_watermark(id_.end_offset)
