"""A simulated world that drives a node: everything in it comes from one seed."""
