"""Compiled loops over bytes; the same files run uncompiled, only slower.

They import nothing of ottla but each other. `compiled` says whether this installation has all of
them compiled; one that has not says so once, as a `KernelsNotCompiled` warning.
"""

import warnings
from importlib.machinery import PathFinder, SourceFileLoader
from typing import Final

KERNELS: Final = (
    "arrow",
    "batches",
    "cleaning",
    "compaction",
    "decoder",
    "encoder",
    "pieces",
    "record_writer",
    "recovery",
    "records",
    "sections",
    "siphash",
    "xxh32",
)
"""The modules here that can be compiled."""


class KernelsNotCompiled(RuntimeWarning):
    """Some kernels run as plain Python: right in all they do, but many times slower."""


def _is_source(name: str) -> bool:
    spec = PathFinder.find_spec(f"{__name__}.{name}", __path__)
    return spec is not None and isinstance(spec.loader, SourceFileLoader)


_uncompiled: Final = [name for name in KERNELS if _is_source(name)]
compiled: Final = not _uncompiled
if _uncompiled:
    warnings.warn(
        f"Ottla's kernels ({', '.join(_uncompiled)}) are not compiled: messages are decoded and"
        " encoded about 40x slower. To have them compiled, install a C compiler (such as gcc) and"
        " install Ottla again from its source; in a source tree, type: make setup",
        KernelsNotCompiled,
        stacklevel=2,
    )
