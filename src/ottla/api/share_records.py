"""Records of __share_group_state."""

from typing import Final

from ottla.api.coordinator_records import Pairs
from ottla.wire.fields import Message, Struct, Uuid, field, int8, int16, int32, int64


class ShareSnapshotKey(Message, key=0, versions="0"):
    """Which share partition."""

    group_id: str
    topic_id: Uuid
    partition: int32


class ShareSnapshotValue(Message, key=0, versions="0", flexible="0+"):
    """All of a share partition's state."""

    class StateBatch(Struct):
        first_offset: int64
        last_offset: int64
        delivery_state: int8  # 0 available, 2 acknowledged, 4 archived.
        delivery_count: int16

    snapshot_epoch: int32
    state_epoch: int32
    leader_epoch: int32
    start_offset: int64
    delivery_complete_count: int32 = field(tag=0, default=-1)
    create_timestamp: int64
    write_timestamp: int64
    state_batches: list[StateBatch]


class ShareUpdateKey(Message, key=1, versions="0"):
    """Which share partition."""

    group_id: str
    topic_id: Uuid
    partition: int32


class ShareUpdateValue(Message, key=1, versions="0", flexible="0+"):
    """What changed in a share partition since its snapshot."""

    class StateBatch(Struct):
        first_offset: int64
        last_offset: int64
        delivery_state: int8  # 0 available, 2 acknowledged, 4 archived.
        delivery_count: int16

    snapshot_epoch: int32
    leader_epoch: int32
    start_offset: int64  # -1 if unchanged.
    delivery_complete_count: int32 = field(tag=0, default=-1)
    state_batches: list[StateBatch]


SHARE_RECORDS: Final[Pairs] = {
    0: (ShareSnapshotKey, ShareSnapshotValue),
    1: (ShareUpdateKey, ShareUpdateValue),
}
"""The classes of key and value, by type."""
