"""Rows in aligned columns, as people read them."""

from collections.abc import Iterable, Sequence

from ottla.cli.terminal import Terminal


def say_columns(
    terminal: Terminal, heading: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Write a heading and rows; numbers stand at the right of their column."""
    cells = [[str(cell) for cell in row] for row in rows]
    lines = [list(heading), *cells]
    widths = [max(len(line[at]) for line in lines) for at in range(len(heading))]
    is_number = [
        bool(cells) and all(row[at].lstrip("-").isdigit() for row in cells)
        for at in range(len(heading))
    ]
    for number, line in enumerate(lines):
        padded = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, is_number, strict=True)
        ]
        text = "  ".join(padded).rstrip()
        terminal.say(terminal.paint(text, "bold") if number == 0 else text)
