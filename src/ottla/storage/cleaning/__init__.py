"""Compaction: keep the last record of each key, and let go of what is spent."""
