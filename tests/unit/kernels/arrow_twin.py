"""The kernels that make columns, loaded a second time from their sources: not compiled."""

import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import ottla.kernels

FOLDER = Path(ottla.kernels.__file__).parent


def _loaded(name: str) -> ModuleType:
    loader = SourceFileLoader(f"uncompiled_{name}", str(FOLDER / f"{name}.py"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def uncompiled_arrow() -> ModuleType:
    """`kernels/arrow.py` over the sources of the two kernels that it imports."""
    beneath = {f"ottla.kernels.{name}": _loaded(name) for name in ("pieces", "sections")}
    with patch.dict(sys.modules, beneath):
        return _loaded("arrow")
