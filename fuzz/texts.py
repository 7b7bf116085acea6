"""Targets: .properties files, the values of options, the text of ids."""

from collections.abc import Iterator
from typing import Final

from fuzz.target import Target
from ottla.config import log
from ottla.config.faults import ConfigFault, InvalidSettings, MalformedProperties
from ottla.config.kinds import render
from ottla.config.option import Scope
from ottla.config.properties import dump, load
from ottla.config.settings import Settings
from ottla.config.table import Table
from ottla.kernels.faults import Malformed
from ottla.wire.fields import Buffer
from ottla.wire.uuids import uuid_of_text, uuid_text

TABLE: Final = Table.of(log)
ROWS: Final = tuple(TABLE)
_SLACK_BYTES: Final = 512 << 10


def read_properties(data: Buffer) -> dict[str, str]:
    return load(bytes(data))


def comes_back(read: dict[str, str]) -> None:
    """What a file says is said again by the file that is written of it."""
    assert load(dump(read)) == read, "a file is not read as it is written"


def properties_seeds() -> Iterator[bytes]:
    yield b"log.dirs=/a,/b\nlog.segment.bytes = 1048576\n# comment\n! comment\r\nkey:value\rk v\n"
    yield b"a=\\u00e6\\\n  on\\\r\n  and on\\\\\nb\\ c\\:=\\t\\n\\r\\f\\q\n\\ud834\\udd1e=\\ud834\n"
    yield dump({"a b": " c", "#": "!", "\U0001d11e": "\n", "\xe6": "=\t:", "": ""}, "two\nlines")
    yield dump(dict.fromkeys(list(TABLE.at(Scope.BROKER))[:8], "1"))


def read_settings(data: Buffer) -> object:
    """What a broker does with its file: read it, and parse and check every option of it."""
    settings = Settings.of_broker(TABLE, load(bytes(data)))
    return len(settings.unknown), [one.value for one in settings.describe_all()]


def settings_seeds() -> Iterator[bytes]:
    yield from properties_seeds()
    for row in ROWS:
        yield dump({row.name: row.default_text or "1"})


def read_option(data: Buffer) -> object:
    """One byte says which option, the next its scope; the rest is UTF-8, as a request's is."""
    chosen, scope = (data[0], data[1]) if len(data) >= 2 else (0, 0)
    row = ROWS[chosen % len(ROWS)]
    return render(row.parse(str(data[2:], "utf-8", "replace"), tuple(Scope)[scope % len(Scope)]))


def option_seeds() -> Iterator[bytes]:
    texts = ("true", " 1 ", "-1", "1.5e3", "0x1p-3", "NaN", "a, b ,c", "delete,compact", "lz4")
    for chosen, row in enumerate(ROWS):
        for scope in range(len(Scope)):
            for text in (row.default_text or "", texts[chosen % len(texts)]):
                yield bytes([chosen, scope]) + text.encode()


def read_uuid(data: Buffer) -> object:
    uuid = uuid_of_text(str(data, "utf-8", "replace"))
    assert uuid_of_text(uuid_text(uuid)) == uuid, "an id is not read as it is written"
    return uuid


def uuid_seeds() -> Iterator[bytes]:
    for number in range(8):
        yield uuid_text(uuid_of_text(f"{'AZaz09_-'[number]}" * 22)).encode()


_TOKENS: Final = (b"\\u", b"\\\n", b"\\\r\n", b"=", b":", b"\\ud834", b"\\", b" ", b"#", b"\xff")
_VALUES: Final = (
    b"true", b"false", b"-", b"1e", b"0x", b".", b"NaN", b"Infinity", b",", b" ", b"p9", b"\0",
    b"9223372036854775807", b"2147483648", b"\xd9\xa1", b"\xf0\x9d\x9f\x8e", b"*", b":",
)  # fmt: skip

TARGETS: Final = (
    Target("properties", read_properties, properties_seeds, (MalformedProperties,), comes_back,
           tokens=_TOKENS, share=5, ratio_max=100),
    Target("settings", read_settings, settings_seeds,
           (MalformedProperties, InvalidSettings, ConfigFault), tokens=_TOKENS + _VALUES, share=1,
           ratio_max=1000, slack_bytes=_SLACK_BYTES),
    Target("options", read_option, option_seeds, (ConfigFault,), tokens=_VALUES, ratio_max=100),
    Target("uuids", read_uuid, uuid_seeds, (Malformed,), share=3),
)  # fmt: skip
