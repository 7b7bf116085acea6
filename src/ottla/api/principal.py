"""Who sent a request, as a broker that forwards it says; its version is written in front."""

from ottla.wire.fields import Message


class DefaultPrincipal(Message, versions="0", flexible="0+"):
    """Who sent a request, for the controller that it is forwarded to."""

    type: str
    name: str
    token_authenticated: bool  # Known to the broker by a delegation token.
