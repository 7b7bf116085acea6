"""Who may do what and how they prove who they are: access rules, credentials, tokens."""

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from ottla.api.metadata_records import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from ottla.core.metadata.levels import DELEGATION_TOKENS, SCRAM
from ottla.kernels.faults import InvalidValue
from ottla.wire.fields import Message, Uuid


class ScramUser(NamedTuple):
    """Whose a credential is: there is one for each mechanism and name."""

    mechanism: int
    name: str


AccessKey: TypeAlias = Uuid | ScramUser | str
"""A rule by its id, a credential by its user, a token by its id: no two look alike."""


class Access:
    """The rules by id, the credentials by user, the tokens by id, each as its record says it."""

    __slots__ = ("acls", "before", "scram", "tokens")

    def __init__(self) -> None:
        self.acls: Final[dict[Uuid, AccessControlEntryRecord]] = {}
        self.scram: Final[dict[ScramUser, UserScramCredentialRecord]] = {}
        self.tokens: Final[dict[str, DelegationTokenRecord]] = {}
        self.before: dict[AccessKey, Message | None] = {}

    def copy(self) -> "Access":
        """The same, to be changed by itself."""
        made = Access()
        made.acls.update(self.acls)
        made.scram.update(self.scram)
        made.tokens.update(self.tokens)
        return made

    def replay_rule(self, record: AccessControlEntryRecord) -> None:
        """Take in a rule."""
        if record.id in self.acls:
            raise InvalidValue(f"there is a rule of the id {record.id.hex()}")
        self.before.setdefault(record.id, None)
        self.acls[record.id] = record

    def replay_rule_end(self, record: RemoveAccessControlEntryRecord) -> None:
        """Forget a rule."""
        present = self.acls.pop(record.id, None)
        if present is None:
            raise InvalidValue(f"there is no rule of the id {record.id.hex()}")
        self.before.setdefault(record.id, present)

    def replay_credential(self, record: UserScramCredentialRecord) -> None:
        """Take in a credential."""
        user = ScramUser(record.mechanism, record.name)
        self.before.setdefault(user, self.scram.get(user))
        self.scram[user] = record

    def replay_credential_end(self, record: RemoveUserScramCredentialRecord) -> None:
        """Forget a credential."""
        user = ScramUser(record.mechanism, record.name)
        present = self.scram.pop(user, None)
        if present is None:
            raise InvalidValue(f"{record.name} has no credential of the mechanism {user.mechanism}")
        self.before.setdefault(user, present)

    def replay_token(self, record: DelegationTokenRecord) -> None:
        """Take in a token, new or renewed."""
        self.before.setdefault(record.token_id, self.tokens.get(record.token_id))
        self.tokens[record.token_id] = record

    def replay_token_end(self, record: RemoveDelegationTokenRecord) -> None:
        """Forget a token; one that has expired may have been removed twice."""
        present = self.tokens.pop(record.token_id, None)
        self.before.setdefault(record.token_id, present)

    def records(self, level: int, lost: list[str]) -> Iterator[Message]:
        """What a snapshot at a metadata.version says of them."""
        yield from (rule for _, rule in sorted(self.acls.items()))
        if level >= SCRAM:
            yield from (one for _, one in sorted(self.scram.items()))
        elif self.scram:
            lost.append("the SCRAM credentials")
        if level >= DELEGATION_TOKENS:
            yield from (one for _, one in sorted(self.tokens.items()))
        elif self.tokens:
            lost.append("the delegation tokens")
