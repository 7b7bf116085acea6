"""Files beside a partition's segments whose fields are declared as messages.

An entry of a transaction index and a producer snapshot have their version in front.
"""

from ottla.wire.fields import Message, Struct, int16, int32, int64, uint32


class AbortedTxn(Message, versions="0"):
    """An entry of a transaction index: an aborted transaction."""

    producer_id: int64
    first_offset: int64
    last_offset: int64
    last_stable_offset: int64  # As it was when the transaction was aborted.


class ProducerSnapshot(Message, versions="1"):
    """A producer snapshot file: what a partition knows of its producers."""

    class ProducerEntry(Struct):
        producer_id: int64
        epoch: int16
        last_sequence: int32
        last_offset: int64
        offset_delta: int32  # Last less first offset of the newest batch.
        timestamp: int64
        coordinator_epoch: int32
        current_txn_first_offset: int64  # -1 if none is open.

    crc: uint32  # CRC-32C of everything after it.
    producer_entries: list[ProducerEntry]
