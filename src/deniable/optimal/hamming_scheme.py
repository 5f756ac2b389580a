"""Cells that differ in so many attributes, and the polynomials that turn distances into sums of squares.

Attributes are sorted into groups of as many categories each. Two cells differ in x_j attributes of group j, and a set
of attributes has r_j of them; both are *classes* (0 to n_j for each group). With Krawtchouk's polynomials

    K_r(x) = prod over groups of  sum over i of (-1)^i (k - 1)^(r - i) C(x, i) C(n - x, r - i),

a function f on the cells, with mean over all cells, has parts f^S for every set S of attributes (Efron and Stein), and

    sum over S of class r of |f^S|^2  =  mean over all pairs of cells (u, v) of  f(u) f(v) K_r(distance of u and v).

K_r(0) is the number of contrasts of all sets of class r.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import comb, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import InputError
from deniable.frozen import Frozen, readonly

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from deniable.core.domain import Domain


@dataclass(frozen=True)
class Hamming(Frozen):
    """A domain whose attributes are counted in groups."""

    domain: Domain
    groups: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        named = [name for group in self.groups for name in group]
        alike = all(len({len(self.domain[name]) for name in group}) == 1 for group in self.groups)
        if sorted(named) != sorted(self.domain.names) or not alike:
            raise InputError("groups hold every attribute once, and in each all have as many categories")

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """How many attributes each group has, and how many categories they have."""
        return tuple((len(group), len(self.domain[group[0]])) for group in self.groups)

    @cached_property
    def classes(self) -> tuple[tuple[int, ...], ...]:
        """All classes; the first is that of no attribute."""
        return tuple(product(*(range(n + 1) for n, _ in self.sizes)))

    @cached_property
    def _places(self) -> dict[tuple[int, ...], int]:
        return {one: place for place, one in enumerate(self.classes)}

    @cached_property
    def _homes(self) -> dict[str, int]:
        return {name: place for place, group in enumerate(self.groups) for name in group}

    def place(self, names: Iterable[str]) -> int:
        """The class of a set of attributes, as its place in `classes`."""
        counts = [0] * len(self.groups)
        for name in names:
            counts[self._homes[name]] += 1
        return self._places[tuple(counts)]

    @cached_property
    def polynomials(self) -> NDArray[Any]:
        """K, a row a class of sets, a column a class of distances, in whole numbers."""
        tables = [[[_krawtchouk(r, x, n, k) for x in range(n + 1)] for r in range(n + 1)] for n, k in self.sizes]
        rows = [
            [prod(table[i][j] for table, i, j in zip(tables, r, x, strict=True)) for x in self.classes]
            for r in self.classes
        ]
        return readonly(np.array(rows, dtype=object))


def _krawtchouk(r: int, x: int, n: int, k: int) -> int:
    return sum((-1) ** i * (k - 1) ** (r - i) * comb(x, i) * comb(n - x, r - i) for i in range(r + 1))
