"""Numbers computed from one estimated table."""
