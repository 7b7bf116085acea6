"""Every error that an answer can carry: its number, its name, whether to try again, what it means.

An error on the wire is a value of this table, never an exception.
"""

from enum import IntEnum
from typing import Final, Self

RETRIABLE: Final = True


class ErrorCode(IntEnum):
    """One error; compare it with the number in an answer as it is."""

    retriable: bool
    sentence: str

    def __new__(cls, number: int, sentence: str, retriable: bool = False) -> Self:
        """Make a row: `NAME = number, sentence`, and RETRIABLE if the same request may succeed."""
        row = int.__new__(cls, number)
        row._value_ = number
        row.retriable = retriable
        row.sentence = sentence
        return row

    @classmethod
    def of(cls, number: int) -> "ErrorCode":
        """The error of a number that came from a peer, which may be newer and know more of them."""
        return _BY_NUMBER.get(number, cls.UNKNOWN_SERVER_ERROR)

    UNKNOWN_SERVER_ERROR = -1, "Something failed on the server that has no code of its own."
    NONE = 0, "All went well."
    OFFSET_OUT_OF_RANGE = 1, "The partition has no record at this offset, and is not about to."
    CORRUPT_MESSAGE = 2, "A batch is damaged, or breaks a rule of the topic.", RETRIABLE
    UNKNOWN_TOPIC_OR_PARTITION = 3, "The topic or partition does not exist here.", RETRIABLE
    INVALID_FETCH_SIZE = 4, "A fetch asked for an impossible number of bytes."
    LEADER_NOT_AVAILABLE = 5, "The partition has no leader at the moment.", RETRIABLE
    NOT_LEADER_OR_FOLLOWER = 6, "This broker does not lead the partition, or lacks it.", RETRIABLE
    REQUEST_TIMED_OUT = 7, "The answer did not come together in the time given.", RETRIABLE
    BROKER_NOT_AVAILABLE = 8, "The broker asked about is not alive."
    REPLICA_NOT_AVAILABLE = 9, "The replica asked about cannot be used at the moment.", RETRIABLE
    MESSAGE_TOO_LARGE = 10, "A batch is larger than the topic allows."
    STALE_CONTROLLER_EPOCH = 11, "The request comes from a controller that has been replaced."
    OFFSET_METADATA_TOO_LARGE = 12, "The text stored with an offset is longer than allowed."
    NETWORK_EXCEPTION = 13, "The connection broke early; no server sends this.", RETRIABLE
    COORDINATOR_LOAD_IN_PROGRESS = 14, "The coordinator is still reading its log.", RETRIABLE
    COORDINATOR_NOT_AVAILABLE = 15, "The coordinator is not there, or cannot store.", RETRIABLE
    NOT_COORDINATOR = 16, "This broker does not coordinate the group or transaction.", RETRIABLE
    INVALID_TOPIC_EXCEPTION = 17, "The topic's name is not allowed, or not for this operation."
    RECORD_LIST_TOO_LARGE = 18, "The batches are larger than a segment."
    NOT_ENOUGH_REPLICAS = 19, "Nothing was appended, since too few replicas are in sync.", RETRIABLE
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20, "Appended, but to too few in-sync replicas.", RETRIABLE
    INVALID_REQUIRED_ACKS = 21, "Acks is none of 0, 1 and -1."
    ILLEGAL_GENERATION = 22, "The group has moved on to another generation."
    INCONSISTENT_GROUP_PROTOCOL = 23, "The member speaks no protocol that the others share."
    INVALID_GROUP_ID = 24, "The group's id is not allowed."
    UNKNOWN_MEMBER_ID = 25, "The group does not have this member."
    INVALID_SESSION_TIMEOUT = 26, "The session time-out is not one that the broker allows."
    REBALANCE_IN_PROGRESS = 27, "The group is rebalancing, and the member must join again."
    INVALID_COMMIT_OFFSET_SIZE = 28, "The offsets are too large to be stored in one batch."
    TOPIC_AUTHORIZATION_FAILED = 29, "The principal may not do this to the topic."
    GROUP_AUTHORIZATION_FAILED = 30, "The principal may not do this to the group."
    CLUSTER_AUTHORIZATION_FAILED = 31, "The principal may not do this to the cluster."
    INVALID_TIMESTAMP = 32, "A record's timestamp is too far from now."
    UNSUPPORTED_SASL_MECHANISM = 33, "The mechanism asked for is not enabled."
    ILLEGAL_SASL_STATE = 34, "This step of the authentication was not expected now."
    UNSUPPORTED_VERSION = 35, "The API is not spoken in this version."
    TOPIC_ALREADY_EXISTS = 36, "There is a topic of this name."
    INVALID_PARTITIONS = 37, "The number of partitions is not allowed."
    INVALID_REPLICATION_FACTOR = 38, "The replication factor is below 1, or brokers are too few."
    INVALID_REPLICA_ASSIGNMENT = 39, "The replicas named for a partition are not allowed."
    INVALID_CONFIG = 40, "A setting has a value that is not allowed."
    NOT_CONTROLLER = 41, "This node is not the active controller.", RETRIABLE
    INVALID_REQUEST = 42, "The request contradicts itself or the protocol."
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43, "The log's record format is too old for this."
    POLICY_VIOLATION = 44, "A policy of the cluster's owner forbids this."
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45, "Batches of a producer are missing before this one."
    DUPLICATE_SEQUENCE_NUMBER = 46, "Appended before, too long ago to remember the offset."
    INVALID_PRODUCER_EPOCH = 47, "The producer's epoch is older than one already seen."
    INVALID_TXN_STATE = 48, "The transaction is not in a state that allows this."
    INVALID_PRODUCER_ID_MAPPING = 49, "The producer id does not belong to the transactional id."
    INVALID_TRANSACTION_TIMEOUT = 50, "The transaction's time-out is longer than the broker allows."
    CONCURRENT_TRANSACTIONS = 51, "The transaction is busy with another change.", RETRIABLE
    TRANSACTION_COORDINATOR_FENCED = 52, "The marker comes from a replaced coordinator."
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53, "The principal may not use the transactional id."
    SECURITY_DISABLED = 54, "There is no authorizer, so there are no rules to see or change."
    OPERATION_NOT_ATTEMPTED = 55, "Not tried, since another part of the request failed."
    KAFKA_STORAGE_ERROR = 56, "The disk that holds the partition failed.", RETRIABLE
    LOG_DIR_NOT_FOUND = 57, "The broker has no such log directory."
    SASL_AUTHENTICATION_FAILED = 58, "The client could not prove who it is."
    UNKNOWN_PRODUCER_ID = 59, "The partition remembers nothing of the producer."
    REASSIGNMENT_IN_PROGRESS = 60, "The partition is on the move already."
    DELEGATION_TOKEN_AUTH_DISABLED = 61, "Delegation tokens are not enabled."
    DELEGATION_TOKEN_NOT_FOUND = 62, "There is no such delegation token."
    DELEGATION_TOKEN_OWNER_MISMATCH = 63, "The principal neither owns the token nor may renew it."
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64, "Tokens cannot be asked for over this connection."
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65, "The principal may not do this to the token."
    DELEGATION_TOKEN_EXPIRED = 66, "The delegation token has expired."
    INVALID_PRINCIPAL_TYPE = 67, "Principals of this type cannot be used here."
    NON_EMPTY_GROUP = 68, "The group has members."
    GROUP_ID_NOT_FOUND = 69, "There is no such group."
    FETCH_SESSION_ID_NOT_FOUND = 70, "The broker has forgotten the fetch session.", RETRIABLE
    INVALID_FETCH_SESSION_EPOCH = 71, "The fetch session is at another epoch.", RETRIABLE
    LISTENER_NOT_FOUND = 72, "The leader has no listener named as the one asked over.", RETRIABLE
    TOPIC_DELETION_DISABLED = 73, "Topics cannot be deleted here."
    FENCED_LEADER_EPOCH = 74, "The request knows an older leader than the broker does.", RETRIABLE
    UNKNOWN_LEADER_EPOCH = 75, "The request knows a newer leader than the broker does.", RETRIABLE
    UNSUPPORTED_COMPRESSION_TYPE = 76, "The client cannot read the compression of these batches."
    STALE_BROKER_EPOCH = 77, "The broker has registered anew, and this is from before."
    OFFSET_NOT_AVAILABLE = 78, "A new leader does not know yet how far one may read.", RETRIABLE
    MEMBER_ID_REQUIRED = 79, "The member must join again with the id that comes with this."
    PREFERRED_LEADER_NOT_AVAILABLE = 80, "The preferred leader is not there.", RETRIABLE
    GROUP_MAX_SIZE_REACHED = 81, "The group cannot take more members."
    FENCED_INSTANCE_ID = 82, "Another member has come with the same static id."
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83, "No replica that may lead is there.", RETRIABLE
    ELECTION_NOT_NEEDED = 84, "The right replica leads already.", RETRIABLE
    NO_REASSIGNMENT_IN_PROGRESS = 85, "The partition is not on the move."
    GROUP_SUBSCRIBED_TO_TOPIC = 86, "The group consumes the topic, so its offsets stay."
    INVALID_RECORD = 87, "A record breaks a rule of the topic or of the format."
    UNSTABLE_OFFSET_COMMIT = 88, "An open transaction may still change the offset.", RETRIABLE
    THROTTLING_QUOTA_EXCEEDED = 89, "The client does more than its quota allows.", RETRIABLE
    PRODUCER_FENCED = 90, "A newer producer has taken over the transactional id."
    RESOURCE_NOT_FOUND = 91, "What the request names does not exist."
    DUPLICATE_RESOURCE = 92, "The request names the same thing twice."
    UNACCEPTABLE_CREDENTIAL = 93, "The credential is too weak or malformed."
    INCONSISTENT_VOTER_SET = 94, "The quorum's voters are not those that the request expects."
    INVALID_UPDATE_VERSION = 95, "The feature cannot be at the level asked for."
    FEATURE_UPDATE_FAILED = 96, "The features could not be changed."
    PRINCIPAL_DESERIALIZATION_FAILURE = 97, "The controller cannot read who sent a request."
    SNAPSHOT_NOT_FOUND = 98, "There is no such snapshot."
    POSITION_OUT_OF_RANGE = 99, "The snapshot has no such position."
    UNKNOWN_TOPIC_ID = 100, "No topic here has this id.", RETRIABLE
    DUPLICATE_BROKER_REGISTRATION = 101, "Another live broker has this id."
    BROKER_ID_NOT_REGISTERED = 102, "No broker of this id is registered."
    INCONSISTENT_TOPIC_ID = 103, "The topic was created anew with another id.", RETRIABLE
    INCONSISTENT_CLUSTER_ID = 104, "The request is meant for another cluster."
    TRANSACTIONAL_ID_NOT_FOUND = 105, "There is no such transactional id."
    FETCH_SESSION_TOPIC_ID_ERROR = 106, "The session mixes topic names and topic ids.", RETRIABLE
    INELIGIBLE_REPLICA = 107, "A replica that is fenced or about to stop cannot be in sync."
    NEW_LEADER_ELECTED = 108, "The change was made, and gave the partition another leader."
    OFFSET_MOVED_TO_TIERED_STORAGE = 109, "The offset is only in the remote tier."
    FENCED_MEMBER_EPOCH = 110, "The coordinator gave up on the member, which must join anew."
    UNRELEASED_INSTANCE_ID = 111, "The member of this static id has not left yet."
    UNSUPPORTED_ASSIGNOR = 112, "The coordinator does not have the assignor asked for."
    STALE_MEMBER_EPOCH = 113, "The member must first learn its newer epoch by a heartbeat."
    MISMATCHED_ENDPOINT_TYPE = 114, "Not what this kind of node, broker or controller, answers."
    UNSUPPORTED_ENDPOINT_TYPE = 115, "The cluster cannot be described by endpoints of this type."
    UNKNOWN_CONTROLLER_ID = 116, "There is no such controller."
    UNKNOWN_SUBSCRIPTION_ID = 117, "The metrics were chosen by a subscription that has changed."
    TELEMETRY_TOO_LARGE = 118, "The metrics pushed are larger than the broker takes."
    INVALID_REGISTRATION = 119, "The broker cannot be registered as it describes itself."
    TRANSACTION_ABORTABLE = 120, "The producer may go on once it has aborted the transaction."
    INVALID_RECORD_STATE = 121, "The record is not acquired by whoever acknowledges it."
    SHARE_SESSION_NOT_FOUND = 122, "The broker has forgotten the share session.", RETRIABLE
    INVALID_SHARE_SESSION_EPOCH = 123, "The share session is at another epoch.", RETRIABLE
    FENCED_STATE_EPOCH = 124, "The share partition's state has been begun anew since."
    INVALID_VOTER_KEY = 125, "The request is meant for another voter."
    DUPLICATE_VOTER = 126, "The quorum has this voter."
    VOTER_NOT_FOUND = 127, "The quorum does not have this voter."
    INVALID_REGULAR_EXPRESSION = 128, "The pattern is not a regular expression."
    REBOOTSTRAP_REQUIRED = 129, "The client must start again from its bootstrap servers."
    STREAMS_INVALID_TOPOLOGY = 130, "The topology cannot be run."
    STREAMS_INVALID_TOPOLOGY_EPOCH = 131, "The topology is at an epoch that cannot be."
    STREAMS_TOPOLOGY_FENCED = 132, "The group has moved on to a newer topology."
    SHARE_SESSION_LIMIT_REACHED = 133, "The broker cannot hold more share sessions.", RETRIABLE
    GROUP_DELETION_FAILED = 134, "The group could not be deleted; the text beside says why."
    STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED = 135, "Not stored; the text beside says why."
    CONTROLLER_ID_NOT_REGISTERED = 136, "No controller of this id is registered."


_BY_NUMBER: Final = {int(code): code for code in ErrorCode}
