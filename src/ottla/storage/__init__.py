"""Logs on disk: segments, indexes, checkpoints, recovery, cleaning; synchronous, over a Disk."""
