"""Every message in every version: to bytes and back, and no sense in half of the bytes."""

from random import Random

import pytest

from ottla.kernels.faults import Malformed
from ottla.wire.codec import decode, encode
from ottla.wire.fields import Message
from tests.conformance.declared import declared
from tests.unit.api.filler import filled, plain

COUNT = 8
MESSAGES = sorted(declared().values(), key=lambda cls: cls.__name__)

each_message = pytest.mark.parametrize("cls", MESSAGES, ids=lambda cls: cls.__name__)


def test_all_are_here() -> None:
    assert len(MESSAGES) == 91 * 2 + 2 + 27 + 22 * 2 + 2 + 4 + 4 + 2 + 7 + 1 + 2


@each_message
def test_a_filled_message_comes_back(cls: type[Message]) -> None:
    random = Random(cls.__name__)
    for version in cls.versions:
        for _ in range(COUNT):
            message = filled(cls, version, random)
            assert decode(cls, encode(message, version), version) == message


@each_message
def test_a_message_of_defaults_comes_back(cls: type[Message]) -> None:
    for version in cls.versions:
        message = plain(cls, version)
        assert decode(cls, encode(message, version), version) == message


@each_message
def test_a_message_that_is_cut_off_is_malformed(cls: type[Message]) -> None:
    random = Random(cls.__name__)
    for version in cls.versions:
        data = encode(filled(cls, version, random), version)
        for end in {random.randrange(len(data)) for _ in range(COUNT) if data}:
            with pytest.raises(Malformed):
                decode(cls, data[:end], version)
