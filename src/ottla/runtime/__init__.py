"""The real world that drives a node."""
