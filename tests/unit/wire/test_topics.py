"""Which names topics may have; what Kafka allows is asked in the conformance tests."""

import pytest

from ottla.kernels.faults import InvalidValue
from ottla.wire.topics import check_topic, collide, may_collide


@pytest.mark.parametrize("name", ["a", "x" * 249, "A-z_0.9", "...", "-", "__consumer_offsets"])
def test_a_topic_may_have_the_name(name: str) -> None:
    check_topic(name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "not empty"),
        (".", "means a folder"),
        ("..", "means a folder"),
        ("x" * 250, "at most 249 characters, not 250"),
        ("a b", "characters other than"),
        ("a/b", "characters other than"),
        ("a\n", "characters other than"),
        ("é", "characters other than"),
        ("٣", "characters other than"),
    ],
)
def test_a_topic_may_not_have_the_name(name: str, reason: str) -> None:
    with pytest.raises(InvalidValue, match=reason):
        check_topic(name)


def test_names_collide_by_dot_and_underscore() -> None:
    assert collide("a.b_c", "a_b.c")
    assert not collide("a.b", "a-b")
    assert [name for name in ("ab", "a.b", "a_b", "a-b") if may_collide(name)] == ["a.b", "a_b"]
