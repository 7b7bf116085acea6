"""What the metadata log says of the cluster."""
