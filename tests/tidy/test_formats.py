"""The pages on formats are held to the layouts in the code, and each format has one."""

import pytest

from docs.formats.generate import FOLDER, TABLES, layout, page
from ottla.api.partition_files import ProducerSnapshot
from tests.tidy.sources import PACKAGE


@pytest.mark.parametrize("name", sorted(TABLES))
def test_tables_are_fresh(name: str) -> None:
    message = "type: .venv/bin/python -m docs.formats.generate"
    assert (FOLDER / name).read_text() == page(name), message


def test_a_table_adds_up() -> None:
    table = layout(ProducerSnapshot)
    assert "| 2 | 4 | crc (uint32) |" in table
    assert "| e + 38 | 8 | current_txn_first_offset (int64) |" in table
    assert "e = 10 + 46 i" in table


@pytest.mark.parametrize(
    "module",
    [
        "checkpoints",
        "clean_shutdown",
        "meta_properties",
        "partition_metadata",
        "producer_snapshot",
        "quorum_state",
    ],
)
def test_a_format_has_a_page(module: str) -> None:
    assert (PACKAGE / "storage" / f"{module}.py").exists()
    assert (FOLDER / f"{module}.md").exists()


def test_every_page_is_reached_from_the_names() -> None:
    text = (FOLDER / "names.md").read_text()
    pages = {path.name for path in FOLDER.glob("*.md")} - {"names.md"}
    assert {name for name in pages if f"({name})" in text} == pages
