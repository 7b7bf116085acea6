"""Write the tables of this folder's pages from the layouts in the code.

Run as `python -m docs.formats.generate` from the project's top. Only what stands between the two
marks of a page is replaced; the tidy tests hold every page to it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ottla.api.partition_files import ProducerSnapshot
from ottla.wire.fields import Field, Message

FOLDER: Final = Path(__file__).parent
START: Final = "<!-- Written by docs/formats/generate.py -->\n"
END: Final = "<!-- End of what is written by docs/formats/generate.py -->\n"

_VERSION_BYTES: Final = 2
_COUNT_BYTES: Final = 4
_BYTES: Final = {"int16": 2, "int32": 4, "uint32": 4, "int64": 8}

_MEANINGS: Final = {
    "crc": "CRC-32C of everything behind it",
    "producer_id": "the producer",
    "epoch": "its newest epoch",
    "last_sequence": "of its newest batch; -1 if it has none",
    "last_offset": "of its newest batch; -1 if it has none",
    "offset_delta": "the newest batch's last offset less its first",
    "timestamp": "of its newest batch or marker, in milliseconds; by it the entry expires",
    "coordinator_epoch": "of the newest transaction marker; -1 if there was none",
    "current_txn_first_offset": "where its open transaction begins; -1 if none is open",
}


def _rows(fields: tuple[Field, ...], start: int, prefix: str = "") -> Iterator[tuple[str, ...]]:
    for field in fields:
        size = _BYTES[field.kind]
        place = f"{prefix}{start}"
        yield place, str(size), f"{field.name} ({field.kind})", _MEANINGS[field.name]
        start += size


def layout(message: type[Message]) -> str:
    """The table of a file that has a version, fixed fields, and a list of entries of one size."""
    *head, entries = message.fields
    assert entries.struct is not None
    head_bytes = _VERSION_BYTES + sum(_BYTES[field.kind] for field in head)
    entry_bytes = sum(_BYTES[field.kind] for field in entries.struct.fields)
    first = head_bytes + _COUNT_BYTES
    rows = [
        ("0", str(_VERSION_BYTES), "version (int16)", str(message.versions)),
        *_rows(tuple(head), _VERSION_BYTES),
        (str(head_bytes), str(_COUNT_BYTES), "count (int32)", "of the entries"),
        *_rows(entries.struct.fields, 0, "e + "),
    ]
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return (
        f"| offset | size | field | meaning |\n|---|---|---|---|\n{table}\n"
        f"Entry number i, counted from 0, begins at e = {first} + {entry_bytes} i.\n"
    )


TABLES: Final = {"producer_snapshot.md": layout(ProducerSnapshot)}


def page(name: str) -> str:
    """A page as it should be."""
    text = (FOLDER / name).read_text()
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    assert start, f"{name} has no mark where its table begins"
    assert end, f"{name} has no mark where its table ends"
    return f"{before}{start}\n{TABLES[name]}\n{end}{after}"


def main() -> None:
    """Write all tables."""
    for name in TABLES:
        (FOLDER / name).write_text(page(name))


if __name__ == "__main__":
    main()
