"""Which cells of a large matrix `make test` tries: like the black squares of a board, so that no line is left out.

What goes wrong in a matrix of designs and analyses goes wrong along a line of it, or in whole corners: of a design all
analyses that look at the same of it, of an analysis all designs with reports of that form. Every line has half of its
cells here, or a third or a quarter of many. What is repeated is repeated fewer times here, within bounds that are as
rarely missed by chance. `make matrix` says DENIABLE_WHOLE and tries everything, as often as is written.
"""

from __future__ import annotations

import os
from itertools import product

WHOLE = "DENIABLE_WHOLE" in os.environ


def is_tried(row: int, column: int, of: int = 2) -> bool:
    """Whether a cell is tried: one of so many beside each other, and below each other."""
    return WHOLE or (row + column) % of == 0


def one_of(of, cases):
    """Every second case of a list, or third, from the first on: for what a matrix with all of them convicts as well."""
    return [case for place, case in enumerate(cases) if is_tried(place, 0, of)]


def black(rows, columns, of=2):
    """The cells of a board that are tried, for `parametrize` with two names."""
    numbered = product(enumerate(rows), enumerate(columns))
    return [(one, other) for (row, one), (column, other) in numbered if is_tried(row, column, of)]


def times(whole: int, here: int) -> int:
    """How often something is repeated, or how many answers it is made of: in `make matrix`, and in `make test`."""
    return whole if WHOLE else here
