"""How much memory something takes, and nothing that its process makes only once."""

import gc
import tracemalloc
from collections.abc import Callable


def peak_bytes(action: Callable[[], object]) -> int:
    """The most memory that an action holds at one time beyond what was there before it.

    It is done twice and measured the second time: the plan of a message, the modules of a codec
    and the like are made at first use, by whichever test of a process happens to come first. The
    collector rests meanwhile: when it runs depends on those tests as well.
    """
    action()
    gc.disable()
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.enable()
