"""Grow the corpus: inputs that reach code which none before them reached, found by atheris.

    python -m fuzz.variants uncompiled fuzz.grow [--seconds S] [--target NAME]

Coverage is that of Python's bytecode, so it runs over the uncompiled kernels; atheris chooses
what to go on from, and half of the changes are those of `fuzz.mutation`. It needs `atheris`,
which no other part of the project does.
"""

import argparse
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Final

import atheris

with atheris.instrument_imports(include=["ottla"]):
    from fuzz.corpus import TARGETS, keep, kept, pool
    from fuzz.mutation import Mutator
    from fuzz.reach import fewest
    from fuzz.run import execute, written
    from fuzz.target import Target

INPUT_BYTES_MAX: Final = 512


def grow(target: Target, options: list[str]) -> None:
    """Let atheris call a target; it ends the process."""

    def one(data: bytes) -> None:
        try:
            execute(target, data)
        except Exception as finding:  # noqa: BLE001  Growing goes on; the run shows it again.
            sys.stderr.write(f"FINDING {finding!r}: {written(target, data)}\n")

    random = Random(1)
    mutator = Mutator(pool(target), target.tokens, random)

    def changed(data: bytes, bytes_max: int, seed: int) -> bytes:
        """Half of the changes are ours, which know of lengths, and half the fuzzer's own."""
        random.seed(seed)
        if random.random() < 0.5:
            some = bytearray(atheris.Mutate(data, bytes_max))
        else:
            some = mutator.changed(bytearray(data))
        return bytes(target.repair(some, random)[:bytes_max])

    atheris.Setup(["grow", *options], one, custom_mutator=changed)
    atheris.Fuzz()


def grow_and_keep(target: Target, seconds: float) -> None:
    """Grow, and keep the inputs that reach what the seeds do not."""
    with tempfile.TemporaryDirectory() as folder:
        for data in [*target.seeds(), *kept(target)]:
            Path(folder, sha256(data).hexdigest()).write_bytes(data)
        options = [f"-max_total_time={seconds:.0f}", f"-max_len={INPUT_BYTES_MAX}", folder]
        command = [sys.executable, "-W", "ignore", "-m", "fuzz.grow", "--grow", target.name]
        run = subprocess.run([*command, *options], check=False, capture_output=True, text=True)
        found = [path.read_bytes() for path in Path(folder).iterdir()]
    inputs = fewest(target, found, target.seeds())
    keep(target, inputs)
    said = [line for line in run.stderr.splitlines() if line.startswith(("FINDING", "Done"))]
    print(f"{target.name}: {len(inputs)} of {len(found)} kept, {sum(map(len, inputs))} bytes")
    print(*dict.fromkeys(said), sep="\n", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz.grow")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each target")
    parser.add_argument("--target", choices=sorted(TARGETS), default="")
    parser.add_argument("--grow", choices=sorted(TARGETS), default="", help=argparse.SUPPRESS)
    options, rest = parser.parse_known_args()
    if options.grow:
        grow(TARGETS[options.grow], rest)
    for target in [TARGETS[options.target]] if options.target else TARGETS.values():
        grow_and_keep(target, options.seconds)


if __name__ == "__main__":
    main()
