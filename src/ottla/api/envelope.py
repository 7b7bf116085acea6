"""Forwarding a client's request to the controller."""

from ottla.wire.fields import Message, field, int16


class EnvelopeRequest(Message, key=58, versions="0", flexible="0+"):
    """Carry a client's request together with who sent it."""

    request_data: bytes  # The request as it came, with its header.
    request_principal: bytes | None
    client_host_address: bytes


class EnvelopeResponse(Message, key=58, versions="0", flexible="0+"):
    """Carry the answer back."""

    # The response with its header; null on an error.
    response_data: bytes | None = field(default=None)
    error_code: int16
