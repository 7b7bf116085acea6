"""`ottla config`: what is configured on topics, brokers and other resources of a cluster."""
