"""Build the kernels: compiled where there is a compiler, else the same files run as they are."""

import os
from pathlib import Path

from setuptools import Extension, setup

KERNELS = Path("src/ottla/kernels")
# The compiler's directives stand here once, so that each kernel's source is only its loops.
DIRECTIVES = {
    "language_level": "3",
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
    "embedsignature": True,
    "warn.unreachable": False,  # What stands after `if cython.compiled: return` is for Python.
}


def kernel_extensions() -> list[Extension]:
    """Every kernel module as an optional extension; none if Cython or OTTLA_UNCOMPILED says so."""
    if os.environ.get("OTTLA_UNCOMPILED"):
        return []
    from Cython.Build import cythonize  # noqa: PLC0415  Only a build needs the compiler.

    sources = sorted(
        path for path in KERNELS.glob("*.py") if "try:\n    import cython\n" in path.read_text()
    )
    extensions = [
        Extension(
            f"ottla.kernels.{path.stem}",
            [str(path)],
            extra_compile_args=["-O3", "-fno-strict-aliasing"],
            optional=True,
        )
        for path in sources
    ]
    return cythonize(extensions, compiler_directives=DIRECTIVES, build_dir="build/kernels")


setup(ext_modules=kernel_extensions())
