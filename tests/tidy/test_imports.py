"""Imports go one way, and `import ottla` stays light."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.tidy.sources import PACKAGE, imported, part, python_files, shown

# Each row imports only from the rows below it.
ROWS: Final = (
    ("__main__",),
    ("cli", "console", "spark", "testing"),
    ("runtime", "sim"),
    ("broker",),
    ("core", "storage"),
    ("api", "records", "config"),
    ("wire",),
    ("errors", "ports"),
    ("kernels",),
)
RANK: Final = {name: -row for row, names in enumerate(ROWS) for name in names}
# What the rows alone would allow: the tables are read with no broker in between.
FORBIDDEN: Final = {"spark": {"broker"}}
CORE_PARTS: Final = frozenset(
    {
        "quorum", "metadata", "controller", "partition", "groups", "transactions", "access",
        "tiering",
    }
)  # fmt: skip


def why_not(importer: str, imported_name: str) -> str | None:
    """What is wrong with an import by a module, if anything; both are full names."""
    names, targets = importer.split("."), imported_name.split(".")
    if targets[0] != "ottla" or len(targets) == 1:
        return "is relative" if imported_name.startswith(".") else None
    here, there = [*names, "ottla"][1], targets[1]
    if there not in RANK:
        # A name of the root itself, such as the version; kernels do not even know that.
        return "is no kernel" if here == "kernels" else None
    forbidden = here == "ottla" or there in FORBIDDEN.get(here, ())
    if forbidden or (here != there and RANK[here] <= RANK[there]):
        return f"goes against the order, from {here} to {there}"
    if here == there == "core" and len(names) > 2 and len(targets) > 2:
        return why_not_within_core(names[2], targets[2])
    return None


def why_not_within_core(importer: str, imported_name: str) -> str | None:
    """The parts of core meet in metadata; modules that stand beside them are for all of them."""
    if imported_name in (importer, "metadata") or imported_name not in CORE_PARTS:
        return None
    return "meets another part of core, and not through metadata"


def module_name(path: Path) -> str:
    """The full name of a module of ottla."""
    inside = path.relative_to(PACKAGE.parent).with_suffix("")
    return ".".join(inside.parts).removesuffix(".__init__")


def test_imports_go_one_way() -> None:
    wrong = [
        f"{shown(path)}:{line}: import of {name} {reason}"
        for path in python_files("src")
        for line, name in imported(path)
        if (reason := why_not(module_name(path), name))
    ]
    assert not wrong, "\n".join(wrong)


def test_every_part_has_a_row() -> None:
    assert {part(path) for path in python_files("src")} <= {"ottla", *RANK}


def test_every_part_of_core_is_known() -> None:
    folders = {path.parent.name for path in (PACKAGE / "core").glob("*/__init__.py")}
    assert folders <= CORE_PARTS


@pytest.mark.parametrize(
    ("importer", "name"),
    [
        ("ottla.kernels.decoder", "ottla.wire.fields"),
        ("ottla.kernels.decoder", "ottla.__version__"),
        ("ottla.core.groups.classic", "ottla.storage.log"),
        ("ottla.core.groups.classic", "ottla.core.partition.leader"),
        ("ottla.wire.codec", "ottla.api"),
        ("ottla.spark.reader", "ottla.broker.node"),
        ("ottla.sim.world", "ottla.runtime"),
        ("ottla", "ottla.wire.codec"),
        ("ottla.wire.codec", ".fields.Field"),
    ],
)
def test_an_import_against_the_order_is_found(importer: str, name: str) -> None:
    assert why_not(importer, name)


@pytest.mark.parametrize(
    ("importer", "name"),
    [
        ("ottla.kernels.decoder", "ottla.kernels.faults"),
        ("ottla.core.groups.classic", "ottla.core.metadata.image"),
        ("ottla.core.groups.classic", "ottla.core.recorded.Decision"),
        ("ottla.spark.reader", "ottla.storage.log"),
        ("ottla.cli", "ottla.__version__"),
        ("ottla.wire.codec", "struct"),
    ],
)
def test_an_import_in_order_is_left_alone(importer: str, name: str) -> None:
    assert why_not(importer, name) is None


def test_importing_ottla_loads_nothing_else() -> None:
    """A command that only prints its version must not pay for messages, kernels or libraries."""
    code = "import sys, typing; old = set(sys.modules); import ottla; "
    code += "print(*sorted(set(sys.modules) - old))"
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    assert run.stdout.split() == ["ottla"]
