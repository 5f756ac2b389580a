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
from deniable.errors import NotCoveredError, TooFewReportsError
from deniable.likelihood.covariance_operator import Sample
from deniable.likelihood.efficient_estimate import MOST_CELLS, Efficient, efficient_from
from deniable.text import counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.core.domain import Domain
    from deniable.designs.reports.reports import Reports
    from deniable.designs.reports.tallies import Tallies
    from deniable.likelihood.covariance_operator import Population
    from deniable.likelihood.evidence import Evidence


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


def pool(
    told: Evidence | None, population: Population, sources: Sequence[Reports | Tallies | Observation]
) -> tuple[Efficient | None, list[str]]:
    """The estimate from all reports; where only those that cover the table can be used, why."""
    if told is None:
        return None, []  # pairs say it themselves
    alone, people = len(told.groups) == 1, None
    if population == "fixed":
        if alone or len(sources) > 1:
            # Several sources are several populations, each of which is fixed.
            return None, [] if alone else ["only the reports that cover the table: several populations are fixed"]
        people = sources[0].population if isinstance(sources[0], Observation) else sources[0].n - told.unasked
    if told.cells > MOST_CELLS:
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
