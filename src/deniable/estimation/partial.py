"""Tables from channels that tell only some sums of the shares.

A channel that is made for a mean tells the mean and may tell nothing else; one made for the pairs of three attributes
tells the pairs and not the triple. No such channel can be inverted. Where all reports together still determine the
asked table, the efficient estimate is its unbiased core, with its own errors; where they do not, it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deniable.errors import NotCoveredError
from deniable.frozen import readonly
from deniable.likelihood.covariance_operator import Dispersion
from deniable.likelihood.efficient_estimate import MOST_CELLS, Efficient, efficient_from
from deniable.likelihood.report_likelihoods import is_partial
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from deniable.core.domain import Domain
    from deniable.designs.observation import Observation
    from deniable.likelihood.evidence import Evidence


@dataclass(frozen=True, eq=False)
class OfEvidence(Dispersion):
    """The covariance of the efficient estimate, where no channel can be inverted by itself."""

    pooled: Efficient | None = None

    @property
    def df(self) -> float:
        """Degrees of freedom behind the variances."""
        assert self.pooled is not None
        return self.pooled.df

    @property
    def variances(self) -> NDArray[np.float64]:
        """Per-cell variances."""
        assert self.pooled is not None
        return self.pooled.variances

    def __matmul__(self, w: ArrayLike) -> NDArray[np.float64]:
        """Multiply by a vector over the cells, in the table's shape."""
        assert self.pooled is not None
        return readonly(self.pooled @ w)

    def at(self, truth: NDArray[Any]) -> OfEvidence:  # noqa: ARG002 - the reports' own covariance stands for it
        """Itself: what reports would vary like elsewhere is not known without the channels' inverse."""
        return self


def inverted(observations: Sequence[Observation]) -> list[Observation]:
    """What was seen through channels that can be inverted."""
    return [o for o in observations if not is_partial(o.channel)]


def determined(told: Evidence, domain: Domain, observations: Sequence[Observation]) -> Efficient:
    """The efficient estimate of a table that no channel tells by inversion; refused where reports leave it open."""
    some = [o for o in observations if is_partial(o.channel) and set(domain) & set(o.domain)]
    if told.cells <= MOST_CELLS and told.estimable(told.margin):
        pooled = efficient_from(told)
        if pooled.determined:
            return pooled
    names = listed(sorted({" * ".join(o.domain) for o in some}))
    raise NotCoveredError(
        f"the reports about {names} came through channels that tell only some sums of the shares (such as a mean), and "
        f"the table of {listed(domain)} is none of them. Ask for the numbers that the channels were made for (mean, "
        f"cdf, quantile), or name the table among what is wanted when the design is made",
        attributes=domain.names,
    )
