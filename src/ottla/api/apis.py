"""The table of APIs: which there are, in which versions, and on which listeners.

It knows the messages by name only, so that reading the table loads none of them.
"""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from re import sub
from typing import Final, cast

from ottla.wire.fields import Message
from ottla.wire.versions import VersionRange

BROKER: Final = ("broker",)
CONTROLLER: Final = ("controller",)
BOTH: Final = ("broker", "controller")

API_VERSIONS: Final = 18


@dataclass(frozen=True, slots=True)
class Api:
    """One API; its messages are `<name>Request` and `<name>Response` in `ottla.api.<module>`."""

    key: int
    name: str
    module: str
    versions: VersionRange
    flexible: VersionRange
    listeners: tuple[str, ...]
    latest_is_unstable: bool  # It may still change, and is refused unless switched on.


# Key, name, versions, flexible versions, listeners.
_ROWS: Final = (
    (0, "Produce", "0-13", "9+", BROKER),
    (1, "Fetch", "0-18", "12+", BOTH),
    (2, "ListOffsets", "0-11", "6+", BROKER),
    (3, "Metadata", "0-13", "9+", BROKER),
    (8, "OffsetCommit", "0-10", "8+", BROKER),
    (9, "OffsetFetch", "0-10", "6+", BROKER),
    (10, "FindCoordinator", "0-6", "3+", BROKER),
    (11, "JoinGroup", "0-9", "6+", BROKER),
    (12, "Heartbeat", "0-4", "4+", BROKER),
    (13, "LeaveGroup", "0-5", "4+", BROKER),
    (14, "SyncGroup", "0-5", "4+", BROKER),
    (15, "DescribeGroups", "0-6", "5+", BROKER),
    (16, "ListGroups", "0-5", "3+", BROKER),
    (17, "SaslHandshake", "0-1", "none", BOTH),
    (18, "ApiVersions", "0-5", "3+", BOTH),
    (19, "CreateTopics", "0-7", "5+", BOTH),
    (20, "DeleteTopics", "0-6", "4+", BOTH),
    (21, "DeleteRecords", "0-2", "2+", BROKER),
    (22, "InitProducerId", "0-6", "2+", BROKER),
    (23, "OffsetForLeaderEpoch", "0-4", "4+", BROKER),
    (24, "AddPartitionsToTxn", "0-5", "3+", BROKER),
    (25, "AddOffsetsToTxn", "0-4", "3+", BROKER),
    (26, "EndTxn", "0-5", "3+", BROKER),
    (27, "WriteTxnMarkers", "0-2", "1+", BROKER),
    (28, "TxnOffsetCommit", "0-6", "3+", BROKER),
    (29, "DescribeAcls", "0-3", "2+", BOTH),
    (30, "CreateAcls", "0-3", "2+", BOTH),
    (31, "DeleteAcls", "0-3", "2+", BOTH),
    (32, "DescribeConfigs", "0-4", "4+", BOTH),
    (33, "AlterConfigs", "0-2", "2+", BOTH),
    (34, "AlterReplicaLogDirs", "0-2", "2+", BROKER),
    (35, "DescribeLogDirs", "0-5", "2+", BROKER),
    (36, "SaslAuthenticate", "0-2", "2+", BOTH),
    (37, "CreatePartitions", "0-3", "2+", BOTH),
    (38, "CreateDelegationToken", "0-3", "2+", BOTH),
    (39, "RenewDelegationToken", "0-2", "2+", BOTH),
    (40, "ExpireDelegationToken", "0-2", "2+", BOTH),
    (41, "DescribeDelegationToken", "0-3", "2+", BOTH),
    (42, "DeleteGroups", "0-3", "2+", BROKER),
    (43, "ElectLeaders", "0-2", "2+", BOTH),
    (44, "IncrementalAlterConfigs", "0-1", "1+", BOTH),
    (45, "AlterPartitionReassignments", "0-1", "0+", BOTH),
    (46, "ListPartitionReassignments", "0", "0+", BOTH),
    (47, "OffsetDelete", "0", "none", BROKER),
    (48, "DescribeClientQuotas", "0-1", "1+", BROKER),
    (49, "AlterClientQuotas", "0-1", "1+", BOTH),
    (50, "DescribeUserScramCredentials", "0", "0+", BOTH),
    (51, "AlterUserScramCredentials", "0", "0+", BOTH),
    (52, "Vote", "0-2", "0+", CONTROLLER),
    (53, "BeginQuorumEpoch", "0-1", "1+", CONTROLLER),
    (54, "EndQuorumEpoch", "0-1", "1+", CONTROLLER),
    (55, "DescribeQuorum", "0-2", "0+", BOTH),
    (56, "AlterPartition", "0-3", "0+", CONTROLLER),
    (57, "UpdateFeatures", "0-2", "0+", BOTH),
    (58, "Envelope", "0", "0+", CONTROLLER),
    (59, "FetchSnapshot", "0-1", "0+", CONTROLLER),
    (60, "DescribeCluster", "0-2", "0+", BOTH),
    (61, "DescribeProducers", "0", "0+", BROKER),
    (62, "BrokerRegistration", "0-4", "0+", CONTROLLER),
    (63, "BrokerHeartbeat", "0-2", "0+", CONTROLLER),
    (64, "UnregisterBroker", "0", "0+", BOTH),
    (65, "DescribeTransactions", "0", "0+", BROKER),
    (66, "ListTransactions", "0-2", "0+", BROKER),
    (67, "AllocateProducerIds", "0", "0+", CONTROLLER),
    (68, "ConsumerGroupHeartbeat", "0-1", "0+", BROKER),
    (69, "ConsumerGroupDescribe", "0-1", "0+", BROKER),
    (70, "ControllerRegistration", "0", "0+", CONTROLLER),
    (71, "GetTelemetrySubscriptions", "0", "0+", BROKER),
    (72, "PushTelemetry", "0", "0+", BROKER),
    (73, "AssignReplicasToDirs", "0", "0+", CONTROLLER),
    (74, "ListConfigResources", "0-1", "0+", BROKER),
    (75, "DescribeTopicPartitions", "0", "0+", BROKER),
    (76, "ShareGroupHeartbeat", "1", "0+", BROKER),
    (77, "ShareGroupDescribe", "1", "0+", BROKER),
    (78, "ShareFetch", "1-2", "0+", BROKER),
    (79, "ShareAcknowledge", "1-2", "0+", BROKER),
    (80, "AddRaftVoter", "0-1", "0+", BOTH),
    (81, "RemoveRaftVoter", "0", "0+", BOTH),
    (82, "UpdateRaftVoter", "0", "0+", CONTROLLER),
    (83, "InitializeShareGroupState", "0", "0+", BROKER),
    (84, "ReadShareGroupState", "0", "0+", BROKER),
    (85, "WriteShareGroupState", "0-1", "0+", BROKER),
    (86, "DeleteShareGroupState", "0", "0+", BROKER),
    (87, "ReadShareGroupStateSummary", "0-1", "0+", BROKER),
    (88, "StreamsGroupHeartbeat", "0-1", "0+", BROKER),
    (89, "StreamsGroupDescribe", "0-1", "0+", BROKER),
    (90, "DescribeShareGroupOffsets", "0-1", "0+", BROKER),
    (91, "AlterShareGroupOffsets", "0", "0+", BROKER),
    (92, "DeleteShareGroupOffsets", "0", "0+", BROKER),
    (93, "StreamsGroupTopologyDescriptionUpdate", "0", "0+", BROKER),
    (94, "UnregisterController", "0", "0+", BOTH),
)
_UNSTABLE: Final = frozenset({"InitProducerId"})


def _module(name: str) -> str:
    """The module of an API: an underscore between a small letter and a capital one."""
    return sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()


APIS: Final = {
    key: Api(
        key,
        name,
        _module(name),
        VersionRange.parse(versions),
        VersionRange.parse(flexible),
        listeners,
        name in _UNSTABLE,
    )
    for key, name, versions, flexible, listeners in _ROWS
}


@cache
def request_class(key: int) -> type[Message]:
    """The class of an API's requests, loaded when first asked for."""
    return _load(APIS[key], "Request")


@cache
def response_class(key: int) -> type[Message]:
    """The class of an API's responses, loaded when first asked for."""
    return _load(APIS[key], "Response")


def _load(api: Api, kind: str) -> type[Message]:
    module = import_module(f"ottla.api.{api.module}")
    return cast("type[Message]", getattr(module, api.name + kind))


def request_header_version(key: int, version: int) -> int:
    """The version of the header before a request, also of one that is too new for us."""
    return 2 if version in APIS[key].flexible else 1


def response_header_version(key: int, version: int) -> int:
    """The version of the header before a response.

    Who gets an answer to ApiVersions may not know yet what we speak, so its header never changes.
    """
    return 1 if version in APIS[key].flexible and key != API_VERSIONS else 0
