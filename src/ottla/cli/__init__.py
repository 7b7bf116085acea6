"""What the command `ottla` does; one file per noun."""

import sys
import warnings

from ottla import __version__

USAGE = "usage: ottla [--help | --version]\n"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; its arguments are those of the process unless given."""
    given = sys.argv[1:] if arguments is None else arguments
    if not given:
        sys.stdout.write(_state())
    elif given == ["--version"]:
        sys.stdout.write(f"ottla {__version__}\n")
    elif given in (["--help"], ["-h"]):
        sys.stdout.write(USAGE)
    else:
        sys.stderr.write(f"ottla: no command {' '.join(given)!r} yet\n{USAGE}")
        return 2
    return 0


def _state() -> str:
    """What this installation is, and what it cannot do yet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ottla import kernels  # noqa: PLC0415  Loaded after its warning is silenced.
    words = "compiled" if kernels.compiled else "not compiled (slow)"
    return (
        f"ottla {__version__}, kernels {words}, Python {sys.version.split()[0]}\n"
        "There is no node to start yet: so far Python can read and write the protocol's messages"
        " and the records of logs. README.md shows how.\n"
    )
