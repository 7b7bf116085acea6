"""Format the log directories of a node, that of the metadata log last."""

import os
from pathlib import Path
from time import time
from typing import Final

from ottla.broker.quorum_files import Formatting, format_metadata_directory
from ottla.cli import EXIT_FINE, Refused
from ottla.cli.client.arguments import pairs
from ottla.cli.log.values import Object, json_line
from ottla.cli.storage.configuration import Configuration, read_configuration
from ottla.cli.storage.format import FormatArguments
from ottla.cli.terminal import Terminal
from ottla.core.metadata.features import FEATURES, KRAFT_VERSION
from ottla.core.metadata.levels import LEVEL_MAX, LEVELS, METADATA_VERSION
from ottla.core.metadata.snapshots import bootstrap_records
from ottla.core.quorum.voters import Endpoint, ReplicaKey, Voter, VoterSet
from ottla.kernels.faults import InvalidValue
from ottla.runtime.disk import SystemDisk
from ottla.storage.directory import format_directory
from ottla.storage.file_names import META_PROPERTIES
from ottla.storage.meta_properties import MetaProperties, parse_meta_properties
from ottla.storage.small_files import read_file
from ottla.wire.fields import Uuid
from ottla.wire.uuids import uuid_of_random, uuid_of_text, uuid_text

_BOOTSTRAP_VERSION: Final = 0


def format_storage(given: FormatArguments, terminal: Terminal) -> int:
    """Do what was asked, and give the exit code."""
    configuration = read_configuration(given.config)
    level, features = _levels(given)
    voters_of = _voters(given, configuration)
    disk = SystemDisk()
    fresh = _unformatted(disk, given, configuration)
    written_ms = int(time() * 1000)
    bootstrap = [(one, _BOOTSTRAP_VERSION) for one in bootstrap_records(level, features)]
    for path in sorted(fresh, key=lambda path: path == configuration.metadata_directory):
        directory_id = uuid_of_random(os.urandom(16))
        meta = MetaProperties(
            cluster_id=given.cluster_id, node_id=configuration.node_id, directory_id=directory_id
        )
        if not given.dry_run:
            Path(path).mkdir(parents=True, exist_ok=True)
            if path == configuration.metadata_directory:
                voters = _with_directory(voters_of, configuration.node_id, directory_id)
                formatting = Formatting(meta, bootstrap, voters)
                format_metadata_directory(disk, path, formatting, written_ms)
            else:
                format_directory(disk, path, meta, written_ms)
        _say(terminal, given, configuration, path, None if given.dry_run else directory_id, level)
    if not fresh:
        terminal.note("every directory is formatted already; nothing was done")
    return EXIT_FINE


def _unformatted(
    disk: SystemDisk, given: FormatArguments, configuration: Configuration
) -> list[str]:
    """The directories that are to be formatted, once it is sure that all may be."""
    paths = dict.fromkeys([*configuration.directories, configuration.metadata_directory])
    fresh: list[str] = []
    for path in paths:
        if Path(path).exists() and not Path(path).is_dir():
            raise Refused(f"{path} is a file, not a directory")
        meta_path = f"{path}/{META_PROPERTIES}"
        there = read_file(disk, meta_path, parse_meta_properties)
        if there is None:
            fresh.append(path)
        elif not given.ignore_formatted:
            raise Refused(
                f"{path} is formatted already, for cluster {there.cluster_id} and node"
                f" {there.node_id}; --ignore-formatted leaves it as it is, or remove its files"
            )
        elif (there.cluster_id, there.node_id) != (given.cluster_id, configuration.node_id):
            raise Refused(
                f"{path} belongs to cluster {there.cluster_id} and node {there.node_id}, not to"
                f" {given.cluster_id} and {configuration.node_id}"
            )
    return fresh


def _levels(given: FormatArguments) -> tuple[int, dict[str, int]]:
    """The metadata.version, and the levels of other features that were asked for."""
    asked = pairs(given.feature, "NAME=LEVEL")
    for name, text in asked.items():
        if name not in (METADATA_VERSION, KRAFT_VERSION, *FEATURES):
            known = ", ".join(sorted([METADATA_VERSION, KRAFT_VERSION, *FEATURES]))
            raise Refused(f"there is no feature {name!r}, only: {known}")
        if not (text.isascii() and text.isdigit()):
            raise Refused(f"the level of {name} is a number, not {text!r}")
    features = {name: int(text) for name, text in asked.items()}
    level = features.pop(METADATA_VERSION, LEVEL_MAX)
    # Whether the log names the voters is said by how they are given.
    features.pop(KRAFT_VERSION, None)
    if given.release_version is not None:
        level = _level_of_release(given.release_version)
    if level not in LEVELS:
        raise Refused(f"metadata.version {level} is none from {min(LEVELS)} to {LEVEL_MAX}")
    for name, wanted in features.items():
        if wanted > len(FEATURES[name]):
            raise Refused(f"{name} has levels 0 to {len(FEATURES[name])}, not {wanted}")
    return level, features


def _level_of_release(text: str) -> int:
    """The level of a release such as 4.2, the last one if it has several, or of one such level."""
    found = [level for level, row in LEVELS.items() if row.name == text]
    found = found or [level for level, row in LEVELS.items() if row.name.startswith(f"{text}-")]
    if not found:
        names = ", ".join(dict.fromkeys(row.name.partition("-")[0] for row in LEVELS.values()))
        raise Refused(f"there is no release {text!r} to format for, only: {names}")
    return max(found)


def _voters(given: FormatArguments, configuration: Configuration) -> list[Voter] | None:
    """The first voters; None where the log does not name them, or others have named them."""
    is_said = given.standalone or given.no_initial_controllers or given.initial_controllers
    if configuration.has_static_voters:
        if is_said:
            raise Refused(f"{given.config} says controller.quorum.voters, so they are not given")
        return None
    endpoints = configuration.controller_endpoints
    if not endpoints:
        if given.standalone or given.initial_controllers:
            raise Refused("this node is only a broker, which does not vote")
        return None
    if given.standalone:
        return [Voter(ReplicaKey(configuration.node_id), endpoints)]
    if given.initial_controllers:
        return [_voter(one, endpoints[0].name) for one in given.initial_controllers.split(",")]
    if not given.no_initial_controllers:
        raise Refused(
            "say who votes: --standalone, --initial-controllers or --no-initial-controllers;"
            f" or {given.config} has to say controller.quorum.voters"
        )
    return None


def _voter(text: str, listener: str) -> Voter:
    """Read `id@host:port:directory`."""
    number, _, rest = text.strip().partition("@")
    address, _, directory = rest.rpartition(":")
    host, _, port = address.rpartition(":")
    if not (number.isdigit() and port.isdigit() and host and int(port) < 1 << 16):
        raise Refused(f"{text!r} is not of the form ID@HOST:PORT:DIRECTORY")
    try:
        directory_id = uuid_of_text(directory)
    except InvalidValue as fault:
        raise Refused(f"{text!r}: {fault}") from None
    endpoint = Endpoint(listener, host.strip("[]"), int(port))
    return Voter(ReplicaKey(int(number), directory_id), (endpoint,))


def _with_directory(
    voters: list[Voter] | None, node_id: int, directory_id: Uuid
) -> VoterSet | None:
    """The voters with the directory of a node that stands alone, whose id is new."""
    if voters is None:
        return None
    own = ReplicaKey(node_id, directory_id)
    is_alone = len(voters) == 1 and voters[0].key == ReplicaKey(node_id)
    return VoterSet([Voter(own, voters[0].endpoints)] if is_alone else voters)


def _say(
    terminal: Terminal,
    given: FormatArguments,
    configuration: Configuration,
    path: str,
    directory_id: Uuid | None,
    level: int,
) -> None:
    is_metadata = path == configuration.metadata_directory
    if given.json:
        found: Object = {
            "directory": path,
            "directory_id": None if directory_id is None else uuid_text(directory_id),
            "cluster_id": given.cluster_id,
            "node_id": configuration.node_id,
            "metadata_version": LEVELS[level].name if is_metadata else None,
            "is_dry_run": given.dry_run,
        }
        terminal.say(json_line(found))
        return
    what = f"metadata directory at {LEVELS[level].name}" if is_metadata else "log directory"
    would = "would be formatted" if given.dry_run else "formatted"
    terminal.say(f"{path} {would}: {what} of node {configuration.node_id}")
