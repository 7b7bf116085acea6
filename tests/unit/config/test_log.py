"""The rows themselves: short, and each said in one sentence."""

import ast
from pathlib import Path

import pytest

import ottla.config
from ottla.config import log
from ottla.config.table import Row, Table

LINES_MAX = 4
MODULES = sorted(Path(next(iter(ottla.config.__path__))).glob("*.py"))


def rows_of(source: str) -> list[ast.AnnAssign]:
    return [
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) == "Option"
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_row_takes_few_lines_and_bears_its_options_name(path: Path) -> None:
    for row in rows_of(path.read_text()):
        assert row.end_lineno is not None
        assert isinstance(row.value, ast.Call)
        assert row.end_lineno - row.lineno < LINES_MAX, ast.unparse(row.target)
        option = ast.literal_eval(row.value.args[0])
        assert ast.unparse(row.target) == option.upper().replace(".", "_")


def test_rows_of_the_log_are_found() -> None:
    assert len(rows_of(Path(log.__file__).read_text())) == len(Table.of(log)) == 53


@pytest.mark.parametrize("row", Table.of(log).rows, ids=lambda row: row.name)
def test_row_is_explained_in_one_sentence(row: Row) -> None:
    assert row.doc.endswith(".")
    assert row.doc.count(". ") == 0
    assert row.doc[0].isupper()
