"""The unbiased core: invert the channel, and pool samples that speak of the same attributes.

Weights come from the channels and the sample sizes alone, never from the answers, so that pooling keeps the estimate
unbiased: each sample counts in proportion to one over the variance it would have if all cells were equally frequent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import NotCoveredError, TooFewReportsError
from deniable.likelihood.covariance_operator import Sample
from deniable.text import counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.core.domain import Domain
    from deniable.designs.observation import Observation


def covering(observations: Sequence[Observation], domain: Domain) -> list[Sample]:
    """The samples that speak of all asked attributes together, with their weights."""
    found = [o.narrow(domain) or o for o in observations if set(domain) <= set(o.domain)]
    if not found:
        seen = sorted({" * ".join(o.domain) for o in observations})
        raise NotCoveredError(
            f"no respondent was asked about {listed(domain)} together, so their joint table cannot be recovered. The "
            f"reports cover {listed(seen) or 'nothing'}. Ask for a table inside one of these, or use a design that "
            f"asks them together: Independent, Joint, or Views with k={len(domain)}",
            attributes=domain.names,
        )
    enough = [o for o in found if o.n >= 2]
    if not enough:
        n = sum(o.n for o in found)
        raise TooFewReportsError(
            f"only {counted(n, 'report')} about {listed(domain)}; an estimate with an error needs at least 2",
            n=n,
        )
    precision = [o.n / _uniform_variance(o, domain) for o in enough]
    return [Sample(o, domain, p / sum(precision)) for o, p in zip(enough, precision, strict=True)]


def invert(samples: Sequence[Sample]) -> np.ndarray:
    """The pooled unbiased estimate: sum of weight x Q lambda. Cells may be negative; nothing is clipped."""
    return np.sum([sample.weight * sample.estimate for sample in samples], axis=0)


def _uniform_variance(observation: Observation, domain: Domain) -> float:
    """Mean variance per report if all cells were equally frequent: a fixed property of the channel."""
    channel = observation.channel
    even = np.full(channel.input_shape, 1 / channel.inputs)
    per_cell = channel.variance(even, 1)
    # Projecting to fewer attributes adds cells up; their variances add up too but for the small covariances.
    return float(per_cell.sum()) / domain.cells
