"""Checks are not silenced: no exemption without its reason, no error swallowed, no test skipped."""

import ast
import io
import re
import tokenize
from typing import Final

import pytest

from ottla.kernels import KERNELS
from tests.tidy.sources import PACKAGE, ROOT, parsed, python_files, shown

EVERYWHERE: Final = ("src", "tests", "bench", "fuzz", "docs", "setup.py")
IGNORE: Final = re.compile(r"#\s*(type:\s*ignore|pyright:|mypy:|ruff:)")
NOQA: Final = re.compile(r"#\s*noqa\b(?P<rest>.*)", re.IGNORECASE)
REASONED: Final = re.compile(r": [A-Z]+[0-9]+(, ?[A-Z]+[0-9]+)*  +\S+ \S+ .*[.)]$")
SKIPS: Final = ("pytest.mark.skip", "pytest.mark.skipif", "pytest.mark.xfail")


def comments(source: str) -> list[tuple[int, str]]:
    """The comments of a module and their lines; a string that looks like one is none."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]


def silenced(source: str) -> list[str]:
    """The comments that silence a checker and may not."""
    return [
        f"{line}: {text}"
        for line, text in comments(source)
        if IGNORE.search(text)
        or ((found := NOQA.search(text)) and not REASONED.fullmatch(found["rest"]))
    ]


def swallowed(tree: ast.Module, *too_wide: str) -> list[int]:
    """Lines of handlers that catch everything, a request to stop included, or what is too wide."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or {"BaseException", *too_wide} & set(_caught(node.type)))
    ]


def _caught(kinds: ast.expr) -> list[str]:
    return [ast.unparse(kind) for kind in (kinds.elts if isinstance(kinds, ast.Tuple) else [kinds])]


def test_no_checker_is_silenced_without_a_reason() -> None:
    wrong = [
        f"{shown(path)}:{found}"
        for path in [*python_files(*EVERYWHERE), ROOT / "setup.py"]
        for found in silenced(path.read_text())
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "comment",
    ["type: ignore", "type: ignore[attr-defined]", "noqa", "noqa: E501", "noqa: E501  no"],
)
def test_a_silenced_checker_is_found(comment: str) -> None:
    assert silenced(f"x = 1  # {comment}\n")


def test_a_reason_is_heard() -> None:
    assert not silenced("x = 1  # noqa: PLC0415  Only a build needs the compiler.\n")


def test_no_error_is_swallowed() -> None:
    wrong = [
        f"{shown(path)}:{line}"
        for path in python_files(*EVERYWHERE)
        for line in swallowed(parsed(path))
    ]
    assert not wrong, "\n".join(wrong)


def test_what_is_shipped_names_what_it_catches() -> None:
    wrong = [
        f"{shown(path)}:{line}"
        for path in python_files("src")
        for line in swallowed(parsed(path), "Exception")
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kinds", ["", " BaseException", " (OSError, BaseException)"])
def test_a_handler_of_everything_is_found(kinds: str) -> None:
    tree = ast.parse(f"try:\n f()\nexcept{kinds}:\n pass\n")
    assert swallowed(tree) == [3]


def test_a_handler_of_nearly_everything_is_found() -> None:
    tree = ast.parse("try:\n f()\nexcept (OSError, Exception) as fault:\n log(fault)\n")
    assert (swallowed(tree), swallowed(tree, "Exception")) == ([], [3])


def test_no_test_is_marked_to_be_left_out() -> None:
    wrong = [
        f"{shown(path)}:{node.lineno}"
        for path in python_files("tests")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Attribute) and ast.unparse(node) in SKIPS
    ]
    assert not wrong, "\n".join(wrong)


def test_every_kernel_is_on_the_list() -> None:
    """The list decides whether `ottla.kernels.compiled` is true, so it must be whole."""
    written = {
        path.stem
        for path in python_files("src/ottla/kernels")
        if path.parent == PACKAGE / "kernels" and "try:\n    import cython\n" in path.read_text()
    }
    assert set(KERNELS) == written
