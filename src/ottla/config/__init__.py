"""Options as rows: what may be set, what is set, and where each value came from."""
