"""Ids: their text as Kafka writes it, and new ones that cause no trouble."""

import random

import pytest

from ottla.kernels.faults import InvalidValue
from ottla.wire.uuids import (
    LOST,
    METADATA_TOPIC,
    MIGRATING,
    RESERVED,
    UNASSIGNED,
    uuid_of_random,
    uuid_of_text,
    uuid_text,
)


def test_reserved_ids_have_kafkas_text() -> None:
    assert uuid_text(MIGRATING) == "AAAAAAAAAAAAAAAAAAAAAA"
    assert uuid_text(UNASSIGNED) == uuid_text(METADATA_TOPIC) == "AAAAAAAAAAAAAAAAAAAAAQ"
    assert uuid_text(LOST) == "AAAAAAAAAAAAAAAAAAAAAg"
    assert len(RESERVED) == 100
    assert {MIGRATING, UNASSIGNED, LOST} <= RESERVED


def test_text_comes_back() -> None:
    source = random.Random(1)
    for _ in range(200):
        uuid = uuid_of_random(source.randbytes(16))
        assert len(uuid_text(uuid)) == 22
        assert uuid_of_text(uuid_text(uuid)) == uuid


@pytest.mark.parametrize(
    "text", ["", "A" * 21, "A" * 23, "A" * 21 + "+", "A" * 21 + "\xe5", "A" * 20 + "=="]
)
def test_bad_text_is_invalid(text: str) -> None:
    with pytest.raises(InvalidValue):
        uuid_of_text(text)


def test_a_new_id_never_begins_with_a_hyphen_nor_is_reserved() -> None:
    for first in range(256):
        uuid = uuid_of_random(bytes([first]) + bytes(15))
        assert not uuid_text(uuid).startswith("-")
        assert uuid not in RESERVED


def test_a_new_id_keeps_122_bits_of_the_randomness() -> None:
    assert uuid_of_random(b"\xff" * 16).hex() == "ffffffffffff4fffbfffffffffffffff"
    assert uuid_of_random(bytes(16)).hex() == "00000000000040008000000000000000"
