"""What can be chosen on the command line of `ottla log`, apart from what it takes to do it."""

from enum import StrEnum


class FileKind(StrEnum):
    """What a file holds; the value is what a person calls it by."""

    LOG = "log"
    INDEX = "index"
    TIME_INDEX = "timeindex"
    TXN_INDEX = "txnindex"
    PRODUCERS = "snapshot"
    METADATA_SNAPSHOT = "checkpoint"
    EPOCHS = "epochs"
    OFFSETS = "offsets"
    PARTITION_METADATA = "partition-metadata"
    META_PROPERTIES = "meta-properties"
    QUORUM_STATE = "quorum-state"
    CLEAN_SHUTDOWN = "clean-shutdown"
    LOCK = "lock"
    UNKNOWN = "unknown"


class Form(StrEnum):
    """How bytes are shown."""

    AUTO = "auto"  # As text if they are one, else as hex (base64 with --json).
    TEXT = "text"
    HEX = "hex"
    BASE64 = "base64"
    JSON = "json"
    NONE = "none"


class Decoding(StrEnum):
    """What records are decoded as; the value is what `--decode` takes."""

    AUTO = "auto"  # By the name of the topic.
    NONE = "none"
    METADATA = "metadata"
    GROUPS = "groups"
    TRANSACTIONS = "transactions"
    SHARE = "share"
    REMOTE_LOG = "remote-log"
