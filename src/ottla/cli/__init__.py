"""What the command `ottla` does; one file per noun."""

import sys
import warnings

from ottla import __version__

USAGE = "usage: ottla [--version]"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; its arguments are those of the process unless given."""
    given = sys.argv[1:] if arguments is None else arguments
    if given and given != ["--version"]:
        sys.stderr.write(f"ottla: no command {given[0]!r} yet\n{USAGE}\n")
        return 2
    sys.stdout.write(_state() if not given else f"ottla {__version__}\n")
    return 0


def _state() -> str:
    """What this installation is, and what it cannot do yet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ottla import kernels  # noqa: PLC0415  Loaded after its warning is silenced.
    words = "compiled" if kernels.compiled else "not compiled (slow)"
    return (
        f"ottla {__version__}, kernels {words}, Python {sys.version.split()[0]}\n"
        "There is no node to start yet: so far messages of the protocol can be declared, decoded"
        " and encoded from Python. README.md shows how.\n"
    )
