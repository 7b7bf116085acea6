"""`ottla cluster`: the nodes of a cluster, its quorum, and what they speak."""
