"""Colours and bars are for terminals; whoever reads a pipe gets lines and nothing else."""

import io

import pytest

from ottla.cli.progress import Progress
from ottla.cli.terminal import Terminal


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Clock:
    """Goes a second further whenever it is looked at, from far ahead."""

    def __init__(self) -> None:
        self.now = 1e12

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.mark.parametrize(
    ("out", "environment", "painted"),
    [
        (Screen(), {}, "\x1b[31mx\x1b[0m"),
        (Screen(), {"NO_COLOR": "1"}, "x"),
        (Screen(), {"NO_COLOR": ""}, "\x1b[31mx\x1b[0m"),
        (Screen(), {"TERM": "dumb"}, "x"),
        (io.StringIO(), {}, "x"),
    ],
)
def test_only_a_terminal_that_wants_it_has_colours(
    out: io.StringIO, environment: dict[str, str], painted: str
) -> None:
    assert Terminal(out, io.StringIO(), environment).paint("x", "red") == painted


def test_a_pipe_sees_no_bar() -> None:
    err = io.StringIO()
    with Terminal(io.StringIO(), err, {}).progress(100) as progress:
        progress.advance(50)
    assert err.getvalue() == ""


def test_a_bar_makes_room_for_each_line() -> None:
    screen = Screen()
    terminal = Terminal(screen, screen, {})
    progress = terminal.progress(1 << 20)
    progress._clock = Clock()
    progress.advance(1 << 19, "a.log")
    terminal.say("found")
    terminal.note("BAD")
    drawn, _, rest = screen.getvalue().partition("\r\x1b[K")
    assert drawn.startswith("\r[##########..........] 50% 512 KiB / 1.0 MiB")
    assert rest == "found\nBAD\n"


def test_a_bar_is_not_drawn_where_the_answer_scrolls_by() -> None:
    screen = Screen()
    progress = Terminal(screen, screen, {}).progress(100, beside_output=False)
    progress._clock = Clock()
    progress.advance(50)
    assert screen.getvalue() == ""


def test_a_bar_says_how_much_how_fast_and_how_long() -> None:
    progress = Progress(None, 4 << 20)
    progress.advance(1 << 20)
    assert progress.line(2.0, "a.log") == (
        "[#####...............] 25% 1.0 MiB / 4.0 MiB 512 KiB/s 6s left a.log"
    )


def test_more_than_was_announced_is_all_of_it() -> None:
    progress = Progress(None, 10)
    progress.advance(40)
    assert progress.line(1.0, "").startswith("[####################] 100% 40 B / 40 B")


def test_short_work_shows_no_bar() -> None:
    screen = Screen()
    with Progress(screen, 100, clock=lambda: 5.0) as progress:
        progress.advance(50)
    assert screen.getvalue() == ""
