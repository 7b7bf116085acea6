"""Documents written from the rows: a table for readers and a file to start from."""

from collections.abc import Iterator

from ottla.config.option import Scope
from ottla.config.properties import dump
from ottla.config.table import Row, Table

_HEADINGS = ("name", "type", "default", "allowed", "unit", "takes effect", "what it does")


def markdown(table: Table, scope: Scope = Scope.BROKER) -> str:
    """A Markdown table of all options of a scope that are not internal, by name."""
    rows = [_HEADINGS, tuple("---" for _ in _HEADINGS)]
    for name, row in sorted(table.at(scope).items()):
        if not row.internal:
            rows.append(_cells(name, row, scope))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def sample(table: Table) -> str:
    """A server.properties with every option as a comment that holds its default."""
    blocks = ["\n".join(_sample_lines(row)) for row in table if _shown_in_sample(row)]
    return "\n\n".join(blocks) + "\n"


def _shown_in_sample(row: Row) -> bool:
    return row.scope is Scope.BROKER and not row.internal and not row.deprecated


def _sample_lines(row: Row) -> Iterator[str]:
    yield f"# {row.doc}"
    text = row.default_text
    if row.required:
        yield f"# It must be set, to {row.allowed}."
    elif text is None:
        yield (
            f"# Without it: {' or '.join(one.name for one in row.synonyms)}."
            if row.synonyms
            else "# It is not set."
        )
    shown = "" if text is None or row.sensitive else text
    yield f"#{dump({row.name: shown}).decode('latin-1').removesuffix(chr(10))}"


def _cells(name: str, row: Row, scope: Scope) -> tuple[str, ...]:
    change = row.change.value if scope is Scope.BROKER else "at once"
    doc = f"{row.doc} Deprecated: {row.deprecated}" if row.deprecated else row.doc
    cells = (f"`{name}`", row.kind.name, _default(row), row.allowed, row.unit, change, doc)
    return tuple(cell.replace("|", "\\|") for cell in cells)


def _default(row: Row) -> str:
    if row.synonyms:
        return f"as {' or '.join(f'`{one.name}`' for one in row.synonyms)}"
    if row.required:
        return "must be set"
    text = row.shown(row.default_text)
    return "null" if text is None else text or "empty"
