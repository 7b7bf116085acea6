"""One module per API, by the name of its messages' own; see `broker.dispatch`."""
