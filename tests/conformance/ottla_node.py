"""A node of ours in a process of its own, for tests that talk to it from outside."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

TIMEOUT_S: Final = 20


@contextmanager
def running_ottla(folder: Path | None = None) -> Iterator[str]:
    """Start `ottla dev`, say where it listens, and stop it cleanly."""
    command = [sys.executable, "-W", "ignore", "-m", "ottla", "dev", "--port", "0"]
    command += [] if folder is None else ["--dir", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        yield process.stdout.readline().strip().partition("=")[2]
        process.terminate()
        _, said = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0, said
