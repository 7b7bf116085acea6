"""Choosing a SASL mechanism."""

from ottla.wire.fields import Message, int16


class SaslHandshakeRequest(Message, key=17, versions="0-1"):
    """Choose the mechanism that the next tokens speak.

    Versions: 0 is followed by bare tokens; 1 by SaslAuthenticate requests.
    """

    mechanism: str


class SaslHandshakeResponse(Message, key=17, versions="0-1"):
    """Whether the mechanism is enabled, and which ones are."""

    error_code: int16
    mechanisms: list[str]
