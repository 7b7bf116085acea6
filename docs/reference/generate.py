"""Write the pages of this folder from the tables in the code that they speak of.

Run as `python -m docs.reference.generate` from the project's top. A page is a function that
returns its text; the tidy tests hold every page to what its function says.
"""

from pathlib import Path
from typing import Annotated, Final, get_args, get_origin

from ottla.api.apis import APIS
from ottla.config.known import KNOWN
from ottla.config.option import Scope
from ottla.config.reference import markdown
from ottla.errors import ErrorCode
from ottla.kernels.kinds import KINDS
from ottla.wire import fields

FOLDER: Final = Path(__file__).parent
HEAD: Final = "<!-- Written by docs/reference/generate.py; a change made here is lost. -->\n"

# What the names of the kinds do not say. Length and count are fixed or varint by version.
_ON_THE_WIRE: Final = {
    "bool": "1 byte, 0 or 1",
    "int8": "1 byte, signed",
    "int16": "2 bytes, signed",
    "uint16": "2 bytes",
    "int32": "4 bytes, signed",
    "uint32": "4 bytes",
    "int64": "8 bytes, signed",
    "float64": "8 bytes, IEEE 754",
    "uuid": "16 bytes",
    "string": "length, then UTF-8",
    "bytes": "length, then bytes",
    "records": "length, then batches, which are not copied",
    "array": "count, then elements",
    "struct": "its fields in order, then tagged fields in a flexible version",
}


def _annotations() -> dict[str, str]:
    """How each kind is written in a declaration."""
    written = {"bool": "bool", "uuid": "Uuid", "string": "str", "bytes": "bytes"}
    written |= {"array": "list[...]", "struct": "class ...(Struct)"}
    for name, annotation in vars(fields).items():
        if get_origin(annotation) is Annotated:
            written[get_args(annotation)[1].kind] = name
    return written


def wire_types() -> str:
    """The types that a field of a message may have."""
    written = _annotations()
    rows = "".join(f"| `{kind}` | `{written[kind]}` | {_ON_THE_WIRE[kind]} |\n" for kind in KINDS)
    return (
        f"{HEAD}# Types of fields\n\n"
        "Numbers are big-endian. In a flexible version a length or a count is a varint, one more\n"
        "than what it says, and 0 is null; in others it is four bytes (two for a string), and -1\n"
        "is null.\n\n"
        f"| kind | annotation | on the wire |\n|---|---|---|\n{rows}"
    )


def apis() -> str:
    """The APIs whose messages are declared."""
    rows = "".join(
        f"| {api.key} | {api.name} | {api.versions}{' (latest unstable)' * api.latest_is_unstable}"
        f" | {api.flexible} | {', '.join(api.listeners)} |\n"
        for api in APIS.values()
    )
    return (
        f"{HEAD}# APIs\n\n"
        "Versions are those of Kafka 3.9 and 4.4 together. A node announces what it serves.\n\n"
        f"| key | name | versions | flexible | listeners |\n|---|---|---|---|---|\n{rows}"
    )


def errors() -> str:
    """Every error code."""
    rows = "".join(
        f"| {code.value} | {code.name} | {'yes' if code.retriable else ''} | {code.sentence} |\n"
        for code in ErrorCode
    )
    return f"{HEAD}# Errors\n\n| code | name | retriable | meaning |\n|---|---|---|---|\n{rows}"


def options() -> str:
    """The options that have rows, of brokers and of topics."""
    return (
        f"{HEAD}# Options\n\n## Broker\n\n{markdown(KNOWN)}\n"
        f"## Topic\n\n{markdown(KNOWN, Scope.TOPIC)}"
    )


def pages() -> dict[str, str]:
    """Every generated page by its file's name."""
    return {
        "apis.md": apis(),
        "errors.md": errors(),
        "options.md": options(),
        "wire-types.md": wire_types(),
    }


def main() -> None:
    """Write all pages."""
    for name, text in pages().items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
