"""Names say what a thing is: no drawer packages, no classes named by their shape."""

import ast
import re
from typing import Final

import pytest

from tests.tidy.sources import PACKAGE, parsed, python_files, shown

DRAWERS: Final = re.compile(
    r"(^|_)(utils?|common|helpers?|misc|shared|base|managers?|impl|lib|tools?|stuff)(_|$)"
)
SHAPES: Final = re.compile(r"(Managers?|Impl|Utils?|Helpers?|Base|Data|Info)$")


def test_no_module_is_a_drawer() -> None:
    wrong = [
        shown(path)
        for path in python_files("src")
        if any(map(DRAWERS.search, path.relative_to(PACKAGE).with_suffix("").parts))
    ]
    assert not wrong, "\n".join(wrong)


def test_no_class_is_named_by_its_shape() -> None:
    wrong = [
        f"{shown(path)}:{node.lineno}: {node.name}"
        for path in python_files("src")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ClassDef) and SHAPES.search(node.name)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["utils", "common", "log_helpers", "base"])
def test_a_drawer_is_found(name: str) -> None:
    assert DRAWERS.search(name)


@pytest.mark.parametrize("name", ["commonality", "database", "library", "log"])
def test_a_noun_is_no_drawer(name: str) -> None:
    assert not DRAWERS.search(name)


@pytest.mark.parametrize("name", ["LogManager", "ReplicaInfo", "TopicData", "PlanImpl"])
def test_a_shape_is_found(name: str) -> None:
    assert SHAPES.search(name)
