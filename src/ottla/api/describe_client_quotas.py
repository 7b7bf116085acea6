"""Showing client quotas."""

from ottla.wire.fields import Message, Struct, float64, int8, int16, int32


class DescribeClientQuotasRequest(Message, key=48, versions="0-1", flexible="1+"):
    """Ask for the quotas that match some entity filters."""

    class Component(Struct):
        entity_type: str
        match_type: int8  # 0 exact name, 1 default, 2 any name given.
        match: str | None

    components: list[Component]
    strict: bool  # Leave out entities with further parts.


class DescribeClientQuotasResponse(Message, key=48, versions="0-1", flexible="1+"):
    """The quotas found, by entity."""

    class Entry(Struct):
        class Entity(Struct):
            entity_type: str
            entity_name: str | None

        class Value(Struct):
            key: str
            value: float64

        entity: list[Entity]
        values: list[Value]

    throttle_time_ms: int32
    error_code: int16
    error_message: str | None
    entries: list[Entry] | None
