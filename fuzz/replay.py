"""Say what comes of every kept input and of some changed ones, a line each, always the same.

    python -m fuzz.replay [COUNT]

Two builds that write the same lines do the same with the same bytes, whatever these are.
"""

import re
import sys
from collections.abc import Iterator
from hashlib import sha256
from random import Random
from typing import Final

from fuzz.corpus import TARGETS, pool
from fuzz.mutation import Mutator
from fuzz.target import Target

FINDING: Final = "FINDING"
_ADDRESS: Final = re.compile(" at 0x[0-9a-f]+")


def inputs(target: Target, count: int) -> Iterator[bytes]:
    """The inputs that a run begins with, and so many made of them."""
    random = Random(target.name)
    mutator = Mutator(pool(target), target.tokens, random)
    yield from mutator.pool
    for _ in range(count * target.share):
        yield bytes(target.repair(mutator.made(), random))


def outcome(target: Target, data: bytes) -> str:
    """What was read, or why not, in words."""
    try:
        value = target.read(data)
        target.check(value)
    except target.faults as fault:
        return f"{type(fault).__name__}: {fault}"
    except Exception as finding:  # noqa: BLE001  Whatever was not expected is what is looked for.
        return f"{FINDING}: {finding!r}"
    return _ADDRESS.sub("", repr(value))


def lines(count: int) -> Iterator[str]:
    """Target, input and outcome, as far as they go on a line, with what tells them apart."""
    for target in TARGETS.values():
        for data in inputs(target, count):
            told = outcome(target, data)
            digest = sha256(data + told.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            yield ascii(f"{target.name} {data[:40].hex()} {digest} {told[:150]}")[1:-1]


if __name__ == "__main__":
    for line in lines(int(sys.argv[1]) if len(sys.argv) > 1 else 0):
        sys.stdout.write(f"{line}\n")
