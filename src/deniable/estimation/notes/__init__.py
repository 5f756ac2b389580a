"""What is said beside an estimate."""
