"""The shadow of Cython's module has what uncompiled kernels ask of it, and changes nothing."""

import re
from typing import Final

from ottla.kernels import shadow
from tests.tidy.sources import python_files

# Names that have a meaning only in C, so that only a compiled branch can use them.
ONLY_IN_C: Final = {"address", "pointer", "sizeof", "cimports"}


def test_it_has_every_name_that_kernels_use() -> None:
    text = "\n".join(path.read_text() for path in python_files("src/ottla/kernels"))
    used = set(re.findall(r"\bcython\.(\w+)", text)) - ONLY_IN_C
    assert used
    assert {name for name in used if not hasattr(shadow, name)} == set()


def test_decorators_and_conversions_change_nothing() -> None:
    def function() -> int:
        return 1

    module = vars(shadow)
    assert module["cfunc"](function) is function
    assert module["nogil"](function) is function
    assert module["exceptval"](-1, check=False)(function) is function
    assert module["declare"](module["int"], 7) == 7
    assert module["cast"](module["p_char"], function) is function


def test_the_lock_is_a_context_too() -> None:
    with vars(shadow)["nogil"]:
        entered = True
    assert entered
    assert vars(shadow)["compiled"] is False
