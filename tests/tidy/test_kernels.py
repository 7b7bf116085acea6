"""Kernels do nothing that means one thing to Python and another to C."""

import ast

import pytest

from tests.tidy.sources import parsed, python_files, shown


def from_the_end(tree: ast.Module) -> list[int]:
    """The lines that index from the end: compiled, that reads memory before the beginning."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.UnaryOp)
        and isinstance(node.slice.op, ast.USub)
    ]


def test_kernels_do_not_index_from_the_end() -> None:
    wrong = [
        f"{shown(path)}:{line}"
        for path in python_files("src/ottla/kernels")
        for line in from_the_end(parsed(path))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("code", "lines"), [("a[-1]", [1]), ("a[-n]", [1]), ("a[0]", [])])
def test_an_index_from_the_end_is_found(code: str, lines: list[int]) -> None:
    assert from_the_end(ast.parse(code)) == lines
