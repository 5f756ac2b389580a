"""The smallest survey file, two yes/no questions, for every way to admit respondents and to disguise their answers."""

from __future__ import annotations

INDEPENDENT = '{ kind = "independent" }'
BLOCKS = '{ kind = "blocks", k = 2, block_size = 40 }'
PAIRED = '{ kind = "paired", p = 0.7, rho = -0.1, accept = "a partner who knows the coin" }'


def small_survey(design=INDEPENDENT, admission="open", epsilon=4.0):
    """Its text; more tables may be appended."""
    return f"""
format = 1
name = "small"
title = "Small"
epsilon = {epsilon}
admission = "{admission}"
design = {design}
[[questions]]
name = "a"
text = "?"
kind = "yes-no"
[[questions]]
name = "b"
text = "?"
kind = "yes-no"
"""
