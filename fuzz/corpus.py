"""The inputs that are kept: one file a target, each input with its length in front.

They were found by `fuzz.grow`; every one of them reached code that the others do not.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from fuzz.messages import TARGETS as OF_MESSAGES
from fuzz.runs import TARGETS as OF_RUNS
from fuzz.sets import TARGETS as OF_SETS
from fuzz.target import Target
from fuzz.texts import TARGETS as OF_TEXTS

FOLDER: Final = Path(__file__).parent / "corpus"
TARGETS: Final = {target.name: target for target in (*OF_MESSAGES, *OF_RUNS, *OF_SETS, *OF_TEXTS)}
_LENGTH_BYTES: Final = 4


def path_of(target: Target) -> Path:
    """Where a target's inputs are kept."""
    return FOLDER / f"{target.name}.bin"


def kept(target: Target) -> list[bytes]:
    """The inputs that are kept for a target."""
    found: list[bytes] = []
    path = path_of(target)
    data = path.read_bytes() if path.exists() else b""
    position = 0
    while position < len(data):
        start = position + _LENGTH_BYTES
        position = start + int.from_bytes(data[position:start], "big")
        found.append(data[start:position])
    assert position == len(data), f"{path} is cut off"
    return found


def keep(target: Target, inputs: Iterable[bytes]) -> None:
    """Keep these inputs, and no others."""
    ordered = sorted(set(inputs), key=lambda one: (len(one), one))
    packed = b"".join(len(one).to_bytes(_LENGTH_BYTES, "big") + one for one in ordered)
    path_of(target).write_bytes(packed)


def pool(target: Target) -> list[bytes]:
    """What a run begins with."""
    return [*target.seeds(), *kept(target)]
