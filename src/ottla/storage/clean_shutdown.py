"""`.kafka_cleanshutdown`: that a node closed its logs, and in which epoch.

It counts that the file is there; older brokers left it empty. The epoch tells the controller
that nothing was lost, and is none if it cannot be read: then the controller thinks the worst.
"""

from dataclasses import dataclass
from typing import Final

from ottla.kernels.faults import Malformed, Unencodable
from ottla.ports import Disk
from ottla.storage.file_names import CLEAN_SHUTDOWN
from ottla.storage.json_object import integer_of, parse_object
from ottla.storage.small_files import read_file, remove_file
from ottla.storage.text_lines import INT64_MAX

VERSION: Final = 0


@dataclass(frozen=True, slots=True)
class CleanShutdown:
    """The logs were closed; the epoch is None if the file does not say it."""

    broker_epoch: int | None


def parse_clean_shutdown(content: bytes) -> CleanShutdown:
    """Read the file; nothing in it is an error."""
    try:
        fields = parse_object(content.decode(errors="replace"))
        return CleanShutdown(integer_of(fields, "brokerEpoch", INT64_MAX))
    except Malformed:
        return CleanShutdown(None)


def format_clean_shutdown(broker_epoch: int) -> bytes:
    """Write the file."""
    if not -INT64_MAX - 1 <= broker_epoch <= INT64_MAX:
        raise Unencodable(f"{broker_epoch} is too large")
    return f'{{"version":{VERSION},"brokerEpoch":{broker_epoch}}}'.encode()


def take_clean_shutdown(disk: Disk, folder: str) -> CleanShutdown | None:
    """Read the file of a log directory and remove it; None if there is none.

    It must be gone before the first log is opened: a later crash would look like a clean shutdown.
    """
    path = f"{folder}/{CLEAN_SHUTDOWN}"
    found = read_file(disk, path, parse_clean_shutdown)
    if found is not None:
        remove_file(disk, path)
    return found
