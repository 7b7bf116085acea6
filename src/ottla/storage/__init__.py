"""The files of a log directory, synchronous, over a `Disk`."""
