"""What a client may send, and what a follower takes from its leader."""

import pytest

from ottla.errors import ErrorCode
from ottla.records.batch import BatchHeader, assign_offsets, checksum, set_max_timestamp
from ottla.records.builder import BatchOptions, write_batch
from ottla.records.check import Rules, admit, check, check_copied
from ottla.records.reader import read_records
from ottla.records.scan import Stop
from tests.costs import calls
from tests.unit.records.samples import T, batch, with_header, with_section

RULES = Rules()


def refused(data: bytes | bytearray, rules: Rules = RULES) -> tuple[int, str]:
    verdict = check(data, rules, T)
    assert verdict.error
    return verdict.error, verdict.reason


def test_a_good_batch_says_what_an_append_needs() -> None:
    verdict = check(batch(5), RULES, T)
    assert (verdict.error, verdict.reason, verdict.record_errors) == (0, "", ())
    assert verdict.header == BatchHeader.parse(batch(5))
    assert (verdict.max_timestamp, verdict.max_timestamp_index) == (T + 4, 4)


def test_the_first_record_of_the_largest_time_is_named() -> None:
    times = [T, T + 9, T + 3, T + 9]
    sent = write_batch([(i, t, None, b"", []) for i, t in enumerate(times)], BatchOptions())
    assert check(sent, RULES, T).max_timestamp_index == 1


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_a_compressed_batch_is_inflated_once(codec: int) -> None:
    verdict = check(batch(50, BatchOptions(codec=codec)), RULES, T)
    assert verdict.error == 0
    assert verdict.inflated == batch(50)[61:]


@pytest.mark.parametrize(
    ("data", "error", "reason"),
    [
        (b"", 87, "at least one whole batch"),
        (bytes(16), 87, "at least one whole batch"),
        (bytes(17), 2, "magic 0 and 0 bytes"),
        (bytes(61), 2, "magic 0 and 0 bytes"),
        (bytes(11) + b"\x0e" + bytes(14), 87, "only batches of magic 2"),
        (bytes(11) + b"\x31" + bytes(4) + b"\x03" + bytes(44), 2, "magic 3"),
        (bytes(11) + b"\x30" + bytes(4) + b"\x02" + bytes(43), 2, "a batch of 48 bytes"),
        (batch()[:-1], 87, "at least one whole batch"),
        (batch() + batch(), 87, "one batch and nothing more"),
        (batch() + b"\0", 87, "one batch and nothing more"),
        (b"\xff" * 100, 2, "magic 255"),
    ],
)
def test_framing(data: bytes, error: int, reason: str) -> None:
    found = refused(data)
    assert found[0] == error
    assert reason in found[1]


def test_base_offset_then_size_then_checksum() -> None:
    sent = batch(3, BatchOptions(base_offset=7))
    sent[-1] ^= 1
    small = Rules(batch_bytes_max=len(sent) - 1)
    assert refused(sent, small)[0] == ErrorCode.INVALID_RECORD
    assign_offsets(sent, 0, -1)
    assert refused(sent, small)[0] == ErrorCode.MESSAGE_TOO_LARGE
    assert refused(sent)[0] == ErrorCode.CORRUPT_MESSAGE
    assert check(batch(), Rules(batch_bytes_max=len(batch())), T).error == 0


@pytest.mark.parametrize("fields", [{"producer_id": 5, "base_sequence": 0}, {"attributes": 16}])
def test_old_formats_have_no_producers(fields: dict[str, int]) -> None:
    sent = with_header(batch(), **fields)
    assert check(sent, RULES, T).error == 0
    assert refused(sent, Rules(magic=1))[0] == ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT
    assert check(batch(), Rules(magic=1), T).error == 0


def test_codecs() -> None:
    zstd = batch(3, BatchOptions(codec=4))
    early = Rules(takes_zstd=False)
    assert refused(zstd, early)[0] == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert check(batch(3, BatchOptions(codec=3)), early, T).error == 0
    for codec in (5, 6, 7):
        sent = with_header(batch(), attributes=codec)
        assert refused(sent)[0] == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_inflated_bytes_are_bounded() -> None:
    bomb = write_batch([(0, T, None, bytes(1 << 20), [])], BatchOptions(codec=1))
    assert len(bomb) < 2000
    assert check(bomb, RULES, T).error == 0
    assert refused(bomb, Rules(inflated_bytes_max=1 << 19))[0] == ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize(
    ("section", "reason"),
    [
        ("", "end within a record"),
        ("0e 00 00 00 01 01 00", "end within a record"),
        ("0c 00 00 00 01 01", "end within a record"),
        ("0c 00 00 00 01 01 00 00", "left over"),
        ("01 00 00 00 01 01 00", "a length does not fit"),
        ("0e 00 00 00 01 01 00 00", "a length does not fit"),
        ("0a 00 00 00 01 01 00", "end within a record"),
        ("0c 00 00 00 02 01 00", "end within a record"),
        ("0c 00 00 00 7e 01 00", "a length does not fit"),
        ("0c 00 00 02 01 01 00", "offset deltas"),
        ("0c 00 00 01 01 01 00", "offset deltas"),
        ("0c 00 00 00 01 01 01", "negative"),
        ("0c 00 00 00 01 01 02", "end within a record"),
        ("10 00 00 00 01 01 02 01 00", "negative"),
        ("18 00 00 80 80 80 80 80 00 01 01 00 00", "varint"),
        ("16 00 00 ff ff ff ff 1f 01 01 00 00", "offset deltas"),
        ("22 00 ff ff ff ff ff ff ff ff ff ff 00 01 01 00 00 00", "varint"),
    ],
)
def test_records_that_are_none(section: str, reason: str) -> None:
    error, found = refused(with_section(bytes.fromhex(section)))
    assert error == ErrorCode.INVALID_RECORD
    assert found.startswith("record ")
    assert reason in found


@pytest.mark.parametrize(
    "section", ["0c 00 00 00 03 01 00", "0c 00 00 00 01 03 00", "10 00 00 00 01 01 02 00 03"]
)
def test_any_negative_length_is_null(section: str) -> None:
    sent = with_section(bytes.fromhex(section))
    assert check(sent, RULES, T).error == ErrorCode.NONE
    (record,) = read_records(sent, 0)
    assert record.key is None
    assert record.value is None
    assert record.headers in ([], [("", None)])


def test_a_count_that_lies_allocates_nothing() -> None:
    sent = with_section(bytes.fromhex("0c 00 00 00 01 01 00"), 2**31 - 1)
    assert refused(sent)[0] == ErrorCode.INVALID_RECORD


def test_every_bad_record_is_listed_and_a_bad_time_names_the_batch() -> None:
    now = T
    sent = write_batch(
        [
            (0, now - 11, b"k", b"", []),
            (1, now, None, b"", []),
            (2, now + 21, None, b"", []),
            (3, now + 21, b"k", b"", []),
            (4, -1, b"k", b"", []),
        ],
        BatchOptions(),
    )
    rules = Rules(is_compacted=True, before_max_ms=10, after_max_ms=20)
    verdict = check(sent, rules, now)
    assert verdict.error == ErrorCode.INVALID_TIMESTAMP
    assert [error.index for error in verdict.record_errors] == [0, 1, 2, 3]
    kinds = ["time" in error.message for error in verdict.record_errors]
    assert kinds == [True, False, False, True]
    assert str(now - 10) in verdict.record_errors[0].message
    lenient = Rules(is_compacted=True, before_max_ms=11, after_max_ms=21)
    assert check(sent, lenient, now).error == ErrorCode.INVALID_RECORD


def test_admitted_batches_are_the_logs_own() -> None:
    sent = with_header(batch(), max_timestamp=5)
    admit(sent, check(sent, RULES, T), RULES, (900, 4), T)
    header = BatchHeader.parse(sent)
    assert (header.base_offset, header.partition_leader_epoch) == (900, 4)
    assert (header.max_timestamp, header.is_append_time) == (T + 2, False)
    assert checksum(sent) == header.crc


def test_append_time_is_stamped_in_place() -> None:
    rules = Rules(is_append_time=True)
    sent = memoryview(batch())
    admit(sent, check(sent, rules, T + 99), rules, (0, 0), T + 99)
    header = BatchHeader.parse(sent)
    assert (header.max_timestamp, header.is_append_time) == (T + 99, True)
    assert checksum(sent) == header.crc
    set_max_timestamp(sent, T + 2, is_append_time=False)
    assert sent[16:] == batch()[16:]


def test_a_check_makes_as_many_calls_for_any_number_of_records() -> None:
    few, many = batch(1), batch(10_000)
    check(few, RULES, T)
    assert calls(lambda: check(few, RULES, T)) == calls(lambda: check(many, RULES, T))


def test_a_check_of_a_compressed_batch_calls_by_its_bytes_not_by_its_records() -> None:
    few, many = (batch(count, BatchOptions(codec=1)) for count in (1, 10_000))
    check(few, RULES, T)
    more = calls(lambda: check(many, RULES, T)) - calls(lambda: check(few, RULES, T))
    # Gzip is fed 16 KiB at a time, with a handful of calls each.
    assert more <= 8 * (len(many) // 16384 + 1)


class TestCopied:
    """Runs of batches from a leader or a disk."""

    run = b"".join(
        batch(3, BatchOptions(base_offset=at, partition_leader_epoch=at)) for at in (0, 3, 9)
    )

    def test_whole(self) -> None:
        found = check_copied(self.run)
        assert (found.end_position, found.stop) == (len(self.run), Stop.END)
        assert [(row.base_offset, row.last_offset) for row in found.rows] == [
            (0, 2),
            (3, 5),
            (9, 11),
        ]

    def test_torn_at_every_byte(self) -> None:
        size = len(self.run) // 3
        for cut in range(len(self.run)):
            found = check_copied(self.run[:cut])
            assert found.end_position == len(found.rows) * size == cut - cut % size
            assert found.stop is (Stop.TORN if cut % size else Stop.END)

    def test_damaged(self) -> None:
        damaged = bytearray(self.run)
        damaged[-1] ^= 4
        found = check_copied(damaged)
        assert (len(found.rows), found.stop) == (2, Stop.CHECKSUM)
        assert found.end_position == len(self.run) * 2 // 3

    def test_offsets_must_rise(self) -> None:
        found = check_copied(self.run + self.run)
        assert (len(found.rows), found.stop) == (3, Stop.ORDER)
        found = check_copied(self.run, offset_min=1)
        assert (len(found.rows), found.end_position, found.stop) == (0, 0, Stop.ORDER)

    def test_later_epochs_are_left(self) -> None:
        found = check_copied(self.run, leader_epoch_max=3)
        assert (len(found.rows), found.stop) == (2, Stop.LATER_EPOCH)

    def test_clients_rules_do_not_hold(self) -> None:
        control = batch(1, BatchOptions(base_offset=20, is_control=True))
        assert check_copied(self.run + control).stop is Stop.END


def test_very_many_bad_records_are_counted_and_some_are_listed() -> None:
    rows = [(at, T, None, b"", []) for at in range(20_000)]
    verdict = check(write_batch(rows), Rules(is_compacted=True), T)
    assert verdict.error == ErrorCode.INVALID_RECORD
    assert verdict.reason == "20000 records are not taken"
    assert [error.index for error in verdict.record_errors] == list(range(10_000))
