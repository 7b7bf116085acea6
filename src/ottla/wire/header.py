"""The headers before requests and responses."""

from ottla.wire.fields import Message, field, int16, int32


class RequestHeader(Message, versions="1-2", flexible="2+"):
    """What stands before every request."""

    request_api_key: int16
    request_api_version: int16
    correlation_id: int32
    # Never compact, so that any broker can read the header of any ApiVersions request.
    client_id: str | None = field(flexible="none")


class ResponseHeader(Message, versions="0-1", flexible="1+"):
    """What stands before every response."""

    correlation_id: int32
