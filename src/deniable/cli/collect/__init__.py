"""While people answer."""
