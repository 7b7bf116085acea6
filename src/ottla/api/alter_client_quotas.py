"""Changing client quotas."""

from ottla.wire.fields import Message, Struct, float64, int16, int32


class AlterClientQuotasRequest(Message, key=49, versions="0-1", flexible="1+"):
    """Set or remove quotas of some entities."""

    class Entry(Struct):
        class Entity(Struct):
            entity_type: str
            entity_name: str | None  # Null for the default of the type.

        class Operation(Struct):
            key: str
            value: float64
            remove: bool

        entity: list[Entity]
        ops: list[Operation]

    entries: list[Entry]
    validate_only: bool


class AlterClientQuotasResponse(Message, key=49, versions="0-1", flexible="1+"):
    """Whether each entity was changed."""

    class Entry(Struct):
        class Entity(Struct):
            entity_type: str
            entity_name: str | None

        error_code: int16
        error_message: str | None
        entity: list[Entity]

    throttle_time_ms: int32
    entries: list[Entry]
