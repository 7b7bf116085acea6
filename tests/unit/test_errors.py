"""The table of errors."""

from ottla.errors import ErrorCode


def test_there_is_one_row_for_each_number() -> None:
    assert sorted(ErrorCode) == list(range(-1, 137))
    assert len(ErrorCode.__members__) == 138


def test_a_row_is_its_number() -> None:
    code = ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert code == 6
    assert code.retriable
    assert not ErrorCode.NONE.retriable


def test_every_row_has_a_sentence_of_its_own() -> None:
    sentences = [code.sentence for code in ErrorCode]
    assert len(set(sentences)) == len(sentences)
    assert [s for s in sentences if not (s[0].isupper() and s.endswith("."))] == []


def test_a_number_that_is_not_known_is_an_unknown_error() -> None:
    assert ErrorCode.of(41) is ErrorCode.NOT_CONTROLLER
    assert ErrorCode.of(9999) is ErrorCode.UNKNOWN_SERVER_ERROR
