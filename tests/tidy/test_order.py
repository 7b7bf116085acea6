"""What is pure does the same in every run: a set has no order, so it is sorted before it is walked.

The order of a set of texts depends on a secret of the process. What an expression is, is told by
how it is made and by how its name is declared in the same module.
"""

import ast
from collections.abc import Iterator

import pytest

from tests.tidy.sources import parsed, part, python_files, shown
from tests.tidy.test_purity import PURE

KINDS = frozenset({"set", "frozenset", "AbstractSet", "MutableSet"})
OPERATIONS = frozenset({"union", "intersection", "difference", "symmetric_difference"})
IN_ORDER = frozenset(
    {"list", "tuple", "iter", "enumerate", "zip", "map", "filter", "join", "deque"}
)
OF_ANY_ORDER = frozenset({"sorted", "set", "frozenset", "sum", "any", "all", "min", "max", "len"})


def _last_name(node: ast.AST) -> str:
    """The last part of a name with dots."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _is_set(node: ast.AST, names: set[str]) -> bool:
    """Whether an expression is a set, as far as it tells."""
    if isinstance(node, ast.Set | ast.SetComp):
        return True
    if isinstance(node, ast.Call):
        return _last_name(node.func) in KINDS | OPERATIONS
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd | ast.Sub):
        sides = [node.left, node.right]
        return any(_is_set(side, names) or _is_keys(side) for side in sides)
    return _spelled(node) in names


def _spelled(node: ast.AST) -> str:
    """A variable by its name, a field by a dot and its name."""
    return f".{node.attr}" if isinstance(node, ast.Attribute) else _last_name(node)


def _is_keys(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _last_name(node.func) == "keys"


def _declared(annotation: ast.expr) -> bool:
    """Whether an annotation says that something is a set."""
    kind = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return _last_name(kind) in KINDS


def _names_of_sets(scope: ast.AST) -> set[str]:
    """The variables, fields and parameters that are declared or made as sets."""
    names: set[str] = set()
    for node in ast.walk(scope):
        if isinstance(node, ast.arg) and node.annotation and _declared(node.annotation):
            names.add(node.arg)
        elif isinstance(node, ast.AnnAssign) and _declared(node.annotation):
            names.add(_spelled(node.target))
        elif isinstance(node, ast.Assign) and _is_set(node.value, set()):
            names.update(map(_spelled, node.targets))
        elif isinstance(node, ast.ClassDef):
            fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
            names.update(
                f".{_last_name(one.target)}" for one in fields if _declared(one.annotation)
            )
    return names - {"", "."}


def _walked(tree: ast.AST) -> Iterator[ast.expr]:
    """The expressions whose elements are taken one after the other, where their order counts."""
    harmless = {
        argument
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _last_name(node.func) in OF_ANY_ORDER
        for argument in node.args
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.YieldFrom):
            yield node.iter if isinstance(node, ast.For) else node.value
        elif isinstance(node, ast.Starred):
            yield node.value
        elif isinstance(node, ast.ListComp | ast.GeneratorExp | ast.DictComp):
            if node not in harmless:
                yield from (one.iter for one in node.generators)
        elif isinstance(node, ast.Call) and _last_name(node.func) in IN_ORDER:
            yield from node.args
        elif isinstance(node, ast.Call) and _last_name(node.func) == "pop" and not node.args:
            yield node.func.value if isinstance(node.func, ast.Attribute) else node.func


def walked_sets(tree: ast.Module) -> list[str]:
    """Where a module takes a set's elements in the order that they happen to have."""
    fields = {name for name in _names_of_sets(tree) if name.startswith(".")}
    outside = [one for one in tree.body if isinstance(one, ast.Assign | ast.AnnAssign)]
    shared = fields.union(*map(_names_of_sets, outside))
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    found: dict[ast.expr, None] = {}
    for scope in [*tree.body, *functions]:
        names = shared | _names_of_sets(scope) if scope in functions else shared
        found.update((one, None) for one in _walked(scope) if _is_set(one, names))
    return [f"{node.lineno}: {ast.unparse(node)}" for node in found]


def test_sets_are_sorted_before_they_are_walked() -> None:
    wrong = [
        f"{shown(path)}:{found}"
        for path in python_files("src")
        if part(path) in {*PURE, "sim"}
        for found in walked_sets(parsed(path))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "code",
    [
        "for one in {1, 2}: pass",
        "for one in set(names) - gone: pass",
        "held: set[str] = f()\nfor one in held: pass",
        "def f(held: frozenset[str]): return [g(one) for one in held]",
        "class A:\n def __init__(self): self.held = set()\n def f(self): return list(self.held)",
        "for one in now.keys() - before.keys(): pass",
        "rows = [*first.union(second)]",
        "text = ', '.join({str(one) for one in rows})",
        "held = set()\none = held.pop()",
        "{one: 1 for one in {1, 2}}",
    ],
)
def test_a_walk_over_a_set_is_found(code: str) -> None:
    assert walked_sets(ast.parse(code))


@pytest.mark.parametrize(
    "code",
    [
        "for one in sorted({1, 2}): pass",
        "held: set[str] = f()\nis_there = 'a' in held",
        "found = {one.name for one in set(rows)}",
        "total = sum(one.size for one in set(rows))",
        "held: dict[str, int] = {}\nfor one in held: pass",
        "for one in held.keys(): pass",
        "stack: list[int] = []\nstack.pop()",
        "def f(): held = set()\ndef g():\n held = [1]\n for one in held: pass",
    ],
)
def test_a_set_that_is_not_walked_is_left_alone(code: str) -> None:
    assert not walked_sets(ast.parse(code))
