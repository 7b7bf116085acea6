"""What Kafka's own validator answers to good and bad batches, and what is answered here."""

from pathlib import Path

import pytest

from ottla.records.check import Rules, admit, check

CASES = (Path(__file__).parent / "verdicts.txt").read_text().split("\n\n")[1:]

# Where this broker is stricter, or names the error better, than Kafka 4.3.1.
STRICTER = {
    # Kafka takes these, and then claims that the records' own, unchecked times were checked.
    "claims_append": (32, [0, 1, 2]),
    "claims_append_gzip": (32, [0, 1, 2]),
    # Kafka stores records with equal or skipped offsets if they are not compressed.
    "offset_deltas_wrong": (87, []),
    "offset_deltas_equal": (87, []),
    # Kafka answers UNKNOWN_SERVER_ERROR.
    "gzip_garbage": (87, []),
    "codec_five": (76, []),
}


def fields_of(case: str) -> dict[str, str]:
    found = {}
    for line in case.strip().splitlines():
        word, _, rest = line.partition(" ")
        found[word] = rest
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: fields_of(case)["case"])
def test_answers_as_kafka(case: str) -> None:
    found = fields_of(case)
    words = found["topic"].split()
    topic = {name: int(value) for name, value in zip(words[::2], words[1::2], strict=True)}
    rules = Rules(
        is_compacted=bool(topic["compacted"]),
        is_append_time=bool(topic["append_time"]),
        before_max_ms=topic["before_ms"],
        after_max_ms=topic["after_ms"],
    )
    sent = bytearray.fromhex(found["sent"])
    verdict = check(sent, rules, topic["now_ms"])
    indexes = [error.index for error in verdict.record_errors]
    theirs = (int(found["code"]), [int(index) for index in found["records"].split()])
    assert (verdict.error, indexes) == STRICTER.get(found["case"], theirs)
    assert bool(verdict.reason) == (verdict.error != 0)
    if verdict.error == 0:
        admit(sent, verdict, rules, (0, 0), topic["now_ms"])
        assert sent.hex() == found["kept"].split()[-1]
