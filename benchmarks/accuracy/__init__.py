"""How near estimates come to the truth, beside other mechanisms and the best possible."""
