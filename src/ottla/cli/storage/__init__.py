"""`ottla storage`: log directories before a node uses them: ids, formatting, what is there."""
