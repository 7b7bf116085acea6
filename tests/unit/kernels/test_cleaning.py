"""Hashes of keys are SipHash's, and rows of another batch are refused."""

import pytest

from ottla.kernels import cleaning, records
from ottla.kernels.faults import InvalidValue
from ottla.records.builder import BatchOptions, write_batch

SECRET = bytes(range(16))
# Of the bytes 0, 1, 2 ... as OpenSSL 3.0.19 computes them: `openssl mac -macopt size:16 SIPHASH`.
BY_OPENSSL = {
    0: "A3817F04BA25A8E66DF67214C7550293",
    1: "DA87C1D86B99AF44347659119B22FC45",
    7: "A1F1EBBED8DBC153C0B84AA61FF08239",
    8: "3B62A9BA6258F5610F83E264F31497B4",
    9: "264499060AD9BAABC47F8B02BB6D71ED",
    15: "5493E99933B0A8117E08EC0F97CFC3D9",
    16: "6EE2A4CA67B054BBFD3315BF85230577",
    17: "473D06E8738DB89854C066C47AE47740",
    63: "5150D1772F50834A503E069A973FBD7C",
    64: "1EAF077DC0D4CD3F8CAD4D383658A74B",
}


def batch_of_keys(*keys: bytes | None) -> bytes:
    rows = [(offset, 0, key, None, []) for offset, key in enumerate(keys)]
    return bytes(write_batch(rows, BatchOptions()))


def test_hashes_are_those_of_openssl() -> None:
    batch = batch_of_keys(*(bytes(range(size)) for size in BY_OPENSSL))
    hashes = cleaning.hash_keys(batch, records.list_records(batch), SECRET)
    found = [hashes[at : at + 16].hex().upper() for at in range(0, len(hashes), 16)]
    assert found == list(BY_OPENSSL.values())


def test_another_secret_gives_other_hashes() -> None:
    batch = batch_of_keys(b"key")
    rows = records.list_records(batch)
    one, other = (cleaning.hash_keys(batch, rows, bytes([n]) * 16) for n in (1, 2))
    assert one != other


def test_a_null_key_has_no_hash_and_an_empty_one_has() -> None:
    batch = batch_of_keys(None, b"")
    hashes = cleaning.hash_keys(batch, records.list_records(batch), SECRET)
    assert hashes[:16] == bytes(16)
    assert hashes[16:].hex().upper() == BY_OPENSSL[0]


def test_a_secret_has_sixteen_bytes() -> None:
    with pytest.raises(InvalidValue, match="16 bytes, not 3"):
        cleaning.hash_keys(b"", bytearray(), b"abc")


def test_rows_of_another_batch_are_refused() -> None:
    batch = batch_of_keys(b"k" * 50)
    rows = records.list_records(batch)
    with pytest.raises(InvalidValue, match="another batch"):
        cleaning.hash_keys(batch[:-1], rows, SECRET)
    with pytest.raises(InvalidValue, match="another batch"):
        cleaning.keep_records(b"", rows, b"\1")
    for cell, value in ((2, -1), (3, 0), (5, -1), (5, 2**62), (6, 2**62)):
        wrong = bytearray(rows)
        memoryview(wrong).cast("q")[cell] = value
        with pytest.raises(InvalidValue, match="another batch"):
            cleaning.hash_keys(batch, wrong, SECRET)


def test_rows_that_repeat_are_refused() -> None:
    """Each lies within the bytes, and all together take more room than was made for them."""
    batch = batch_of_keys(b"k" * 50)
    rows = records.list_records(batch) * 100
    with pytest.raises(InvalidValue, match="another batch"):
        cleaning.keep_records(batch, rows, b"\1" * 100)


def test_every_record_has_a_mark() -> None:
    batch = batch_of_keys(b"k")
    with pytest.raises(InvalidValue, match="2 marks for 1 records"):
        cleaning.keep_records(batch, records.list_records(batch), b"\1\1")
