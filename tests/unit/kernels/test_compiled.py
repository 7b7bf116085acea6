"""The package of the kernels knows which of them are compiled."""

import os
import subprocess
import sys
from importlib.machinery import ExtensionFileLoader

from ottla import kernels
from ottla.kernels import decoder, encoder


def test_compiled_is_what_python_loaded() -> None:
    loaded = [module.__spec__ for module in (decoder, encoder)]
    native = [spec and isinstance(spec.loader, ExtensionFileLoader) for spec in loaded]
    assert kernels.compiled == all(native)


def test_where_nothing_may_be_missing_the_kernels_are_compiled() -> None:
    assert kernels.compiled or os.environ.get("CI", "").lower() != "true"


def test_every_kernel_says_whether_it_is_compiled() -> None:
    """One compiled kernel among others that are not is not enough."""
    code = (
        "import importlib.machinery as m, warnings\n"
        "real = m.PathFinder.find_spec\n"
        "def find(name, path=None, target=None):\n"
        "    spec = real(name, path, target)\n"
        "    if name == 'ottla.kernels.encoder':\n"
        "        spec.loader = m.SourceFileLoader(name, 'encoder.py')\n"
        "    return spec\n"
        "m.PathFinder.find_spec = find\n"
        "warnings.simplefilter('error')\n"
        "import ottla.kernels\n"
    )
    run = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert "KernelsNotCompiled: Ottla's kernels (" in run.stderr
    assert "encoder" in run.stderr
