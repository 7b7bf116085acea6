"""Version ranges as the schemas write them."""

import pytest

from ottla.wire.versions import VersionRange


@pytest.mark.parametrize("text", ["0+", "3-11", "4", "none"])
def test_a_range_is_written_as_it_was_read(text: str) -> None:
    assert str(VersionRange.parse(text)) == text


def test_membership() -> None:
    some = VersionRange.parse("3-5")
    assert [version for version in range(8) if version in some] == [3, 4, 5]
    assert list(some) == [3, 4, 5]
    assert not VersionRange.parse("none")
    assert 0 not in VersionRange.parse("none")


def test_what_two_ranges_share() -> None:
    assert VersionRange.parse("2+") & VersionRange.parse("0-4") == VersionRange.parse("2-4")
    assert not VersionRange.parse("5+") & VersionRange.parse("0-4")
