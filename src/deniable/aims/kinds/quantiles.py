"""Quantiles: as their derivative at the assumed truth, between the bounds of the category that they fall into.

Where categories have no bounds they are steps of one; what reports then tell is what `deniable.quantile` says, one of
the categories if these are points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from deniable.aims.aim import Wanted, only, spaced
from deniable.aims.category_scores import category_bounds
from deniable.core.input_coercion import without_labels
from deniable.errors import InputError
from deniable.frozen import fix
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.aims.parse import Call
    from deniable.core.domain import Domain, Variable

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class Quantiles(Wanted):
    """Quantiles at `levels`; `edges` are the categories' bounds, one more than categories, by default the bins' own.

    >>> from deniable.core.domain import Domain
    >>> Quantiles(("age",)).rows(Domain({"age": ["< 10", "10 to < 20", "20 to < 30"]})).round(2).tolist()
    [[-1.0, -0.5, 0.0]]
    """

    kind: ClassVar[str] = "quantiles"
    example: ClassVar[str] = "quantiles(age; 0.25 0.5)"
    estimator: ClassVar[str | None] = "deniable.inference.numbers.aim_estimates.of_quantiles"

    levels: Sequence[float] = (0.5,)
    edges: Sequence[float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        fix(self, levels=tuple(self.levels))
        if not self.levels or not all(0 < level < 1 for level in self.levels):
            raise InputError(f"the levels of quantiles lie between 0 and 1, not {listed(self.levels)}")
        if self.edges is not None:
            fix(self, edges=tuple(without_labels(self.edges, "edges")))

    def unit(self, domain: Domain) -> float | None:
        """From the first bound to the last."""
        edges = self._bounds(domain[self.attributes[0]])
        return float(edges[-1] - edges[0])

    def needs(self, domain: Domain) -> Array | None:
        """The whole distribution function."""
        return np.tril(np.ones((domain.project(self.attributes).cells,) * 2))[:-1]

    def _rows(self, own: Domain, shares: Array) -> Array:
        """The derivative by pi of q = edge_j + width_j (level - F_j) / pi_j in category j, F_j the shares before it."""
        variable = only(own)
        edges = np.asarray(self._bounds(variable), dtype=np.float64)
        if edges.shape != (len(variable) + 1,) or not (np.diff(edges) > 0).all():
            raise InputError(
                f"the edges of {variable.name!r} must be {len(variable) + 1} rising numbers, one more than its "
                f"categories",
                attribute=variable.name,
            )
        width = np.diff(edges) / (edges[-1] - edges[0])
        before = np.concatenate([[0.0], np.cumsum(shares)])
        rows = np.zeros((len(self.levels), len(variable)))
        for row, level in zip(rows, self.levels, strict=True):
            j = min(int(np.searchsorted(before, level, side="right")) - 1, len(variable) - 1)
            if not shares[j] > 0:
                raise InputError(f"the assumed truth has nobody where the quantile {level:g} of {variable.name!r} lies")
            row[:j] = -width[j] / shares[j]
            row[j] = -width[j] * (level - before[j]) / shares[j] ** 2
        return rows

    def _bounds(self, variable: Variable) -> Sequence[float]:
        return category_bounds(variable) if self.edges is None else self.edges

    def _written(self) -> list[str]:
        return [spaced(self.levels), *([] if self.edges is None else [f"edges {spaced(self.edges)}"])]

    @classmethod
    def parse(cls, call: Call) -> Self:
        """Read levels, and "edges" with the categories' bounds."""
        given = call.options("edges", bare=True)
        levels = call.numbers(given[""]) if "" in given else (0.5,)
        return cls(call.names(), call.weight, levels, call.numbers(given["edges"]) if "edges" in given else None)
