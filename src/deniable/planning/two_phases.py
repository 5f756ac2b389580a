"""Two phases: all pairs first, then the pairs that look dependent. Everybody answers once, so nobody spends more.

Most pairs of many attributes are next to independent, and of those the shares of each attribute say all. After a first
phase, in which some respondents were asked by a design for all wanted tables, `second_phase` makes the design for the
others: pairs that look dependent stay wanted, of the rest only their attributes' shares.

A pair looks dependent when the distance of its table from the product of its margins, d = pi - r c', is refuted to be
nothing by the reports of the first phase: d' (J C J')^+ d, with C the covariance of the efficient estimate and J the
derivative of d, is above the chi-square quantile with (k1 - 1)(k2 - 1) degrees of freedom.

Estimates pool the reports of both phases. Which pairs are asked again depends on reports of the first phase alone, so
those of the second are as good as any; what is shown of the pairs that were chosen is a little more dependent in the
first phase than in truth, as with every choice by looking.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from deniable.aims.aim import Wanted
from deniable.aims.parse import gathered
from deniable.designs.kinds.optimal import Optimal
from deniable.errors import InputError, SourcesDifferWarning
from deniable.estimation.notes.denominators import refuse_unknown_askings
from deniable.estimation.several_sources import ASSOCIATED, differing
from deniable.likelihood.efficient_estimate import efficient_from
from deniable.likelihood.gather import gather

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.core.domain import Variable
    from deniable.estimation.report_sources import Collected

_PAIR = 2


def second_phase(
    reports: Collected,
    wanted: Wanted | str | Sequence[Wanted | str | Sequence[str]],
    epsilon: float,
    *,
    level: float = 0.05,
) -> Optimal:
    """The design for those who have not answered yet.

    Args:
        reports: of the first phase.
        wanted: what the first phase was made for; tables of two attributes are looked at, all else stays wanted.
        epsilon: what each respondent of the second phase may spend.
        level: how often a pair that is independent is taken for dependent.

    >>> import deniable as dn, numpy as np
    >>> domain = dn.Domain({name: [0, 1] for name in "abc"})
    >>> pairs = [["a", "b"], ["a", "c"], ["b", "c"]]
    >>> rng = np.random.default_rng(1)
    >>> truth = dn.Table(domain, np.einsum("ab,c->abc", [[0.4, 0.1], [0.1, 0.4]], [0.3, 0.7]))
    >>> first = dn.Optimal(domain, pairs, 2.0).simulate(truth, 20_000, source=dn.Seeded(1))
    >>> [str(one) for one in second_phase(first, pairs, 2.0, level=1e-4).wanted]
    ['a * b', 'c']
    """
    if not 0 < level < 1:
        raise InputError(f"a level lies between 0 and 1, not {level!r}", level=level)
    kept, alone = [], []
    for one in gathered(wanted):
        if one.is_table and len(one.attributes) == _PAIR and not looks_dependent(reports, one.attributes, level):
            alone += [(name, one.weight) for name in one.attributes]
        else:
            kept.append(one)
    looked_at = [one.attributes for one in gathered(wanted) if one.is_table and len(one.attributes) == _PAIR]
    for said in differing(reports, looked_at, ASSOCIATED):
        warnings.warn(said, SourcesDifferWarning, stacklevel=2)
    told = {name for one in kept if one.is_table for name in one.attributes}
    weights: dict[str, float] = {}
    for name, weight in alone:
        weights[name] = max(weight, weights.get(name, 0.0))
    kept += [Wanted.shares(name, weight=weight) for name, weight in weights.items() if name not in told]
    domain = {v.name: v.categories for one in kept for v in _variables(reports, one.attributes)}
    return Optimal(domain, kept, epsilon)


def looks_dependent(reports: Collected, pair: Sequence[str], level: float) -> bool:
    """Whether the reports refute that two attributes are independent, at a level."""
    from scipy.special import chdtri

    told = gather(reports if not isinstance(reports, tuple) else list(reports), pair)
    refuse_unknown_askings(told.asked)
    found = efficient_from(told)
    table = found.values
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    k, m = table.shape
    # d = pi - r c': its derivative by the cell (i, j) moves the cell itself, row i of the product and column j.
    slope = np.eye(k * m) - np.kron(np.eye(k), np.outer(columns, np.ones(m)))
    slope -= np.kron(np.outer(rows, np.ones(k)), np.eye(m))
    away = (table - np.outer(rows, columns)).ravel()
    covariance = slope @ found.matrix() @ slope.T
    statistic = float(away @ np.linalg.pinv(covariance, rcond=1e-9, hermitian=True) @ away)
    return statistic > float(chdtri((k - 1) * (m - 1), level))


def _variables(reports: Collected, names: Sequence[str]) -> list[Variable]:
    return list(gather(reports if not isinstance(reports, tuple) else list(reports), names).asked.values())
