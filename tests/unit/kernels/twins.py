"""Load a kernel a second time, from its source, to be compared with the compiled one."""

import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

import ottla.kernels

FOLDER = Path(ottla.kernels.__file__).parent
BENEATH = {
    "cleaning": ("siphash",),
    "compaction": ("cleaning", "records", "siphash"),
    "recovery": ("batches",),
}
"""Which kernels another one is made of: its twin is made of theirs."""


def uncompiled(name: str) -> ModuleType:
    """The kernel of this name, run from its `.py` whether or not a compiled one lies beside it.

    It runs as on a machine without Cython, so that the shadow of Cython's module is tested too.
    """
    twin = f"uncompiled_{name}"
    if twin not in sys.modules:
        beneath = {f"ottla.kernels.{one}": uncompiled(one) for one in BENEATH.get(name, ())}
        loader = SourceFileLoader(twin, str(FOLDER / f"{name}.py"))
        spec = importlib.util.spec_from_loader(twin, loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "cython", None)
            for kernel, one in beneath.items():
                patch.setitem(sys.modules, kernel, one)
            loader.exec_module(module)
        sys.modules[twin] = module
    return sys.modules[twin]
