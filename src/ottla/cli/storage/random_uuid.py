"""`ottla storage random-uuid`: an id for a new cluster."""

import argparse
import os

from ottla.cli import EXIT_FINE
from ottla.cli.terminal import Terminal
from ottla.wire.uuids import uuid_of_random, uuid_text


class RandomUuid:
    """The verb."""

    operands = ""
    description = "Print a new random id, as `ottla storage format --cluster-id` takes it."
    examples = "  ottla storage random-uuid"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """It takes nothing."""

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        del arguments
        terminal.say(uuid_text(uuid_of_random(os.urandom(16))))
        return EXIT_FINE


def command() -> RandomUuid:
    """What the table of verbs asks for."""
    return RandomUuid()
