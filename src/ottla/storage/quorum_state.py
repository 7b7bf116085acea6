"""`quorum-state`: for whom a node voted and whom it follows, as one line of JSON.

Version 0 names the voters, which then come from the configuration. Version 1 (kraft.version 1) has
the directory of the candidate voted for; the voters stand in the log.
"""

import json
from dataclasses import dataclass
from typing import Any, Final, cast

from ottla.kernels.faults import InvalidValue, Truncated, Unencodable
from ottla.storage.json_object import (
    integer_of,
    object_of,
    parse_object,
    text_value_of,
    value_of,
)
from ottla.storage.text_lines import INT32_MAX, INT64_MAX, lines_of
from ottla.wire.fields import NO_ID, Uuid
from ottla.wire.uuids import uuid_of_text, uuid_text

VERSIONS: Final = (0, 1)

_NOT_IN_VERSION: Final = (
    (("voted_directory_id", NO_ID),),
    (("cluster_id", ""), ("applied_offset", 0), ("current_voters", ())),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumState:
    """What the file says; in a field that its version lacks is what nothing said would be."""

    leader_id: int
    leader_epoch: int
    voted_id: int
    voted_directory_id: Uuid = NO_ID
    cluster_id: str = ""
    applied_offset: int = 0
    current_voters: tuple[int, ...] | None = ()
    version: int = 1


def parse_quorum_state(content: bytes) -> QuorumState:
    """Read the file; what follows the first line is left alone."""
    fields = _object(content)
    version = integer_of(fields, "data_version", INT32_MAX)
    if version not in VERSIONS:
        raise InvalidValue(f"data_version {version} is unknown, only {VERSIONS} are read")
    return QuorumState(
        version=version,
        leader_id=integer_of(fields, "leaderId", INT32_MAX),
        leader_epoch=integer_of(fields, "leaderEpoch", INT32_MAX),
        voted_id=integer_of(fields, "votedId", INT32_MAX),
        voted_directory_id=_directory(fields, is_needed=version == 1),
        cluster_id=_cluster_id(fields, is_needed=version == 0),
        applied_offset=_applied_offset(fields, is_needed=version == 0),
        current_voters=_voters(fields, version),
    )


def format_quorum_state(state: QuorumState) -> bytes:
    """Write the file, its fields in the order in which Kafka has them."""
    for name, absent in _NOT_IN_VERSION[state.version]:
        if getattr(state, name) != absent:
            raise Unencodable(f"version {state.version} has no {name}")
    fields: dict[str, Any] = {
        "leaderId": state.leader_id,
        "leaderEpoch": state.leader_epoch,
        "votedId": state.voted_id,
    }
    if state.version == 0:
        voters = state.current_voters
        fields = {"clusterId": state.cluster_id, **fields}
        fields["appliedOffset"] = state.applied_offset
        fields["currentVoters"] = voters if voters is None else _objects(voters)
    else:
        fields["votedDirectoryId"] = uuid_text(state.voted_directory_id)
    fields["data_version"] = state.version
    text = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
    # Half a pair of surrogates cannot be written, and Java writes this for it.
    return text.encode(errors="replace")


def _objects(voters: tuple[int, ...]) -> list[dict[str, int]]:
    return [{"voterId": voter} for voter in voters]


def _object(content: bytes) -> dict[str, Any]:
    lines = lines_of(content)
    if not lines:
        raise Truncated("the file is empty")
    return parse_object(lines[0])


def _directory(fields: dict[str, Any], *, is_needed: bool) -> Uuid:
    if not is_needed and "votedDirectoryId" not in fields:
        return NO_ID
    return uuid_of_text(text_value_of(fields, "votedDirectoryId"))


def _cluster_id(fields: dict[str, Any], *, is_needed: bool) -> str:
    if not is_needed and "clusterId" not in fields:
        return ""
    return text_value_of(fields, "clusterId")


def _applied_offset(fields: dict[str, Any], *, is_needed: bool) -> int:
    if not is_needed and "appliedOffset" not in fields:
        return 0
    return integer_of(fields, "appliedOffset", INT64_MAX)


def _voters(fields: dict[str, Any], version: int) -> tuple[int, ...] | None:
    if version > 0 and "currentVoters" not in fields:
        return ()
    voters = value_of(fields, "currentVoters")
    if voters is None:
        return None
    if not isinstance(voters, list):
        raise InvalidValue("currentVoters is not an array")
    if version > 0 and voters:
        raise InvalidValue("version 1 has no voters")
    objects = map(object_of, cast("list[object]", voters))
    return tuple(integer_of(voter, "voterId", INT32_MAX) for voter in objects)
