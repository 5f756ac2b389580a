"""How few respondents mathematics allows for the numbers that are wanted, and the channels that come there."""
