"""Which records are decoded as what; the code that does so is loaded with the first of them."""

from collections.abc import Callable
from typing import Final, TypeAlias

from ottla.cli.log.choices import Decoding
from ottla.records.reader import Record

Decoded: TypeAlias = dict[str, object]
Decode: TypeAlias = Callable[[Record], Decoded]


TOPICS: Final = {
    "__cluster_metadata": Decoding.METADATA,
    "__consumer_offsets": Decoding.GROUPS,
    "__transaction_state": Decoding.TRANSACTIONS,
    "__share_group_state": Decoding.SHARE,
    "__remote_log_metadata": Decoding.REMOTE_LOG,
}


def decode_of(decoding: Decoding, topic: str | None) -> Decode | None:
    """What decodes the records of a topic; None if they are anybody's."""
    kind = TOPICS.get(topic or "", Decoding.NONE) if decoding is Decoding.AUTO else decoding
    if kind is Decoding.NONE:
        return None
    from ottla.cli.log.decoders import decoder  # noqa: PLC0415  Most records need none of it.

    return decoder(kind)


def decode_control(record: Record) -> Decoded:
    """Decode a control record."""
    from ottla.cli.log.decoders import decode_control_record  # noqa: PLC0415  They are rare.

    return decode_control_record(record)
