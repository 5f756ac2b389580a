"""What disguised answers are, once they are there: rows, counts, sets."""
