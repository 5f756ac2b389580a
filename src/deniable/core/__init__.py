"""What every room speaks in: input that carries labels, and categories that two things have in common."""
