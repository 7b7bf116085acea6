"""Batches, message sets, compression, control batches, and conversion between their formats."""
