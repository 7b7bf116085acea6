"""Listing the transactions that a broker coordinates."""

from ottla.wire.fields import Message, Struct, field, int16, int32, int64


class ListTransactionsRequest(Message, key=66, versions="0-2", flexible="0+"):
    """Ask for transactions by state, producer, duration or pattern."""

    state_filters: list[str]
    producer_id_filters: list[int64]
    # Only those open for longer, in ms; -1 for all.
    duration_filter: int64 = field("1+", default=-1)
    # An RE2 pattern; null or empty for all.
    transactional_id_pattern: str | None = field("2+", default=None)


class ListTransactionsResponse(Message, key=66, versions="0-2", flexible="0+"):
    """The transactions found."""

    class Transaction(Struct):
        transactional_id: str
        producer_id: int64
        transaction_state: str

    throttle_time_ms: int32
    error_code: int16
    unknown_state_filters: list[str]
    transaction_states: list[Transaction]
