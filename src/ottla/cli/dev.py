"""`ottla dev`: a broker of one's own, up at once, gone without a trace unless asked to stay."""

import argparse
import shutil
import tempfile
from typing import Final

from ottla.broker.broker_life import RegistrationRefused
from ottla.cli import EXIT_FINE, Refused
from ottla.cli.terminal import Terminal
from ottla.kernels.faults import Malformed
from ottla.runtime.process import NodeOptions, NodeProcess
from ottla.storage.directory_faults import DirectoryRefused

PORT: Final = 9092
_DIFFERS: Final = (
    "one node, no replicas: what it loses is lost",
    "nothing waits for the disk: a power cut takes what was written last",
    "no authentication, no encryption; it listens on this machine only",
    "topics come into being when they are first used",
)


class Dev:
    """The command."""

    operands = ""
    description = (
        "Start a broker that clients of Apache Kafka connect to. Its records lie in a temporary\n"
        "directory, which goes when it stops, unless --dir names one that stays."
    )
    examples = "  ottla dev\n  ottla dev --port 19092 --dir ./orders"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=PORT, help=f"0 for any; else {PORT}")
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on")
        parser.add_argument("--dir", help="keep everything in this directory")
        parser.add_argument("--verbose", action="store_true", help="say more of what goes on")

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        port, kept = int(arguments.port), arguments.dir
        folder = str(kept) if kept else tempfile.mkdtemp(prefix="ottla-")
        try:
            level = "DEBUG" if arguments.verbose else "WARN"
            options = NodeOptions([folder], port, str(arguments.host), level=level)
            process = _started(options)
            address = f"{process.address.host}:{process.address.port}"
            process.run(lambda: _say_ready(terminal, address, folder, is_kept=bool(kept)))
        finally:
            if not kept:
                shutil.rmtree(folder, ignore_errors=True)
        return EXIT_FINE


def _started(options: NodeOptions) -> NodeProcess:
    try:
        return NodeProcess(options)
    except (DirectoryRefused, RegistrationRefused, Malformed) as refused:
        raise Refused(str(refused)) from None
    except OSError as fault:
        if fault.filename is not None:
            raise
        where = f"{options.host}:{options.port}"
        raise Refused(f"{where} cannot be listened on: {fault.strerror}") from None


def _say_ready(terminal: Terminal, address: str, folder: str, *, is_kept: bool) -> None:
    terminal.say(f"ready: bootstrap.servers={address}")
    where = folder if is_kept else f"{folder}, until it stops"
    terminal.note(f"records lie in {where}; Ctrl-C stops it")
    terminal.note("try: kafka-console-producer.sh --bootstrap-server " + address + " --topic first")
    for line in _DIFFERS:
        terminal.note(f"not as in production: {line}")


def command() -> Dev:
    """The command, for the table."""
    return Dev()
