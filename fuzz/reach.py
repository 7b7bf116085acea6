"""What inputs reach: the steps from line to line that reading them takes in ottla.

    python -m fuzz.variants uncompiled fuzz.reach [COUNT]

Prints for each target how many steps its seeds take, its corpus beside them, and COUNT changed
inputs beside both (2000).
"""

import re
import sys
from collections.abc import Iterable
from itertools import islice
from types import FrameType
from typing import Any

from fuzz.corpus import TARGETS, kept
from fuzz.replay import inputs
from fuzz.run import written
from fuzz.target import Target


def reached(target: Target, data: bytes) -> set[object]:
    """The steps that reading an input takes, and what came of it."""
    found: set[object] = set()
    before: dict[FrameType, int] = {}

    def step(frame: FrameType, event: str, argument: Any) -> Any:
        del argument
        code = frame.f_code
        if "ottla" not in code.co_filename:
            return None
        if event == "line":
            found.add((code, before.get(frame), frame.f_lineno))
            before[frame] = frame.f_lineno
        return step

    sys.settrace(step)
    try:
        target.read(data)
    except target.faults as fault:
        found.add((type(fault), re.sub("[0-9-]+", "", str(fault))[:60]))
    finally:
        sys.settrace(None)
    return found


def fewest(target: Target, some: Iterable[bytes], known: Iterable[bytes]) -> list[bytes]:
    """Those that reach something which neither the known ones nor shorter ones do."""
    seen: set[object] = set()
    for data in known:
        seen |= reached(target, data)
    found: list[bytes] = []
    for data in sorted(some, key=len):
        try:
            steps = reached(target, data)
        except Exception as finding:  # noqa: BLE001  The run shows it again.
            sys.stderr.write(f"FINDING {finding!r}: {written(target, data)}\n")
            continue
        if not steps <= seen:
            seen |= steps
            found.append(data)
    return found


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    for target in TARGETS.values():
        seen: set[object] = set()
        seeds, corpus = list(target.seeds()), kept(target)
        changed = islice(inputs(target, count), len(seeds) + len(corpus), None)
        counts: list[int] = []
        for some in (seeds, corpus, islice(changed, count)):
            for data in some:
                seen |= {one for one in reached(target, data) if len(one) == 3}
            counts.append(len(seen))
        print(f"{target.name:24}", *(f"{one:>7,}" for one in counts), flush=True)


if __name__ == "__main__":
    main()
