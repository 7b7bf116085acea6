"""Other builds of the package, beside the one that is installed.

    python -m fuzz.variants uncompiled|sanitized [MODULE [ARGUMENT ...]]

Each is a copy of the sources under `build/`, to be put in front by PYTHONPATH. The sanitized one
has kernels that stop at a read past the end of a block, at a shift or a cast that C leaves open,
and at an overflow: the kernels do without Python's own checks.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
SANITIZERS: Final = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
# Python's own flags make signed numbers wrap; without them an overflow is seen.
FLAGS: Final = f"{SANITIZERS} -fno-wrapv -g -O1"


def uncompiled(folder: Path) -> Path:
    """The sources without anything compiled; give what to put in front of the path."""
    target = folder / "src" / "ottla"
    if target.exists():
        shutil.rmtree(target)
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "src" / "ottla", target, ignore=ignored)
    # As on a machine without Cython, whose own stand-in for uncompiled code is slower than ours.
    (target.parent / "cython.py").write_text("raise ImportError\n")
    return target.parent


def environment_of(path: Path) -> dict[str, str]:
    """What puts a variant in front of what is installed."""
    return {**os.environ, "PYTHONPATH": f"{path}{os.pathsep}{ROOT}"}


def sanitized(folder: Path) -> Path:
    """The sources with kernels that check themselves; give what to put in front of the path."""
    target = uncompiled(folder)
    (target / "cython.py").unlink()
    for name in ("setup.py", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder / name)
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace", "--force"]
    environment = {**os.environ, "CFLAGS": FLAGS, "LDFLAGS": SANITIZERS}
    subprocess.run(command, cwd=folder, env=environment, check=True)
    assert list(target.rglob("*.so")), "the kernels could not be compiled"
    return target


def sanitizers_environment(path: Path) -> dict[str, str]:
    """What a process needs to run the sanitized kernels; its own memory comes from malloc."""
    libraries = " ".join(_library(name) for name in ("libasan.so", "libubsan.so", "libstdc++.so"))
    return {
        **environment_of(path),
        "LD_PRELOAD": libraries,
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def _library(name: str) -> str:
    command = ["gcc", f"-print-file-name={name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main() -> int:
    """Make a variant; a module that is named too is run with it."""
    name, *arguments = sys.argv[1:]
    folder = ROOT / "build" / name
    if name == "sanitized":
        environment = sanitizers_environment(sanitized(folder))
    else:
        environment = environment_of(uncompiled(folder))
    if not arguments:
        return 0
    command = [sys.executable, "-W", "ignore", "-m", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
