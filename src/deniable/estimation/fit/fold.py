"""Fold: sums over some axes of a table, fast also where the table has many short ones."""

from __future__ import annotations

from itertools import groupby
from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from deniable.core.domain import Domain


class Fold:
    """Sums over all axes of a table but some, neighbouring axes taken together: NumPy is slow on many short ones."""

    def __init__(self, domain: Domain, kept: Iterable[str]) -> None:
        wanted = set(kept)
        runs = [
            (inside, prod(len(domain[name]) for name in names))
            for inside, names in groupby(domain, key=wanted.__contains__)
        ]
        self.shape = tuple(size for _, size in runs)
        # The longest first: what is left to sum is then as little as can be.
        others = [axis for axis, (inside, _) in enumerate(runs) if not inside]
        self._others = sorted(others, key=lambda axis: -self.shape[axis])
        self.spread = tuple(size if inside else 1 for inside, size in runs)

    def down(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum; what is summed over stays an axis of length 1, so that the result multiplies a folded table."""
        shape = [*self.shape, values.shape[-1]]
        for axis in self._others:
            left, right = prod(shape[:axis]), prod(shape[axis + 1 :])
            values = np.einsum("ldr->lr", values.reshape(left, shape[axis], right))
            shape[axis] = 1
        return values.reshape(shape)
