"""Addresses are read as people write them."""

import pytest

from ottla.cli import Refused
from ottla.cli.client.address import Address, bootstrap, parse_addresses


def test_addresses_are_read() -> None:
    assert parse_addresses("a:1, b ,[::1]:93,::1,[fe80::2]") == [
        Address("a", 1),
        Address("b", 9092),
        Address("::1", 93),
        Address("::1", 9092),
        Address("fe80::2", 9092),
    ]


@pytest.mark.parametrize(
    "text",
    ["", ",", "a:", "a:b", "a:0", "a:65536", ":9092", "[::1", "[::1]9092", "a:٣", "a:123456"],
)
def test_what_is_no_address_is_named(text: str) -> None:
    with pytest.raises(Refused, match=r"broker|port"):
        parse_addresses(text)


def test_what_is_typed_goes_before_the_environment() -> None:
    environment = {"OTTLA_BOOTSTRAP": "there:1"}
    assert bootstrap("here:2", environment) == [Address("here", 2)]
    assert bootstrap(None, environment) == [Address("there", 1)]
    assert bootstrap(None, {}) == [Address("localhost", 9092)]


def test_an_address_is_shown_as_it_is_typed() -> None:
    assert [str(one) for one in parse_addresses("a:1,[::1]:2")] == ["a:1", "[::1]:2"]
