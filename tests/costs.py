"""What something costs, and nothing that depends on what its process did before."""

import gc
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def _no_collection() -> Iterator[None]:
    """Let the collector rest: when it runs, and whom it calls, depends on other tests."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def peak_bytes(action: Callable[[], object], measures: int = 3) -> int:
    """The most memory that an action holds at one time beyond what was there before it.

    It is done once before it is measured: the plan of a message, the modules of a codec and the
    like are made at first use, by whichever test of a process happens to come first. The least of
    some measures counts, since what other threads allocate meanwhile is seen, too: one of them
    receives the names of the tests to run, half a megabyte.
    """
    action()
    return min(_peak_bytes_once(action) for _ in range(measures))


def _peak_bytes_once(action: Callable[[], object]) -> int:
    with _no_collection():
        tracemalloc.start()
        try:
            action()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def calls(action: Callable[[], object], file: str | None = None) -> int:
    """How many functions, Python's or C's, an action calls; if a file is given, code from there."""
    # The action itself is called too, and what ends the counting.
    count = 0 if file else -2

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        del argument
        count += event in {"call", "c_call"} and file in (None, frame.f_code.co_filename)

    before = sys.getprofile()
    with _no_collection():
        sys.setprofile(counted)
        try:
            action()
        finally:
            sys.setprofile(before)
    return count
