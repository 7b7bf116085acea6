"""Where brokers are, as people type it: `host`, `host:port`, `[::1]:9092`, several with commas."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from ottla.cli import Refused

DEFAULT_PORT: Final = 9092
VARIABLE: Final = "OTTLA_BOOTSTRAP"
DEFAULT: Final = "localhost:9092"


class Address(NamedTuple):
    """A host and a port, as a socket takes them."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_addresses(text: str) -> list[Address]:
    """Read a list of addresses; a port that is not said is 9092."""
    found = [_parsed(one.strip()) for one in text.split(",") if one.strip()]
    if not found:
        raise Refused(f"{text!r} names no broker; write host:port, several with commas")
    return found


def bootstrap(given: str | None, environment: Mapping[str, str]) -> list[Address]:
    """The addresses that were typed, or those of the environment, or the usual one here."""
    return parse_addresses(given or environment.get(VARIABLE) or DEFAULT)


def _parsed(text: str) -> Address:
    host, port = text, ""
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":")
        is_well_formed = "]" in text and (not rest or rest.startswith(":"))
    else:
        is_well_formed = True
        if text.count(":") == 1:
            host, _, port = text.partition(":")
            is_well_formed = bool(port)
    if not host or not is_well_formed:
        raise Refused(f"{text!r} is no address of a broker; write host:port or [::1]:port")
    if not port:
        return Address(host, DEFAULT_PORT)
    if not (port.isascii() and port.isdigit() and len(port) < 6 and 0 < int(port) < 1 << 16):
        raise Refused(f"{port!r} in {text!r} is no port; ports go from 1 to 65535")
    return Address(host, int(port))
