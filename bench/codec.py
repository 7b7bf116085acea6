"""What it costs to decode and encode a Fetch request (version 12, 3 topics of 6 partitions).

Three ways: the compiled kernel, the same kernel uncompiled, and a Python function generated for
the version (`prototypes/generated_decoder`). Run as `python -m bench.codec` from the project's top.
"""

import time
import timeit
from collections.abc import Callable

from bench.messages import fetch_request
from bench.prototypes.generated_decoder import generated_decoder
from ottla.api.fetch import FetchRequest
from ottla.kernels import decoder, encoder
from ottla.wire.codec import Plans
from tests.unit.kernels.twins import uncompiled

VERSION = 12
ROUNDS = 10


def microseconds(work: Callable[[], object]) -> float:
    """The fastest of some rounds: what disturbs a round only ever makes it slower."""
    timer = timeit.Timer(work, timer=time.thread_time)
    count, _ = timer.autorange()
    return min(timer.repeat(ROUNDS, count)) / count * 1e6


def main() -> None:
    """Measure each way and print a line for it."""
    request = fetch_request(6)
    request.topics *= 3
    slow_decoder, slow_encoder = uncompiled("decoder"), uncompiled("encoder")
    plan = Plans(decoder.DecodeStep, decoder.DecodePlan)[FetchRequest, VERSION]
    slow_plan = Plans(slow_decoder.DecodeStep, slow_decoder.DecodePlan)[FetchRequest, VERSION]
    write_plan = Plans(encoder.EncodeStep, encoder.EncodePlan)[FetchRequest, VERSION]
    slow_write = Plans(slow_encoder.EncodeStep, slow_encoder.EncodePlan)[FetchRequest, VERSION]
    generated = generated_decoder(FetchRequest, VERSION)
    data = b"".join(encoder.encode(write_plan, request))
    assert generated(data) == plan.decode(data) == request
    ways: dict[str, Callable[[], object]] = {
        "decode, compiled kernel": lambda: plan.decode(data),
        "decode, uncompiled kernel": lambda: slow_plan.decode(data),
        "decode, generated Python": lambda: generated(data),
        "encode, compiled kernel": lambda: encoder.encode(write_plan, request),
        "encode, uncompiled kernel": lambda: slow_encoder.encode(slow_write, request),
        "make a plan": lambda: Plans(decoder.DecodeStep, decoder.DecodePlan)[FetchRequest, VERSION],
        "generate a function": lambda: generated_decoder(FetchRequest, VERSION),
    }
    print(f"Fetch request, version {VERSION}, 3 topics x 6 partitions, {len(data)} bytes")
    for name, work in ways.items():
        print(f"{name:28} {microseconds(work):8.1f} us")


if __name__ == "__main__":
    main()
