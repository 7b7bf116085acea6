"""All rows together: found by name, each name once."""

import difflib
import re
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Final, TypeGuard

from ottla.config.option import Option, Scope

_LISTENER_PREFIX: Final = re.compile(
    r"listener\.name\.[^.]*\.(?:(?:gssapi|plain|scram-[^.]*|oauthbearer)\.)?"
)

# A row of whatever type; what it holds is known again once someone asks with the row itself.
Row = Option[object]


class Table:
    """Rows in the order in which they were given; it never changes."""

    __slots__ = ("_names", "_takers", "rows")

    def __init__(self, rows: Iterable[Row]) -> None:
        """Refuse two rows of one name in one scope."""
        self.rows: Final = tuple(rows)
        self._names: Final[dict[Scope, dict[str, Row]]] = {scope: {} for scope in Scope}
        self._takers: Final[dict[Row, list[Row]]] = {}
        for row in self.rows:
            for synonym in row.synonyms:
                self._takers.setdefault(synonym, []).append(row)
            for scope, names in self._names.items():
                name = row.name_at(scope)
                if name in names:
                    raise ValueError(f"two rows for the {scope.value} option {name}")
                if name is not None:
                    names[name] = row

    @classmethod
    def of(cls, *modules: ModuleType) -> "Table":
        """The rows that modules define, in their order; a row that one imports stands once."""
        found: list[object] = [one for module in modules for one in vars(module).values()]
        return cls(dict.fromkeys(one for one in found if _is_row(one)))

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, scope: Scope) -> dict[str, Row]:
        """The rows that can be set in a scope, by their names there."""
        return dict(self._names[scope])

    def get(self, name: str, scope: Scope = Scope.BROKER) -> Row | None:
        """The row of a name; a broker's may have the prefix that ties it to one listener."""
        names = self._names[scope]
        if name not in names and scope is Scope.BROKER:
            name = _LISTENER_PREFIX.sub("", name, count=1)
        return names.get(name)

    def suggestion(self, name: str, scope: Scope = Scope.BROKER) -> str | None:
        """The known name that an unknown one was probably meant to be."""
        near = difflib.get_close_matches(name.strip().lower(), self._names[scope], 1, 0.8)
        return near[0] if near else None

    def family(self, row: Row) -> tuple[Row, ...]:
        """The rows that say the same thing in several units, most precise first; often just one.

        DescribeConfigs shows them together, whichever of them it is asked for.
        """
        if row.unit in ("", "bytes"):
            return (row,)
        stem = row.name.rpartition(".")[0]
        for one in self._taken_from(row):
            if one.name.rpartition(".")[0] == stem:
                return (one, *one.synonyms)
        return (row, *row.synonyms)

    def rivals(self, row: Row) -> tuple[Row, ...]:
        """The other rows that, set in a stronger layer, take this one's value away."""
        found = dict.fromkeys((*self._taken_from(row), *self.family(row)))
        return tuple(one for one in found if one is not row and row in self.family(one))

    def _taken_from(self, row: Row) -> tuple[Row, ...]:
        return tuple(self._takers.get(row, ()))


def _is_row(one: object) -> TypeGuard[Row]:
    return isinstance(one, Option)
