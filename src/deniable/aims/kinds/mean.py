"""Mean: the mean of the categories' scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from deniable.aims.aim import Wanted, only, scaled, scores_text
from deniable.aims.category_scores import category_scores
from deniable.core.input_coercion import without_labels
from deniable.frozen import fix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.aims.parse import Call
    from deniable.core.domain import Domain, Variable

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class Mean(Wanted):
    """The mean of `scores`, None for a category that stands aside; by default what the categories count as.

    As rows it is scaled to range 1, or a mean of incomes would outweigh every share.

    >>> from deniable.core.domain import Domain
    >>> Mean(("age",)).rows(Domain({"age": [20, 30, 60]})).tolist()
    [[0.0, 0.25, 1.0]]
    """

    kind: ClassVar[str] = "mean"
    example: ClassVar[str] = "mean(age)"
    estimator: ClassVar[str | None] = "deniable.inference.numbers.aim_estimates.of_mean"

    scores: Sequence[float | None] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scores is not None:
            fix(self, scores=tuple(without_labels(self.scores, "scores")))

    def own_rows(self, domain: Domain, truth: Array | None = None) -> Array:
        """Of categories some of which stand aside, the derivative of a quotient."""
        own, shares = self._at(domain, truth)
        sizes = self._sizes(only(own))
        counted = np.array([size is not None for size in sizes])
        values = np.array([0.0 if size is None else size for size in sizes])
        base = float(shares[counted].sum())
        mean = float((values * shares)[counted].sum()) / base
        return (np.where(counted, values - mean, 0.0) / base)[None]

    def unit(self, domain: Domain) -> float | None:
        """From the least score to the largest."""
        counted = [size for size in self._sizes(domain[self.attributes[0]]) if size is not None]
        return max(counted) - min(counted)

    def _rows(self, own: Domain, _shares: Array) -> Array:
        """The scores; of categories that stand aside, a second row tells those who do not."""
        sizes = self._sizes(only(own))
        counted = [size for size in sizes if size is not None]
        if len(counted) == len(sizes):
            return scaled(counted, only(own))[None]
        # The mean of the others is N / D: both are needed, D as much as it moves the quotient at even shares.
        low, width = min(counted), max(counted) - min(counted)
        rows = [[0.0, 0.0] if size is None else [(size - low) / width, 0.5] for size in sizes]
        return np.array(rows).T

    def _sizes(self, variable: Variable) -> list[float | None]:
        return category_scores(variable) if self.scores is None else list(self.scores)

    def _written(self) -> list[str]:
        return [] if self.scores is None else [scores_text(self.scores)]

    @classmethod
    def parse(cls, call: Call) -> Self:
        """Read "scores" and a number a category, "-" for one that stands aside."""
        return cls(call.names(), call.weight, call.scores(call.options("scores")))
