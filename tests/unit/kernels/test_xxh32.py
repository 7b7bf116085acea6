"""The hash of LZ4 frames: known values, and the same uncompiled."""

import random
from types import ModuleType

import pytest

from ottla.kernels import xxh32 as compiled_kernel
from tests.unit.kernels.twins import uncompiled

KNOWN = {
    b"": 46947589,
    b"a": 1426945110,
    b"abc": 852579327,
    bytes(range(4)): 2154372710,
    bytes(range(15)): 1472208590,
    bytes(range(16)): 3072866292,
    bytes(range(100)): 2139732548,
    b"Nobody inspects the spammish repetition": 3794352943,
}


@pytest.mark.parametrize("kernel", [compiled_kernel, uncompiled("xxh32")], ids=["fast", "slow"])
def test_hashes_are_those_of_the_published_algorithm(kernel: ModuleType) -> None:
    for data, value in KNOWN.items():
        for buffer in (data, bytearray(data), memoryview(data)):
            assert kernel.xxh32(buffer) == value


def test_compiled_and_uncompiled_hash_alike() -> None:
    chance = random.Random(5)
    slow = uncompiled("xxh32")
    for size in [*range(80), 1000, 5001]:
        data = chance.randbytes(size)
        assert compiled_kernel.xxh32(data) == slow.xxh32(data)
