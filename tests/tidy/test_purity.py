"""What is below `runtime` knows no clock, no chance, no thread and no log: these come as events."""

import ast
from typing import Final

import pytest

from tests.tidy.sources import imported, parsed, part, python_files, shown

PURE: Final = frozenset(
    {"broker", "core", "storage", "api", "records", "config", "wire", "errors", "ports", "kernels"}
)
BANNED_MODULES: Final = frozenset(
    {
        "time", "random", "secrets", "uuid", "asyncio", "threading", "multiprocessing", "logging",
        "concurrent", "socket", "selectors", "subprocess", "signal",
    }
)  # fmt: skip
BANNED_NAMES: Final = frozenset({"os.urandom", "os.getrandom"})
BANNED_CALLS: Final = frozenset(
    {
        "print",
        "input",
        "breakpoint",
        "os.urandom",
        "os.getrandom",
        "datetime.now",
        "datetime.utcnow",
    }
)


def banned_imports(names: list[str]) -> list[str]:
    """Those among imported names that a pure part may not have."""
    return [name for name in names if name.split(".")[0] in BANNED_MODULES or name in BANNED_NAMES]


def banned_calls(tree: ast.Module) -> list[str]:
    """The calls in a module that a pure part may not make, with their lines."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = [(call.lineno, ast.unparse(call.func)) for call in calls]
    return [
        f"{line}: {name}"
        for line, name in named
        if name in BANNED_CALLS or ".".join(name.split(".")[-2:]) in BANNED_CALLS
    ]


def test_pure_parts_stay_pure() -> None:
    wrong = [
        f"{shown(path)}:{found}"
        for path in python_files("src")
        if part(path) in PURE
        for found in [*banned_imports([n for _, n in imported(path)]), *banned_calls(parsed(path))]
    ]
    assert not wrong, "\n".join(wrong)


def test_pure_parts_have_no_coroutines() -> None:
    kinds = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)
    wrong = [
        shown(path)
        for path in python_files("src")
        if part(path) in PURE and any(isinstance(node, kinds) for node in ast.walk(parsed(path)))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["time.time", "uuid.uuid4", "os.urandom", "asyncio", "logging"])
def test_an_impure_import_is_found(name: str) -> None:
    assert banned_imports([name])


@pytest.mark.parametrize("code", ["print(1)", "os.urandom(4)", "datetime.datetime.now()"])
def test_an_impure_call_is_found(code: str) -> None:
    assert banned_calls(ast.parse(code))


@pytest.mark.parametrize("code", ["log.print_line(1)", "clock.now()", "timestamps.time"])
def test_a_pure_call_is_left_alone(code: str) -> None:
    assert not banned_calls(ast.parse(code))
