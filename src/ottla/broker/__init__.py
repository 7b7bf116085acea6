"""Joins what a log holds (`storage`) with what it means (`core`): the node, in time."""
