"""The unbiased core: invert the channel, and pool samples that speak of the same attributes.

Weights come from the channels and the sample sizes alone, never from the answers, so that pooling keeps the estimate
unbiased: each sample counts in proportion to one over the variance it would have if all cells were equally frequent.

From which reports errors are stated: all that speak of a table, or, where that cannot be, those that cover it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.designs.observation import Observation
from deniable.errors import TooFewReportsError
from deniable.likelihood.covariance_operator import Dispersion, Sample
from deniable.likelihood.efficient_estimate import Efficient, OfEvidence, determined, efficient_from
from deniable.likelihood.evidence import DENSE_CELLS
from deniable.text import counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.core.domain import Domain
    from deniable.likelihood.covariance_operator import Population
    from deniable.likelihood.evidence import Evidence
    from deniable.likelihood.gather import Reported


def pooled_inverse(told: Evidence, part: Domain | None = None, population: Population = "super") -> Dispersion:
    """The unbiased estimate of a table (the asked one by default) from the reports that cover it, and its covariance.

    >>> from deniable.channels.krr import KRR
    >>> from deniable.designs.observation import Observation
    >>> from deniable.likelihood.evidence import of_counts
    >>> found = pooled_inverse(of_counts([Observation("a", KRR(2, 1.0), [60, 40])]))
    >>> found.estimate.round(3).tolist(), found.n
    ([0.716, 0.284], 100)
    """
    domain = told.asked if part is None else part
    seen = [(i, o.narrow(domain) or o) for i, o in enumerate(told.observations) if _covers(o, domain)]
    if not seen:
        raise told.not_covered(domain)
    enough = [(i, o) for i, o in seen if o.n >= 2]
    if not enough:
        n = sum(o.n for _, o in seen)
        raise TooFewReportsError(
            f"only {counted(n, 'report')} about {listed(domain)}; an estimate with an error needs at least 2",
            n=n,
        )
    precision = [o.n / _uniform_variance(o, domain) for _, o in enough]
    samples = [Sample(o, domain, p / sum(precision), i) for (i, o), p in zip(enough, precision, strict=True)]
    return Dispersion(samples, domain, population)


def unbiased_core(told: Evidence) -> Dispersion:
    """The same of any reports that determine the asked table: the efficient estimate where no channel inverts."""
    return pooled_inverse(told) if told.covers else OfEvidence((), told.asked, "super", determined(told))


def _covers(observation: Observation, domain: Domain) -> bool:
    """Whether counts speak of a whole table, through a channel that can be inverted."""
    return set(domain) <= set(observation.domain) and not observation.channel.is_partial


def _uniform_variance(observation: Observation, domain: Domain) -> float:
    """Mean variance per report if all cells were equally frequent: a fixed property of the channel."""
    channel = observation.channel
    even = np.full(channel.input_shape, 1 / channel.inputs)
    per_cell = channel.variance(even, 1)
    # Projecting to fewer attributes adds cells up; their variances add up too but for the small covariances.
    return float(per_cell.sum()) / domain.cells


def pool(told: Evidence, population: Population, sources: Sequence[Reported]) -> tuple[Efficient | None, list[str]]:
    """The estimate from all reports; where only those that cover the table can be used, why."""
    if not told.independent:
        return None, []  # pairs say it themselves
    alone, people = len(told.groups) == 1, None
    if population == "fixed":
        if alone or len(sources) > 1:
            # Several sources are several populations, each of which is fixed.
            return None, [] if alone else ["only the reports that cover the table: several populations are fixed"]
        people = sources[0].population if isinstance(sources[0], Observation) else sources[0].n - told.unasked
    if told.cells > DENSE_CELLS:
        more = f"errors are those of the reports that cover the table: {told.cells} cells are too many to pool others"
        return None, [] if alone else [more]
    pooled = efficient_from(told)
    if not pooled.determined:
        return None, [] if alone else ["errors are those of the reports that cover the table: others add next to none"]
    errors = [] if alone else ["errors from all reports that speak of any of them"]
    return replace(pooled, people=people), errors


def only_covering(told: Evidence) -> Evidence:
    """What the reports say that cover the whole table."""
    kept = tuple(group for group in told.groups if set(told.asked) <= set(group.said.part))
    return replace(told, groups=kept, respondents=None)
