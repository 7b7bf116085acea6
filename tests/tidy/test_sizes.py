"""Nothing grows past what a reader can hold."""

import ast
from pathlib import Path
from typing import Final

import pytest

from tests.tidy.sources import every_file, parsed, python_files, shown

MODULE_LINES_MAX: Final = 600
FUNCTION_LINES_MAX: Final = 60
TEST_FILE_LINES_MAX: Final = 500
CONFTEST_LINES_MAX: Final = 100
FILE_BYTES_MAX: Final = 512 << 10


def lines_max(path: Path) -> int:
    """How many lines a Python file may have."""
    if path.name == "conftest.py":
        return CONFTEST_LINES_MAX
    return TEST_FILE_LINES_MAX if shown(path).startswith("tests/") else MODULE_LINES_MAX


def long_functions(tree: ast.Module) -> list[str]:
    """The functions that are too long, with their lengths."""
    return [
        f"{node.lineno}: {node.name} has {length} lines"
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or 0) - node.lineno + 1) > FUNCTION_LINES_MAX
    ]


def test_files_are_short() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in python_files("src", "tests")}
    wrong = [f"{shown(path)}: {n} lines" for path, n in lengths.items() if n > lines_max(path)]
    assert not wrong, "\n".join(wrong)


def test_functions_are_short() -> None:
    wrong = [
        f"{shown(path)}:{found}"
        for path in python_files("src", "tests", "bench", "fuzz")
        for found in long_functions(parsed(path))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("lines", "found"), [(60, 0), (61, 1)])
def test_a_long_function_is_found(lines: int, found: int) -> None:
    tree = ast.parse("def long():\n" + " pass\n" * (lines - 1))
    assert len(long_functions(tree)) == found


def test_files_are_small() -> None:
    wrong = [shown(path) for path in every_file() if path.stat().st_size > FILE_BYTES_MAX]
    assert not wrong, "\n".join(wrong)
