"""`ottla record`: records of a running cluster, written and read."""
