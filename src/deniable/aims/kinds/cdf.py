"""Cdf: the distribution function, the shares up to each category but the last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from deniable.aims.aim import Wanted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.core.domain import Domain


@dataclass(frozen=True)
class Cdf(Wanted):
    """The shares up to each category; the last is 1 and nobody needs to ask.

    >>> from deniable.core.domain import Domain
    >>> Cdf(("age",)).rows(Domain({"age": ["young", "middle", "old"]})).tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """

    kind: ClassVar[str] = "cdf"
    example: ClassVar[str] = "cdf(age)"
    estimator: ClassVar[str | None] = "deniable.inference.numbers.aim_estimates.of_cdf"

    def _rows(self, own: Domain, _shares: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.tril(np.ones((own.cells, own.cells)))[:-1]
