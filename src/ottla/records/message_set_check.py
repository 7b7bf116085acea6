"""Decide whether a message set that a client sent may be appended.

The rules are those for batches as far as they make sense here. What they are applied to is one
entry at a time, since in a set that is not compressed every message is a batch of its own; so the
index of a bad record counts within its entry.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from ottla.errors import ErrorCode
from ottla.kernels.faults import LimitExceeded, Malformed
from ottla.records.check import Rules
from ottla.records.message_set import (
    LOG_APPEND_TIME,
    MESSAGES_MAX,
    NO_TIMESTAMP,
    Entry,
    WrongChecksum,
    checksum,
    entries,
    inner_entries,
)
from ottla.records.verdicts import (
    APPEND_TIME_MESSAGE,
    NO_KEY_MESSAGE,
    RECORD_ERRORS_MAX,
    RecordError,
)
from ottla.wire.fields import Buffer


class MessageSetVerdict(NamedTuple):
    """Whether a message set may be appended, and what was learned of it on the way.

    `entries` are as they lie, `messages` are those in a wrapper too, with absolute offsets.
    """

    error: ErrorCode
    reason: str = ""
    record_errors: tuple[RecordError, ...] = ()
    entries: tuple[Entry, ...] = ()
    messages: tuple[Entry, ...] = ()

    @property
    def magic(self) -> int:
        """The one magic of all entries."""
        return self.entries[0].magic

    @property
    def codec(self) -> int:
        """The number of the codec, 0 for entries that lie open."""
        return self.entries[0].codec

    @property
    def timestamp_max(self) -> int:
        """The largest time of the messages; none in magic 0."""
        return max((message.timestamp for message in self.messages), default=NO_TIMESTAMP)

    @property
    def are_offsets_right(self) -> bool:
        """Do the messages of a wrapper count from 0, so that only the wrapper needs an offset?"""
        return all(message.offset == index for index, message in enumerate(self.messages))


class _Refused(Exception):
    """Ends a check with its verdict."""

    def __init__(self, error: ErrorCode, reason: str, errors: tuple[RecordError, ...] = ()) -> None:
        super().__init__(reason)
        self.verdict = MessageSetVerdict(error, reason, errors)


def check_message_set(data: Buffer, rules: Rules, now_ms: int) -> MessageSetVerdict:
    """Check what a client sent for one partition; an entry that is cut off at the end is left out.

    A set without a whole entry breaks no rule, and has nothing to append.
    """
    try:
        found = list(islice(_sound_entries(data, rules), MESSAGES_MAX + 1))
        if len(found) > MESSAGES_MAX:
            raise _Refused(ErrorCode.MESSAGE_TOO_LARGE, f"more than {MESSAGES_MAX} messages")
        messages = tuple(_sound_messages(found, rules, now_ms))
    except _Refused as refused:
        return refused.verdict
    return MessageSetVerdict(ErrorCode.NONE, "", (), tuple(found), messages)


def _sound_entries(data: Buffer, rules: Rules) -> Iterator[Entry]:
    """The entries as they lie, each of an allowed size and with its right checksum."""
    try:
        for entry in entries(data):
            if entry.size_bytes > rules.batch_bytes_max:
                reason = f"{entry.size_bytes} bytes, where {rules.batch_bytes_max} are allowed"
                raise _Refused(ErrorCode.MESSAGE_TOO_LARGE, reason)
            if checksum(data, entry) != entry.crc:
                raise _Refused(ErrorCode.CORRUPT_MESSAGE, "the checksum is not that of the bytes")
            yield entry
    except Malformed as fault:
        raise _Refused(ErrorCode.CORRUPT_MESSAGE, str(fault)) from fault


def _sound_messages(found: list[Entry], rules: Rules, now_ms: int) -> Iterator[Entry]:
    """The messages of all entries, which are of one magic and, if compressed, one wrapper."""
    if len(found) > 1 and any(entry.codec for entry in found):
        raise _Refused(ErrorCode.INVALID_RECORD, "a compressed set has one wrapper only")
    for entry in found:
        if entry.magic != found[0].magic:
            reason = f"magic {entry.magic} in a set that begins with {found[0].magic}"
            raise _Refused(ErrorCode.INVALID_RECORD, reason)
        within = _inner_messages(entry, rules) if entry.codec else [entry]
        _check_messages(entry, within, rules, now_ms)
        yield from within


def _inner_messages(wrapper: Entry, rules: Rules) -> list[Entry]:
    """Open a wrapper; there is no second one in it, and every checksum within is right."""
    try:
        _, found = inner_entries(wrapper, rules.inflated_bytes_max, with_checksums=True)
    except WrongChecksum as fault:
        raise _Refused(ErrorCode.CORRUPT_MESSAGE, str(fault)) from fault
    except LimitExceeded as fault:
        raise _Refused(ErrorCode.MESSAGE_TOO_LARGE, str(fault)) from fault
    except Malformed as fault:
        raise _Refused(ErrorCode.INVALID_RECORD, str(fault)) from fault
    if any(message.codec for message in found):
        raise _Refused(ErrorCode.INVALID_RECORD, "a compressed set lies within another")
    return found


def _check_messages(entry: Entry, messages: list[Entry], rules: Rules, now_ms: int) -> None:
    """List the bad messages of an entry; a bad time anywhere names the error of them all."""
    errors: list[RecordError] = []
    is_time = False
    for index, message in enumerate(messages):
        if message.magic != entry.magic:
            objection: str | None = f"magic {message.magic} within a set of magic {entry.magic}"
        elif rules.is_compacted and message.key is None:
            objection = NO_KEY_MESSAGE
        else:
            objection = _time_objection(entry, message, rules, now_ms)
            is_time = is_time or objection is not None
        if objection is not None:
            errors.append(RecordError(index, objection))
    if errors:
        error = ErrorCode.INVALID_TIMESTAMP if is_time else ErrorCode.INVALID_RECORD
        listed = tuple(errors[:RECORD_ERRORS_MAX])
        raise _Refused(error, f"{len(errors)} records are not taken", listed)


def _time_objection(entry: Entry, message: Entry, rules: Rules, now_ms: int) -> str | None:
    """What is wrong with a message's time; like Kafka, none where a good time is only mislabelled.

    A set that claims the append time for good times of creation goes to the log relabelled.
    """
    if message.timestamp < NO_TIMESTAMP:
        return f"{message.timestamp} is no time"
    if not rules.is_append_time and message.timestamp != NO_TIMESTAMP:
        earliest, latest = now_ms - rules.before_max_ms, now_ms + rules.after_max_ms
        if not earliest <= message.timestamp <= latest:
            return f"the time {message.timestamp} is not within {earliest} and {latest}"
        return None
    return APPEND_TIME_MESSAGE if entry.timestamp_type == LOG_APPEND_TIME else None
