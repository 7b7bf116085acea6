"""What every machine over a log shares: decide, append, replay, reply.

A machine decides upon a request by reading its state: `decide_*` gives the records to append and
the reply to send, and changes nothing. Whoever asked appends the records, all of them or none, and
has each replayed. `replay` is the one thing that changes the state, so that a live machine, one
that loads its log and one that stands by go through the same states. The reply waits until the
records are committed; if they never are, it is dropped and nobody learns what was not to be.

I-REC-1  `decide_*` changes nothing: asked twice without a replay in between, it gives the same.
I-REC-2  The state depends on the records replayed and their order alone: not on time, on chance,
         or on what was decided and not appended.
I-REC-3  A reply is sent once its records are committed; without records, once everything is that
         was replayed before it was decided, since it may speak of that.
I-REC-4  Decisions over one log are made one after the other, each upon the state in which all
         records of those before it are replayed, be they committed or not.
I-REC-5  A machine that loses the lead forgets what it replayed beyond the committed records.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Reply_co = TypeVar("Reply_co", covariant=True)
Record_co = TypeVar("Record_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Decision(Generic[Record_co, Reply_co]):
    """What is to be appended, and what to answer once it is committed."""

    records: Sequence[Record_co]
    reply: Reply_co
    is_atomic: bool = True
    """Whether the records count only all together; else they may be appended in several runs."""
