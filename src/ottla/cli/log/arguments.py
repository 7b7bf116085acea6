"""Arguments that the verbs of `ottla log` share."""

import argparse

from ottla.cli import times
from ottla.cli.log.choices import Decoding, Form


class Arguments(argparse.Namespace):
    """What was typed, with its types."""

    paths: list[str]
    topic: str | None
    json: bool
    from_: str | None
    to: str | None
    offset: str | None
    key: str | None
    key_regex: str | None
    header: list[str]
    value_contains: str | None
    key_form: str
    value_form: str
    full: bool
    decode: str
    max: int | None


def declare_paths(parser: argparse.ArgumentParser) -> None:
    """Where to look, and how to answer."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a file, or a folder to look into")
    parser.add_argument(
        "--topic", metavar="GLOB", help="only partitions of these topics, as in 'orders*'"
    )
    parser.add_argument(
        "--json", action="store_true", help="one JSON object a line, its keys stable"
    )


def declare_window(parser: argparse.ArgumentParser) -> None:
    """Which part of a log is asked for."""
    group = parser.add_argument_group("which part", f"A TIME is {times.FORMS}.")
    group.add_argument("--from", dest="from_", metavar="TIME", help="not earlier than this")
    group.add_argument("--to", metavar="TIME", help="earlier than this")
    group.add_argument("--offset", metavar="A..B", help="offsets, both ends included: 5, 5..9, 5..")
    group.add_argument("--max", type=count, metavar="N", help="stop after so many records")


def declare_conditions(parser: argparse.ArgumentParser) -> None:
    """What records must hold."""
    group = parser.add_argument_group("which records (all must hold)")
    group.add_argument("--key", metavar="TEXT", help="the key is exactly this")
    group.add_argument("--key-regex", metavar="REGEX", help="the key has a match of this")
    group.add_argument(
        "--header", metavar="K=V", action="append", default=[], help="a header; K alone: any value"
    )
    group.add_argument("--value-contains", metavar="TEXT", help="the value has this in it")


def declare_forms(parser: argparse.ArgumentParser) -> None:
    """How records are shown."""
    forms = [form.value for form in Form]
    group = parser.add_argument_group("how records are shown")
    group.add_argument("--key-form", choices=forms, default="auto", help=", ".join(forms))
    group.add_argument("--value-form", choices=forms, default="auto", help="the same for values")
    group.add_argument(
        "--full", action="store_true", help="do not cut long values short on a terminal"
    )
    group.add_argument(
        "--decode",
        choices=[decoding.value for decoding in Decoding],
        default="auto",
        metavar="KIND",
        help="records of an internal topic: auto (by its name), none, metadata, groups,"
        " transactions, share, remote-log; secrets in them are never shown",
    )


def count(text: str) -> int:
    """A number of records, at least one."""
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)
