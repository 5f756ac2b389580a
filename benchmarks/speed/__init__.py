"""How many a second, and in how much memory, beside peers measured in the same run."""
