"""Keys go where Java's client sends them."""

import pytest

from ottla.cli.record.partitioner import murmur2, partition_of

# Of kafka-clients 4.4.0: `Utils.murmur2(key.getBytes(UTF_8))`, printed by a small program.
BY_JAVA = {
    b"": 275646681,
    b"a": -1563381124,
    b"ab": 316155434,
    b"abc": 479470107,
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    "schlüssel".encode(): 331429656,
}


@pytest.mark.parametrize("key", BY_JAVA)
def test_the_hash_is_that_of_java(key: bytes) -> None:
    signed = murmur2(key)
    assert (signed ^ 1 << 31) - (1 << 31) == BY_JAVA[key]


def test_a_hash_below_zero_has_a_partition_too() -> None:
    assert partition_of(b"21", 6) == (-973932308 & 0x7FFFFFFF) % 6
