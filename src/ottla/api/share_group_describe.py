"""Showing share groups."""

from ottla.wire.fields import Message, Struct, Uuid, field, int16, int32


class ShareGroupDescribeRequest(Message, key=77, versions="1", flexible="0+"):
    """Ask for the state and members of some share groups."""

    group_ids: list[str]
    include_authorized_operations: bool


class ShareGroupDescribeResponse(Message, key=77, versions="1", flexible="0+"):
    """Each group's state, members and assignments."""

    class Group(Struct):
        class Member(Struct):
            class Assignment(Struct):
                class TopicPartitions(Struct):
                    topic_id: Uuid
                    topic_name: str
                    partitions: list[int32]

                topic_partitions: list[TopicPartitions]

            member_id: str
            rack_id: str | None = field(default=None)
            member_epoch: int32
            client_id: str
            client_host: str
            subscribed_topic_names: list[str]
            assignment: Assignment

        error_code: int16
        error_message: str | None = field(default=None)
        group_id: str
        group_state: str
        group_epoch: int32
        assignment_epoch: int32
        assignor_name: str
        members: list[Member]
        authorized_operations: int32 = field(default=-0x8000_0000)

    throttle_time_ms: int32
    groups: list[Group]
