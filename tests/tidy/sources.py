"""The files of the project, as the tidy tests read them."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "src" / "ottla"
_UNTRACKED: Final = {".git", ".venv", "build", "dist", "__pycache__"}


@cache
def every_file() -> tuple[Path, ...]:
    """All files of the project: those that git knows or would add, or all of an unpacked source."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [p for p in ROOT.rglob("*") if not _UNTRACKED & set(p.relative_to(ROOT).parts)]
    return tuple(sorted(path for path in paths if path.is_file()))


def shown(path: Path) -> str:
    """A path as a message names it."""
    return path.relative_to(ROOT).as_posix()


def python_files(*folders: str) -> list[Path]:
    """The Python files under some folders of the project."""
    tops = tuple(f"{folder}/" for folder in folders)
    return [path for path in every_file() if path.suffix == ".py" and shown(path).startswith(tops)]


def texts() -> Iterator[tuple[Path, str]]:
    """Every file that is text, with what it says."""
    for path in every_file():
        data = path.read_bytes()
        if b"\0" not in data:
            yield path, data.decode()


@cache
def parsed(path: Path) -> ast.Module:
    """A Python file's tree."""
    return ast.parse(path.read_text(), str(path))


def part(path: Path) -> str:
    """The part of ottla that a module belongs to: `core`, `errors`, or `ottla` for the root."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "ottla" if first == "__init__" else first


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """What a module imports, wherever in it: the line, and the module's full name."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield from ((node.lineno, f"{base}.{name.name}") for name in node.names)
