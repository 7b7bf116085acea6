"""What the command says to a running cluster: one question at a time, over plain sockets."""
