"""Look at log directories without changing anything."""

from collections.abc import Iterator
from pathlib import Path

from ottla.cli import EXIT_FINE, EXIT_FOUND, Refused
from ottla.cli.log.values import Object, escaped, json_line
from ottla.cli.quantities import shown_count, shown_size
from ottla.cli.storage.configuration import read_configuration
from ottla.cli.storage.info import LookArguments
from ottla.cli.terminal import Terminal
from ottla.kernels.faults import Malformed
from ottla.runtime.disk import SystemDisk
from ottla.storage.file_names import CLEAN_SHUTDOWN, LOCK, META_PROPERTIES
from ottla.storage.meta_properties import MetaProperties, parse_meta_properties
from ottla.storage.partition_folders import list_folders
from ottla.storage.small_files import read_file
from ottla.wire.uuids import uuid_text


def look(given: LookArguments, terminal: Terminal) -> int:
    """Print what is found, and give the exit code."""
    if bool(given.paths) == (given.config is not None):
        raise Refused("name either directories or a properties file with --config")
    paths = given.paths
    if given.config is not None:
        configuration = read_configuration(given.config)
        paths = list(dict.fromkeys([*configuration.directories, configuration.metadata_directory]))
    owners: set[tuple[str | None, int | None]] = set()
    is_bad = False
    for path in paths:
        found = _Found(path)
        owners |= found.owners
        is_bad = is_bad or found.fault is not None
        if given.json:
            terminal.say(json_line(found.as_object()))
        else:
            for line in found.lines():
                terminal.say(line)
    if len(owners) > 1:
        terminal.note("these directories belong to different clusters or nodes")
    return EXIT_FOUND if is_bad or len(owners) > 1 else EXIT_FINE


class _Found:
    """What lies in a directory."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.fault: str | None = None
        self.meta: MetaProperties | None = None
        self.notices: list[str] = []
        disk = SystemDisk()
        if not Path(path).is_dir():
            self.fault = "there is no such directory"
            return
        try:
            self.meta = read_file(disk, f"{path}/{META_PROPERTIES}", parse_meta_properties)
        except Malformed as fault:
            self.fault = str(fault)
            return
        if self.meta is None:
            self.fault = f"it is not formatted: there is no {META_PROPERTIES}"
            return
        self.listing = list_folders(disk, path, lambda one: self.notices.append(str(one)))
        self.size_bytes = sum(_sizes(disk, path))
        self.is_clean = disk.status(f"{path}/{CLEAN_SHUTDOWN}") is not None
        self.is_in_use = _is_locked(disk, f"{path}/{LOCK}")

    @property
    def owners(self) -> set[tuple[str | None, int | None]]:
        """To whom it belongs, if it says so."""
        return set() if self.meta is None else {(self.meta.cluster_id, self.meta.node_id)}

    @property
    def state(self) -> str:
        """How it was left."""
        if self.is_in_use:
            return "in use"
        return "closed cleanly" if self.is_clean else "not closed cleanly"

    def as_object(self) -> Object:
        if self.meta is None:
            return {"directory": self.path, "fault": self.fault}
        directory_id = self.meta.directory_id
        return {
            "directory": self.path,
            "fault": None,
            "cluster_id": self.meta.cluster_id,
            "node_id": self.meta.node_id,
            "directory_id": None if directory_id is None else uuid_text(directory_id),
            "version": self.meta.version,
            "state": self.state.replace(" ", "_"),
            "has_metadata_log": self.listing.metadata_log is not None,
            "partitions_count": len(self.listing.current),
            "future_count": len(self.listing.future),
            "deleted_count": len(self.listing.deleted),
            "stray_count": len(self.listing.stray),
            "size_bytes": self.size_bytes,
            "notices": self.notices,
        }

    def lines(self) -> Iterator[str]:
        if self.meta is None:
            yield f"{escaped(self.path)}: {self.fault}"
            return
        meta, listing = self.meta, self.listing
        of = f"cluster {meta.cluster_id}, node {meta.node_id}"
        yield f"{escaped(self.path)}: {of}, {self.state}, {shown_size(self.size_bytes)}"
        words = [shown_count(len(listing.current), "partition")]
        words += ["the metadata log"] if listing.metadata_log is not None else []
        for folders, name in (
            (listing.future, "being moved here"),
            (listing.deleted, "to be deleted"),
            (listing.stray, "stray"),
        ):
            words += [f"{len(folders)} {name}"] if folders else []
        yield f"  {', '.join(words)}"
        if meta.directory_id is not None:
            yield f"  directory id {uuid_text(meta.directory_id)}"
        for notice in self.notices:
            yield f"  note: {notice}"


def _sizes(disk: SystemDisk, path: str) -> Iterator[int]:
    """What the files in a folder and below hold; what goes away meanwhile counts nothing."""
    for name in disk.names(path):
        status = disk.status(f"{path}/{name}")
        if status is not None and status.is_folder:
            yield from _sizes(disk, f"{path}/{name}")
        elif status is not None:
            yield status.size_bytes


def _is_locked(disk: SystemDisk, path: str) -> bool:
    """Has a process the directory? Without a lock file none has, and none is made."""
    if disk.status(path) is None:
        return False
    lock = disk.lock(path)
    if lock is None:
        return True
    lock.release()
    return False
