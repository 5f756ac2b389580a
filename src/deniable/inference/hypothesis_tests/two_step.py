"""RRBA's test of independence: two-step maximum likelihood and a Monte Carlo threshold (Imran & Meo, section 6).

Step one makes a table of counts of the noisy estimate T: the paper's eq 7 minimises

    gamma |T - x|_1^2 + (1 - gamma) |T - x|_2^2     over x >= 0, sum x = n.

T sums to n, so what negative cells gain the others must lose. |T - x|_1 is smallest, twice the sum of the negative
cells, for every x that sets these to zero and raises no other; the Euclidean projection to the simplex is such an x. So
it minimises both terms, for every gamma in [0, 1): gamma does nothing. Step two fits independence to x: m = n times the
product of x's marginal shares. The statistic is Pearson's,

    X2 = sum (x - m)^2 / m.

It is not distributed as chi-square (the noise of the coins is in it), so tables are drawn from m, disguised by the same
channels, and run through both steps again. The paper accepts independence whenever a cell of x is below five; that rule
is on by default and can be switched off. It is for reproduction: tests by likelihood are sharper.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.randomness import SECURE, Source, check_source
from deniable.core.results import TestResult
from deniable.errors import InputError
from deniable.estimation.inversion import pooled_inverse
from deniable.numerics.simplex import norm_sub_rows
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.likelihood.covariance_operator import Sample
    from deniable.likelihood.evidence import Evidence


def two_step(
    evidence: Evidence,
    *,
    alpha: float = 0.05,
    replicates: int = 999,
    rule_of_five: bool = True,
    source: Source = SECURE,
) -> TestResult:
    """Test whether two or more attributes are independent of each other, as the paper does.

    Args:
        evidence: what reports say about two or more attributes; some question must cover them.
        alpha: the level for which the threshold is reported; the p-value does not depend on it.
        replicates: how many tables are drawn; more than 1 / alpha.
        rule_of_five: accept (p-value 1) when a cell of the step-one table is below 5.
        source: where the draws come from.
    """
    check_source(source)
    if not 0 < alpha < 1 or replicates <= 1 / alpha:
        raise InputError(f"the threshold at {alpha:g} needs more than {1 / alpha:.0f} replicates, not {replicates}")
    names = evidence.asked.names
    if len(names) < 2:
        raise InputError("independence is between two or more attributes")
    inverse = pooled_inverse(evidence)
    samples = inverse.samples
    if not all(sample.is_direct for sample in samples):
        raise InputError(
            f"some question asks more than {listed(names)}, through a channel that has no form of its own for them; "
            f"test all attributes of that question together"
        )
    shape, n = inverse.domain.shape, inverse.n
    x = norm_sub_rows(inverse.estimate.reshape(1, -1) * n, total=n)
    fitted = independent_rows(x.reshape(-1, *shape)).reshape(1, -1)
    statistic = float(pearson(x, fitted)[0])
    drawn = null_tables(samples, (fitted / n).reshape(shape), replicates, source) * n
    again = norm_sub_rows(drawn, total=n)
    null = pearson(again, independent_rows(again.reshape(-1, *shape)).reshape(replicates, -1))
    threshold = float(np.sort(null)[min(ceil((replicates + 1) * (1 - alpha)), replicates) - 1])
    pvalue = float((1 + (null >= statistic).sum()) / (replicates + 1))
    notes = [f"Threshold at {alpha:g}: {threshold:.4g}, from {replicates} tables drawn under independence."]
    least = float(x.min())
    if rule_of_five and least < 5:
        notes.append(
            f"The step-one table has a cell of {least:.2f}, below 5, so independence is accepted without looking at "
            f"the statistic (its Monte Carlo p-value would be {pvalue:.4f})."
        )
        pvalue = 1.0
    return TestResult(statistic, pvalue, None, "RRBA two-step test of independence (Monte Carlo)", tuple(notes), null)


def pearson(x: NDArray[np.float64], m: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pearson's statistic of every row; a cell in a row or column without anybody adds nothing."""
    return np.divide((x - m) ** 2, m, out=np.zeros_like(x), where=m > 0).sum(axis=1)


def independent_rows(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """For every table (first axis) the one with the same total and one-way margins, and no dependence."""
    axes = range(1, tables.ndim)
    total = tables.sum(axis=tuple(axes), keepdims=True)
    product = total
    for axis in axes:
        product = product * tables.sum(axis=tuple(a for a in axes if a != axis), keepdims=True) / total
    return product


def null_tables(
    samples: Sequence[Sample], pi: NDArray[np.float64], replicates: int, source: Source
) -> NDArray[np.float64]:
    """Noisy estimates of as many respondents as there were, drawn from pi and disguised: a row a replicate.

    To draw a respondent and disguise the answer is to draw the report, so reports are drawn at once as counts.
    """
    rng = source.stream().generator()
    total = np.zeros((replicates, pi.size))
    for sample in samples:
        o = sample.observation
        lam = o.channel.apply(sample.reordered(pi)).ravel()
        counts = rng.multinomial(o.n, lam / lam.sum(), size=replicates).T
        drawn = sample.unbiased(counts.reshape(*o.channel.output_shape, replicates))
        total += sample.weight * drawn.reshape(pi.size, replicates).T
    return total
