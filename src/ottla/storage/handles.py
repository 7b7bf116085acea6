"""Files kept open under a bound, so that a node of any number of segments has descriptors left.

Whoever wants a file asks for it by its path each time, and lets go of it when done. Only the files
used last stay open here. A file that is dropped from here is not closed under its users: it closes
when the last of them lets go, so a slice that is still being sent is sent to its end.

Invariants
  I-HND-1  At most `files_max` files are kept; the one used longest ago is dropped first.
  I-HND-2  A path leads to one kept file at most, and to none once the path was renamed or removed.

Disk threads may ask as well: each step is a single one of the dictionary. Two that ask for one path
at once may open it twice, and then the later file is kept.
"""

from collections import OrderedDict

from ottla.ports import Disk, File


class Handles:
    """The open files of a node's logs."""

    __slots__ = ("_files", "_files_max", "disk")

    def __init__(self, disk: Disk, files_max: int) -> None:
        assert files_max > 0
        self.disk = disk
        self._files: OrderedDict[str, File] = OrderedDict()
        self._files_max = files_max

    def __len__(self) -> int:
        return len(self._files)

    def open(self, path: str, *, create: bool = False) -> File:
        """The file of a path, opened if it is not open; `create` makes it if there is none."""
        file = self._files.pop(path, None)
        if file is None:
            file = self.disk.open(path, create=create)
        self._files[path] = file
        if len(self._files) > self._files_max:
            self._files.popitem(last=False)
        return file

    def drop(self, path: str) -> None:
        """Keep a file no longer; it closes once nobody uses it."""
        self._files.pop(path, None)

    def rename(self, old: str, new: str) -> None:
        """Give a file another name; whoever reads it goes on reading it."""
        self.disk.rename(old, new)
        self.drop(new)
        file = self._files.pop(old, None)
        if file is not None:
            self._files[new] = file

    def remove(self, path: str) -> None:
        """Remove a file; whoever reads it can read it to the end."""
        self.disk.remove(path)
        self.drop(path)
