"""Arguments of every verb that talks to a cluster, and what comes of them."""

import argparse
import os

from ottla.cli import Refused
from ottla.cli.client.address import DEFAULT, VARIABLE, bootstrap
from ottla.cli.client.cluster import TIMEOUT_SECONDS, Cluster


class ClusterArguments(argparse.Namespace):
    """What was typed, with its types."""

    bootstrap: str | None
    timeout: float
    json: bool


class ChangeArguments(ClusterArguments):
    """The same for a verb that takes away what cannot be had back."""

    yes: bool


def declare_cluster(parser: argparse.ArgumentParser) -> None:
    """Which cluster, and how to answer."""
    group = parser.add_argument_group("which cluster")
    group.add_argument(
        "-b",
        "--bootstrap",
        metavar="HOST:PORT,...",
        help=f"brokers to begin with; else ${VARIABLE}, else {DEFAULT}",
    )
    group.add_argument(
        "--timeout",
        type=_seconds,
        default=TIMEOUT_SECONDS,
        metavar="SECONDS",
        help="give up after so long (default: %(default)g)",
    )
    parser.add_argument(
        "--json", action="store_true", help="one JSON object a line, its keys stable"
    )


def declare_yes(parser: argparse.ArgumentParser) -> None:
    """For what cannot be undone."""
    parser.add_argument(
        "--yes", action="store_true", help="do it without asking; else it is shown first and asked"
    )


def cluster_of(arguments: ClusterArguments) -> Cluster:
    """The cluster that was named; nothing is connected yet."""
    return Cluster(bootstrap(arguments.bootstrap, os.environ), arguments.timeout)


def pairs(given: list[str], form: str) -> dict[str, str]:
    """Words of the form NAME=VALUE, each name once."""
    found: dict[str, str] = {}
    for word in given:
        name, has_value, value = word.partition("=")
        if not name or not has_value:
            raise Refused(f"{word!r} is not of the form {form}")
        if name in found:
            raise Refused(f"{name!r} is given twice")
        found[name] = value
    return found


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return seconds
