"""Messages can be copied, pickled and read by many threads at once."""

import copy
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from ottla.kernels import decoder
from ottla.wire.codec import Plans, decode, encode
from tests.unit.wire.samples import Everything, everything

COPIES: dict[str, Callable[[Everything], Everything]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda message: pickle.loads(pickle.dumps(message)),
}


@pytest.mark.parametrize("version", range(4))
@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_a_copy_is_equal_and_stands_alone(
    make: Callable[[Everything], Everything], version: int
) -> None:
    data = bytearray(encode(everything(version), version))
    message = decode(Everything, data, version)
    twin = make(message)
    assert twin == message
    assert encode(twin, version) == bytes(data)
    twin.number = 0
    assert message.number != 0
    # The records of a decoded message are a view of what it was read from, those of a copy not.
    data[:] = bytes(len(data))
    assert (message.batches, twin.batches) == (bytes(7), b"batches")


def test_a_copy_shares_what_cannot_be_changed() -> None:
    message = everything(0)
    assert copy.deepcopy(message).origin is message.origin
    assert pickle.loads(pickle.dumps(message.origin)) is message.origin


def test_threads_may_make_and_follow_the_same_plan() -> None:
    message = everything(3)
    data = encode(message, 3)
    plans = Plans(decoder.DecodeStep, decoder.DecodePlan)

    def read(_: int) -> bool:
        return bool(plans[Everything, 3].decode(data) == message)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            assert all(threads.map(read, range(400)))
    finally:
        sys.setswitchinterval(interval)
