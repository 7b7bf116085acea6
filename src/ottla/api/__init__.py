"""Every message of the protocol and of the internal logs, one file per API."""
