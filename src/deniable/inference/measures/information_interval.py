"""The interval of mutual information where cells could be empty: its least and its largest value in likely tables.

Mutual information has no slope where a cell is empty, so no error is that of a tangent, and how much of it there is
depends on cells of which noise leaves nothing to be seen. A table is likely when its likelihood ratio against the best
one stays below a limit. Of one number the ratio is a chi-square with one degree of freedom; every cell that is empty
adds half of another (the best table has it empty, or not, half of the time: Self & Liang 1987). With e cells that could
be empty the limit is therefore the quantile of chi-square with 1 + B degrees of freedom, B binomial(e, 1/2).

At independence information has no slope either: it is a square in d = (r - 1)(c - 1) directions, and noise in all of
them adds to it. The likelihood ratio G of independence is then a chi-square with d degrees of freedom, and one with a
noncentrality D^2 next to it. The least information is 0 unless G is above the 97.5% quantile, that is unless a test of
independence rejects; else D is the least that makes so large a G likely, and the ratio of the table at the lower end
stays below (root G - D)^2. That is 1.96^2 where the association is strong, and more where it is weak.

The ends are found by sequential quadratic programs, from the likeliest table and from those in which cells that could
be empty are empty, or attributes are independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.intervals import critical_value
from deniable.estimation.several_sources import Averaged
from deniable.frozen import Frozen, readonly
from deniable.inference.measures.profile_likelihood import evidence_of
from deniable.likelihood.em import fit
from deniable.likelihood.hypothesis_models import Independence
from deniable.likelihood.quasi_likelihood import countable
from deniable.numerics.root_finding import root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from deniable.estimation.estimate import Estimate
    from deniable.inference.measures.inverted_intervals import Inverted
    from deniable.likelihood.evidence import Evidence

    Array = NDArray[np.float64]

MOST_CELLS = 64  # of the fitted table: a sequential quadratic program has to be solved over it
_EMPTY = 1e-9  # the share of an empty cell, where logarithms still are numbers
SURE = 3.0  # standard errors from zero, from which on a cell is taken not to be empty
_GAP, _ROUNDS = 1e-6, 60
_CLOSE = 1e-9  # of the way to a table: how near it is found how far tables are likely
_HILLS = 2  # that are climbed
_ROUNDING = 1e-3  # of the largest information there is: how far from the end a program may stop, where it has no slope


@dataclass(frozen=True, eq=False)
class LikelyInformation(Frozen):
    """Mutual information, in nats, of the likely tables of two attributes."""

    estimate: Estimate

    @cached_property
    def _seen(self) -> Evidence:
        return countable(evidence_of(self.estimate))

    @property
    def is_small(self) -> bool:
        """Whether the fitted table, with what rides along, is small enough."""
        return evidence_of(self.estimate).cells <= MOST_CELLS

    @cached_property
    def empty(self) -> NDArray[np.bool_]:
        """Which cells could be empty."""
        return readonly(self.estimate.efficient.values < SURE * self.estimate.std_error)

    @cached_property
    def _best(self) -> tuple[Array, float]:
        """The likeliest table, flat, and its log-likelihood."""
        found = fit(self._seen, gap=_GAP, strict=False)
        return readonly(found.pi[..., 0].ravel()), float(found.loglik[0])

    @cached_property
    def _effect(self) -> float:
        """By how much weights and clusters stretch the likelihood ratio."""
        if self.estimate.pooled is None:
            return float(np.mean(self.estimate.dispersion.design_effect))
        best = np.maximum(self._seen.margin @ self._best[0], _EMPTY).reshape(self.estimate.values.shape)
        return max(1.0, float(self.estimate.pooled.along(_slope(best).ravel()).design_effect[0]))

    @cached_property
    def _fall(self) -> float:
        """Twice by how much the likeliest table of independent attributes is less likely than the likeliest of all."""
        found = fit(self._seen, Independence(0, 1), gap=_GAP, strict=False)
        return max(2 * (self._best[1] - float(found.loglik[0])), 0.0)

    def _stretch(self, level: float) -> float:
        """By how much likelihood ratios are larger than of a simple random sample, or its variance is uncertain."""
        return self._effect * (critical_value(1 - level, self.estimate.covariance.df) / critical_value(1 - level)) ** 2

    def limit(self, level: float) -> float:
        """What the likelihood ratio of a likely table stays below."""
        return self._stretch(level) * _mixed_quantile(1 - level, int(self.empty.sum()))

    def lower_limit(self, level: float) -> float:
        """The same of the table with the least information; infinite where a test does not reject independence."""
        r, c = self.estimate.values.shape
        stretch = self._stretch(level)
        return max(self.limit(level), stretch * _limit_below((1 - level) / 2, self._fall / stretch, (r - 1) * (c - 1)))

    def __call__(self, level: float) -> tuple[float, float]:
        """The least and the largest."""
        limit, below = self.limit(level), self.lower_limit(level)
        values, starts = [self._information(self._best[0])], list(self._starts())
        low = 0.0
        if np.isfinite(below):
            low = max(min(values + [self._extreme(start, 1.0, below) for start in starts]), 0.0)
        values += [self._extreme(start, -1.0, limit) for start in (*starts, *self._apart(limit))]
        high, largest = max(values), float(np.log(min(self.estimate.values.shape)))
        return low, min(high + _ROUNDING * largest, largest)

    def _starts(self) -> Iterator[Array]:
        best, shape = self._best[0], self._seen.domain.shape
        yield best
        table = best.reshape(shape)
        r, c = self.estimate.values.shape
        rest = table.reshape(r, c, -1)
        rows, columns = rest.sum(axis=(1, 2)), rest.sum(axis=(0, 2))
        yield np.broadcast_to((np.outer(rows, columns)[..., None] * rest.sum(axis=(0, 1))), rest.shape).ravel()
        if self.empty.any() and not self.empty.all():
            without = np.where(self.empty[..., None], 0.0, rest)
            if without.sum() > 0:
                yield (without / without.sum()).ravel()

    def _apart(self, limit: float) -> list[Array]:
        """Likely tables far from the likeliest, with a row and a column closer together, or further apart.

        There are several hills of information, positive association and negative: the highest few.
        """
        best = self._best[0]
        rest = best.reshape(*self.estimate.values.shape, -1)
        rows, columns, riding = rest.sum(axis=(1, 2)), rest.sum(axis=(0, 2)), rest.sum(axis=(0, 1))
        found = []
        for i in range(len(rows)):
            for j in range(len(columns)):
                closer = np.outer(np.eye(len(rows))[i] - rows, np.eye(len(columns))[j] - columns)
                for direction in (closer, -closer):
                    moved = (direction[..., None] * riding).ravel()
                    falls = moved < -_EMPTY
                    most = float((best[falls] / -moved[falls]).min()) if falls.any() else 1.0
                    table = self._inside(np.maximum(best + most * moved, 0.0), limit)
                    found.append((self._information(table), table))
        found.sort(key=lambda each: -each[0])
        return [table for _, table in found[:_HILLS]]

    def _slack(self, pi: Array, limit: float) -> tuple[float, Array]:
        """By how much a table is more likely than it must be, a report, and how that changes with its cells."""
        loglik, gradient = self._seen.evaluate(np.maximum(pi, _EMPTY).reshape(*self._seen.domain.shape, 1))
        n = max(self._seen.n, 1)
        return (limit - 2 * (self._best[1] - float(loglik[0]))) / n, 2 * gradient.ravel() / n

    def _inside(self, pi: Array, limit: float) -> Array:
        """A table, or if it is not likely the last one that is on the way to it from the likeliest."""
        if self._slack(pi, limit)[0] >= 0:
            return pi
        best = self._best[0]
        share = root(lambda share: self._slack(best + share * (pi - best), limit)[0], 0.0, 1.0, _CLOSE)
        return best + share * (pi - best)

    def _information(self, pi: Array) -> float:
        table = (self._seen.margin @ pi).reshape(self.estimate.values.shape)
        seen = table > 0
        expected = np.outer(table.sum(axis=1), table.sum(axis=0))
        return float((table[seen] * np.log(table[seen] / expected[seen])).sum())

    def _extreme(self, start: Array, sign: float, limit: float) -> float:
        """The least (sign 1) or largest (-1) information of likely tables that is found from a start."""
        from scipy.optimize import minimize

        def information(pi: Array) -> tuple[float, Array]:
            table = np.maximum(self._seen.margin @ pi, _EMPTY).reshape(self.estimate.values.shape)
            slope = _slope(table)
            return sign * float((table * (slope + 1)).sum()), sign * (slope.ravel() @ self._seen.margin)

        known: dict[bytes, tuple[float, Array]] = {}

        def slack(pi: Array) -> tuple[float, Array]:  # the value and the slope are asked for one after the other
            if (place := pi.tobytes()) not in known:
                known.clear()
                known[place] = self._slack(pi, limit)
            return known[place]

        constraints = [
            {"type": "ineq", "fun": lambda x: slack(x)[0], "jac": lambda x: slack(x)[1]},
            {"type": "eq", "fun": lambda x: x.sum() - 1, "jac": np.ones_like},
        ]
        found = minimize(
            information,
            np.maximum(start, _EMPTY),
            jac=True,
            method="SLSQP",
            bounds=[(0.0, 1.0 if share else 0.0) for share in start],  # what starts empty stays so
            constraints=constraints,
            options={"maxiter": _ROUNDS, "ftol": 1e-10},
        )
        pi = np.maximum(found.x, 0.0)
        # What a program ends at may be a little unlikely.
        return self._information(self._inside(pi / pi.sum(), limit))


def with_likely(inverted: Inverted) -> Callable[[float], tuple[float, float]] | None:
    """The ends of an interval of information, from an inverted test where a whole category could be empty, else alone.

    None where no cell could be empty, and the test is enough by itself, or the table is too large.
    """
    likely = LikelyInformation(inverted.estimate)
    of_no_one_likelihood = isinstance(inverted.estimate.dispersion, Averaged)
    if of_no_one_likelihood or not (likely.is_small and likely.empty.any()):
        return None

    def both(level: float) -> tuple[float, float]:
        (low, high), (least, most) = likely(level), inverted(level)
        return min(low, least), max(high, most)

    return both if inverted.warnings else likely


def _slope(table: Array) -> Array:
    """By how much information changes with each cell: log(x_ij / (x_i x_j)) - 1."""
    return np.asarray(np.log(table / np.outer(table.sum(axis=1), table.sum(axis=0))) - 1)


def _limit_below(miss: float, seen: float, df: int) -> float:
    """(root of what was seen, less D)^2, where noncentral chi-square (D^2) exceeds what was seen with a probability.

    Infinite where chi-square itself exceeds it that often: what was seen is no more than noise.

    >>> [round(_limit_below(0.025, seen, 6), 2) for seen in (14.0, 15.0, 30.0, 1000.0)]
    [inf, 11.5, 6.66, 4.17]
    """
    from scipy.stats import chi2, ncx2

    if chi2.sf(seen, df) >= miss:
        return np.inf
    # D is at least zero, and no larger than the root of what was seen, which is exceeded about half of the time.
    least = root(lambda d: float(ncx2.sf(seen, df, d**2)) - miss, 0.0, float(np.sqrt(seen)))
    return float((np.sqrt(seen) - least) ** 2)


def _mixed_quantile(miss: float, empty: int) -> float:
    """What chi-square with 1 + binomial(empty, 1/2) degrees of freedom exceeds with a probability.

    >>> [round(_mixed_quantile(0.05, empty), 2) for empty in (0, 1, 2)]
    [3.84, 5.14, 6.25]
    """
    from scipy.stats import binom, chi2

    df = np.arange(empty + 1)
    share = binom.pmf(df, empty, 0.5)
    most = float(chi2.isf(miss, 1 + empty)) + 1
    return root(lambda x: float(share @ chi2.sf(x, 1 + df)) - miss, 0.0, most)
