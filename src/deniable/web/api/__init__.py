"""The protocol's addresses."""
