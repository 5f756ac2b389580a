"""The methods of an estimate, a function each: from what reports say to a table; and which of them `auto` is.

Few reports, many cells: "shrink" brings the joint table towards the product of its marginals. The product is wrong by
the dependence it ignores, the unbiased table by its noise. James and Stein's positive-part rule weighs the two by what
the data shows: with D = unbiased - product and V the sum of the unbiased cells' variances,

    weight = max(0, 1 - V / sum(D^2)),     shrunk = product + weight D.

When the distance D is no larger than noise alone would make it, the product is taken as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from deniable.core.table import Table, product
from deniable.errors import InputError
from deniable.estimation.inversion import pooled_inverse
from deniable.estimation.joint_tables.uncovered_tables import ENGINES, forget_blocks
from deniable.estimation.least_squares import least_squares, nearest
from deniable.likelihood.em import MOST_CELLS, maximum_likelihood
from deniable.likelihood.evidence import DENSE_CELLS
from deniable.numerics.simplex import norm_sub
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from deniable.core.domain import Domain
    from deniable.likelihood.covariance_operator import Dispersion
    from deniable.likelihood.efficient_estimate import Efficient
    from deniable.likelihood.evidence import Evidence

Method = Literal[
    "auto", "inversion", "norm_sub", "mle", "wls", "shrink", "product", "loglinear", "ipf", "qp", "l1", "graphical"
]

# Above this many average cells, a typical standard error makes the joint table worse than the product of marginals:
# measured on tables with Cramer's V from 0 to .5, the two cross between 1.5 and 8.
SHRINK_ABOVE = 4.0


@dataclass(frozen=True, eq=False)
class Known:
    """What a table is made of: the unbiased one with its errors, and the evidence behind both."""

    unbiased: Table
    dispersion: Dispersion
    pooled: Efficient | None
    told: Evidence

    @property
    def efficient(self) -> Table:
        """From as many reports as errors are stated from, nothing clipped."""
        if self.pooled is None:
            return self.unbiased
        return Table(self.unbiased.domain, self.pooled.values, self.unbiased.backend)

    @property
    def variances(self) -> NDArray[np.float64]:
        """Of the efficient cells."""
        return (self.pooled or self.dispersion).variances


class Made(NamedTuple):
    """A table by a method, what was done in words, and how many nats a likelihood is short of the best at most."""

    table: Table
    words: str
    gap: float | None = None


def choose(method: str, known: Known) -> tuple[str, list[str]]:
    """Settle "auto", with the reason."""
    if method != "auto":
        return method, []
    unbiased, told = known.unbiased, known.told if known.pooled is None else known.pooled.weighed
    cells = unbiased.values.size
    noise = float(np.sqrt(known.variances.mean())) * cells
    large = f"a typical standard error is {noise:.2g} times the average cell"
    if len(unbiased.domain) > 1 and noise > SHRINK_ABOVE:
        return "shrink", [f"{large}, more than {SHRINK_ABOVE:g}, so the joint table alone would be mostly noise"]
    # The likelihood of what errors are of: sets that count by their moments there do so in the estimate beside them.
    if told.independent and not told.has_likelihood:
        if cells > DENSE_CELLS:
            return "norm_sub", [f"some reports have no likelihood, and {cells} cells are too many for least squares"]
        return "wls", ["some reports are known by their moments alone, which have no likelihood"]
    if len(unbiased.domain) > 1 and cells > MOST_CELLS:
        return "shrink", [f"{cells} cells are too many for maximum likelihood (at most {MOST_CELLS})"]
    return "mle", [large if len(unbiased.domain) > 1 else "one attribute"]


def made_by(method: str, known: Known, gap: float | None) -> Made:
    """The table by a method."""
    if method not in METHODS:
        raise InputError(
            f"there is no method {method!r}; choose from {listed(['auto', *METHODS])}",
            method=method,
        )
    return METHODS[method](known, gap)


def _inversion(known: Known, gap: float | None) -> Made:  # noqa: ARG001 - as every method takes it
    return Made(known.unbiased, "the channel inverted, nothing clipped")


def _projection(known: Known, gap: float | None) -> Made:  # noqa: ARG001
    values = norm_sub(known.efficient.values)
    return Made(_like(known, values), "the nearest table without negative cells")


def _weighted_least_squares(known: Known, gap: float | None) -> Made:  # noqa: ARG001
    pooled = known.pooled
    if pooled is None:
        values = least_squares(known.unbiased.values, known.dispersion)
    else:
        values = nearest(pooled.values.ravel(), pooled.matrix()).reshape(known.unbiased.shape)
    return Made(_like(known, values), "the nearest table without negative cells, distance measured in its errors")


def _maximum_likelihood(known: Known, gap: float | None) -> Made:
    fit = maximum_likelihood(known.told, gap=gap)
    words = "maximum likelihood from all reports that speak of any of them"
    return Made(_like(known, fit.table.values), words, fit.gap)


def _shrunk(known: Known, gap: float | None) -> Made:  # noqa: ARG001
    efficient, domain = known.efficient, known.unbiased.domain
    one_way = [Table(part, norm_sub(_unbiased(known.told, part))) for part in (domain.project(name) for name in domain)]
    target = product(one_way).project(efficient.attributes)
    distance = efficient - target
    squared = float((distance.values**2).sum())
    weight = max(0.0, 1 - float(known.variances.sum()) / squared) if squared > 0 else 0.0
    words = f"shrunk to the product of marginals, of which the joint table kept {weight:.0%}"
    return Made(_like(known, norm_sub((target + distance * weight).values)), words)


def _unbiased(told: Evidence, part: Domain) -> NDArray[np.float64]:
    """What one attribute's reports say; sets miss or exceed a total of one by chance, which is spread evenly."""
    table = pooled_inverse(told, part).estimate
    return table - (table.sum() - 1) / table.size


def _modelled(engine: str, known: Known, gap: float | None) -> Made:  # noqa: ARG001
    fitted, words = ENGINES[engine](forget_blocks(known.told))
    return Made(_like(known, fitted.values), words)


def _like(known: Known, values: NDArray[np.float64]) -> Table:
    return Table(known.unbiased.domain, values, known.unbiased.backend)


METHODS: dict[str, Callable[[Known, float | None], Made]] = {
    "inversion": _inversion,
    "norm_sub": _projection,
    "mle": _maximum_likelihood,
    "wls": _weighted_least_squares,
    "shrink": _shrunk,
    **{engine: partial(_modelled, engine) for engine in ENGINES},
}
