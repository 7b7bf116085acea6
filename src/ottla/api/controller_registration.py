"""Registering a controller at the active one."""

from ottla.wire.fields import Message, Struct, Uuid, int16, int32, uint16


class ControllerRegistrationRequest(Message, key=70, versions="0", flexible="0+"):
    """Register a controller: its listeners and features."""

    class Listener(Struct):
        name: str
        host: str
        port: uint16
        security_protocol: int16

    class Feature(Struct):
        name: str
        min_supported_version: int16
        max_supported_version: int16

    controller_id: int32
    incarnation_id: Uuid
    zk_migration_ready: bool
    listeners: list[Listener]
    features: list[Feature]


class ControllerRegistrationResponse(Message, key=70, versions="0", flexible="0+"):
    """Whether it was registered."""

    throttle_time_ms: int32
    error_code: int16
    error_message: str | None
