"""A node's properties file as the command reads it; what is wrong is told with file and line."""

from pathlib import Path
from typing import NamedTuple

from ottla.cli import Refused
from ottla.config import broker, listeners, log, properties, quorum
from ottla.config.faults import InvalidSettings, MalformedProperties
from ottla.config.known import KNOWN
from ottla.config.settings import Settings
from ottla.core.quorum.voters import Endpoint


class Configuration(NamedTuple):
    """What formatting needs to know of a node."""

    node_id: int
    directories: list[str]
    metadata_directory: str
    has_static_voters: bool
    """Do the settings name the voters, rather than the metadata log?"""
    controller_endpoints: tuple[Endpoint, ...]
    """Where its controller listens; none if it is only a broker."""


def read_settings(path: str) -> Settings:
    """The settings of a file; Refused with every fault, each with its line."""
    try:
        entries = list(properties.entries(Path(path).read_bytes().decode("latin-1")))
    except MalformedProperties as fault:
        raise Refused(f"{path}: {fault}") from None
    lines = {entry.key: entry.line for entry in entries}
    try:
        return Settings.of_broker(KNOWN, {entry.key: entry.value for entry in entries})
    except InvalidSettings as invalid:
        told = [
            f"{path}{f', line {lines[fault.name]}' if fault.name in lines else ''}: {fault}"
            for fault in invalid.faults
        ]
        raise Refused("\n       ".join(told)) from None


def read_configuration(path: str) -> Configuration:
    """What a file says that formatting needs."""
    settings = read_settings(path)
    directories = settings[log.LOG_DIRS]
    names = settings[listeners.CONTROLLER_LISTENER_NAMES]
    is_controller = "controller" in settings[broker.PROCESS_ROLES]
    told = settings[listeners.ADVERTISED_LISTENERS] or []
    endpoints = {one.name: one for one in map(_endpoint, settings[listeners.LISTENERS])}
    endpoints |= {one.name: one for one in map(_endpoint, told)}
    if is_controller and not any(name in endpoints for name in names):
        wanted = ", ".join(names)
        raise Refused(f"{path}: none of controller.listener.names ({wanted}) is in listeners")
    return Configuration(
        settings[broker.NODE_ID],
        directories,
        settings[quorum.METADATA_LOG_DIR] or directories[0],
        bool(settings[quorum.CONTROLLER_QUORUM_VOTERS]),
        tuple(endpoints[name] for name in names if name in endpoints) if is_controller else (),
    )


def _endpoint(text: str) -> Endpoint:
    """Read `NAME://host:port`; without a host it is this machine."""
    name, has_name, address = text.partition("://")
    host, _, port = address.rpartition(":")
    if not (has_name and name and port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise Refused(f"{text!r} is no listener; write NAME://host:port")
    return Endpoint(name.upper(), host.strip("[]") or "localhost", int(port))
