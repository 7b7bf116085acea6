"""The codec's kernels do the same compiled and uncompiled, and no bytes can hurt them."""

import random
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.kernels import decoder, encoder
from ottla.kernels.faults import Malformed, Unencodable
from ottla.wire.codec import Plans, decode, encode
from ottla.wire.fields import Message
from tests.costs import peak_bytes
from tests.unit.kernels.twins import uncompiled
from tests.unit.wire.samples import Everything, everything

slow_decoder = uncompiled("decoder")
slow_encoder = uncompiled("encoder")
SLOW_DECODE_PLANS = Plans(slow_decoder.DecodeStep, slow_decoder.DecodePlan)
SLOW_ENCODE_PLANS = Plans(slow_encoder.EncodeStep, slow_encoder.EncodePlan)
FAST_DECODE_PLANS = Plans(decoder.DecodeStep, decoder.DecodePlan)

versions = st.integers(0, 3)


def mutated(data: bytes, seed: int) -> bytes:
    """Some bytes changed, cut out or put in."""
    chance = random.Random(seed)
    changed = bytearray(data)
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(changed) + 1)
        changed[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
    return bytes(changed)


def outcome(plans: Plans, version: int, data: bytes) -> object:
    """What a kernel makes of bytes: the message, or the fault in words."""
    try:
        return plans[Everything, version].decode(data, 1 << 20)
    except Malformed as fault:
        return type(fault), str(fault)


@settings(max_examples=400, deadline=None)
@given(version=versions, seed=st.integers(0, 1 << 32))
def test_compiled_and_uncompiled_decode_alike(version: int, seed: int) -> None:
    data = mutated(encode(everything(version), version), seed)
    key = (Everything, version)
    fast = outcome(FAST_DECODE_PLANS, version, data)
    assert fast == outcome(SLOW_DECODE_PLANS, version, data)
    if isinstance(fast, Message):
        again = slow_encoder.encode(SLOW_ENCODE_PLANS[key], fast)
        assert b"".join(again) == encode(fast, version)


@settings(max_examples=200, deadline=None)
@given(
    version=versions,
    name=st.sampled_from([one.name for one in Everything.fields]),
    value=st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.lists(st.integers())
    | st.dictionaries(st.integers(), st.binary()),
)
def test_compiled_and_uncompiled_encode_alike(version: int, name: str, value: object) -> None:
    message = everything(version)
    setattr(message, name, value)

    def written(kernel: object, plans: Plans) -> object:
        try:
            parts = kernel.encode(plans[Everything, version], message)
        except Unencodable as fault:
            return fault.place
        return b"".join(parts)

    fast_plans = Plans(encoder.EncodeStep, encoder.EncodePlan)
    assert written(encoder, fast_plans) == written(slow_encoder, SLOW_ENCODE_PLANS)


@settings(max_examples=300, deadline=None)
@given(
    version=versions,
    seed=st.integers(0, 1 << 32),
    many=st.sampled_from(["numbers", "names", "inners", "hints", "unknown_tags"]),
    count=st.integers(0, 2000),
)
def test_no_bytes_cost_more_than_they_may(version: int, seed: int, many: str, count: int) -> None:
    data = mutated(encode(_with_many(version, many, count), version), seed)
    slack_bytes = 4096

    def read() -> None:
        with suppress(Malformed):
            decode(Everything, data, version, slack_bytes=slack_bytes)

    # A fault, its trace and its text take less than two kilobytes.
    assert peak_bytes(read) <= 4 * len(data) + slack_bytes + 2048


def _with_many(version: int, name: str, count: int) -> Everything:
    """A message with many small values in one place, which take far more memory than bytes."""
    many = {
        "numbers": [1000] * count,
        "names": ["a"] * count,
        "inners": [Everything.Inner(name="", size=0)] * count,
        "hints": [1000] * count,
        "unknown_tags": {2000 + at: b"" for at in range(count)},
    }
    message = everything(version)
    if version >= 2 or name not in {"hints", "unknown_tags"}:
        setattr(message, name, many[name])
    return message
