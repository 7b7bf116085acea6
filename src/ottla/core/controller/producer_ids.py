"""AllocateProducerIds: blocks of ids that no two brokers share."""

from typing import Final

from ottla.api.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from ottla.api.metadata_records import ProducerIdsRecord
from ottla.core.controller.state import Refusal, State
from ottla.core.recorded import Decision
from ottla.errors import ErrorCode

BLOCK_IDS: Final = 1000
_ID_MAX: Final = (1 << 63) - 1


def decide_producer_ids(
    state: State, request: AllocateProducerIdsRequest
) -> Decision[ProducerIdsRecord, AllocateProducerIdsResponse | Refusal]:
    """Hand out the next block."""
    fault = state.epoch_fault(request.broker_id, request.broker_epoch)
    if fault is not None:
        return Decision((), fault)
    first = max(state.image.next_producer_id, 0)
    if first > _ID_MAX - BLOCK_IDS:
        reason = (
            "Exhausted all producerIds as the next block's end producerId has exceeded the int64"
            " type limit"
        )
        return Decision((), Refusal(ErrorCode.UNKNOWN_SERVER_ERROR, reason))
    record = ProducerIdsRecord(
        broker_id=request.broker_id,
        broker_epoch=request.broker_epoch,
        next_producer_id=first + BLOCK_IDS,
    )
    reply = AllocateProducerIdsResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        producer_id_start=first,
        producer_id_len=BLOCK_IDS,
    )
    return Decision([record], reply)
