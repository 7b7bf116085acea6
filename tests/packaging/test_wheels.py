"""What is built and installed works, with a compiler, without one, and with one that fails."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from ottla.kernels import KERNELS
from tests.tidy.sources import PACKAGE, ROOT, every_file

ROUND_TRIP = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from ottla import kernels
    from ottla.wire.codec import decode, encode
    from ottla.wire.fields import Message, int32

class Numbers(Message, versions="0-1", flexible="1+"):
    numbers: list[int32]

message = Numbers(numbers=[1, -2])
assert decode(Numbers, encode(message, 1), 1) == message
print(kernels.__file__)
print(kernels.compiled)
for warning in caught:
    print(warning.category.__name__, warning.message)
"""
EXTENSION = sysconfig.get_config_var("EXT_SUFFIX")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the project as it would be checked out, with nothing built in it."""
    top = tmp_path / "a tree"
    for path in every_file():
        copy = top / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return top


def run(*command: str, folder: Path, **environment: str) -> str:
    """What a command prints; one that fails shows all that it said."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, **environment},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def wheel_of(source: Path, **environment: str) -> Path:
    """The wheel that pip makes of a tree or of a source distribution."""
    flags = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", "wheels"]
    run("-m", "pip", "wheel", *flags, str(source), folder=source.parent, **environment)
    (wheel,) = (source.parent / "wheels").glob("*.whl")
    return wheel


def said_by(wheel: Path) -> list[str]:
    """Install a wheel; give what a round trip in it prints after the place it ran from."""
    target = wheel.parent / "installed"
    flags = ["--quiet", "--no-deps", "--no-index", "--target", str(target)]
    run("-m", "pip", "install", *flags, str(wheel), folder=wheel.parent)
    printed = run("-c", ROUND_TRIP, folder=wheel.parent, PYTHONPATH=str(target)).splitlines()
    assert Path(printed[0]).is_relative_to(target)
    return printed[1:]


def members(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def sources() -> set[str]:
    """What every wheel holds, compiled or not."""
    modules = {path for path in every_file() if path.is_relative_to(PACKAGE)}
    return {path.relative_to(PACKAGE.parent).as_posix() for path in modules}


def test_a_compiled_wheel_is_silent(tree: Path) -> None:
    wheel = wheel_of(tree)
    compiled = {f"ottla/kernels/{name}{EXTENSION}" for name in KERNELS}
    held = {name for name in members(wheel) if name.startswith("ottla/")}
    assert held == sources() | compiled
    assert said_by(wheel) == ["True"]


@pytest.mark.parametrize("environment", [{"OTTLA_UNCOMPILED": "1"}, {"CC": "false"}], ids=str)
def test_an_uncompiled_wheel_warns_once(tree: Path, environment: Mapping[str, str]) -> None:
    wheel = wheel_of(tree, **environment)
    assert {name for name in members(wheel) if name.startswith("ottla/")} == sources()
    compiled, *warnings = said_by(wheel)
    assert compiled == "False"
    assert len(warnings) == 1
    assert warnings[0].startswith("KernelsNotCompiled Ottla's kernels (")
    assert "40x slower" in warnings[0]
    assert "install a C compiler" in warnings[0]


def test_a_source_distribution_builds(tree: Path) -> None:
    code = "from setuptools.build_meta import build_sdist; print(build_sdist('.'))"
    name = run("-c", code, folder=tree).splitlines()[-1]
    with tarfile.open(tree / name) as archive:
        held = {entry.partition("/")[2] for entry in archive.getnames()}
    wanted = {path.relative_to(ROOT).as_posix() for path in every_file()}
    assert wanted - held <= {".gitignore"}
    assert not [entry for entry in held if entry.endswith((".c", ".so", ".pyc"))]
    assert said_by(wheel_of(tree / name, OTTLA_UNCOMPILED="1"))[0] == "False"
