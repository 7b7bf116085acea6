"""What takes long to make and does not change is made by the first process that needs it."""

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

_T = TypeVar("_T")


def made_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], _T]
) -> tuple[Path, _T]:
    """A folder, and what `make` gave when it filled it; one for all processes of a run."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / name
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = folder / "made.pickle"
        if kept.exists():
            made: Any = pickle.loads(kept.read_bytes())
            return folder, made
        made = make(folder / f"by-{os.getpid()}")
        kept.write_bytes(pickle.dumps(made))
        return folder, made
