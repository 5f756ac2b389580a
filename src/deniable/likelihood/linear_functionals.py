"""Linear functionals of a table, from every report that speaks of it: values, covariance, score intervals.

For functionals w, the columns of W over the fitted table's cells, and an efficient estimate with its C (see
`efficient`), a report u of group o pulls w by A_o[u] = (P_o M_o C w)[u] / lambda_o[u]. Everything else follows from
these pulls. The cells of the asked table are such functionals; so are means and points of a distribution function.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable.frozen import Frozen, readonly
from deniable.likelihood.linearization import contributions, moment_pulls
from deniable.likelihood.report_likelihoods import Counted, Moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.likelihood.efficient_estimate import Efficient
    from deniable.likelihood.report_group import Group
    from deniable.sampling.sampling import Linear

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Functionals(Frozen):
    """Some functionals of the table that an efficient estimate is of.

    Attributes:
        of: the estimate.
        along: a column each, over the cells of the fitted table (attributes that ride along too).
    """

    of: Efficient
    along: Array

    @property
    def count(self) -> int:
        """How many."""
        return int(self.along.shape[1])

    @cached_property
    def values(self) -> Array:
        """The estimated functionals."""
        return readonly(self.along.T @ self.of.whole)

    @cached_property
    def toward(self) -> Array:
        """C w, a column each."""
        return readonly(self.of.inverse @ self.along)

    def pulls(self, group: Group) -> Array:
        """A_o: how far each report of a group pulls each functional."""
        if isinstance(group.said, Moments):
            return moment_pulls(group.said) @ (group.said.precision @ group.down(self.toward))
        lam = group.forward(self.of.likely[:, None])
        return np.divide(group.forward(self.toward), lam, out=np.zeros((len(lam), self.count)), where=lam > 0)

    @property
    def linear(self) -> Linear:
        """What every respondent contributes to every functional; see `linearized`."""
        return contributions(self.of.weighed, [self.pulls(group) for group in self.of.weighed.groups])

    @cached_property
    def covariance(self) -> Array:
        """The covariance of the functionals."""
        sampling = self.of.sampling
        if sampling is None:
            return self._plain
        if sampling.replicated is None:
            return readonly(sampling.covariance(self.linear))
        place, table = self.linear
        again = self.of.again(sampling.replicates(place, len(table))) @ self.along
        return readonly(sampling.replicated.covariance(again))

    @cached_property
    def _plain(self) -> Array:
        """The covariance, were weighted counts counts of independent respondents.

        Weights have a mean of one among all respondents, and another among those who were asked something.
        """
        total = np.zeros((self.count, self.count))
        for group in self.of.weighed.groups:
            if isinstance(group.said, Moments):
                own = group.down(self.toward)
                total += own.T @ group.said.precision @ own
                continue
            pulls, n, weight = self.pulls(group), group.said.n, group.counts.sum()
            # A single report does not show how reports vary; there the plausible table does.
            y = group.counts if n > 1 else self._expected(group)
            mean = pulls.T @ y
            total += n / max(n - 1, 1) * ((pulls.T * y) @ pulls - np.outer(mean, mean) / weight)
        if self.of.people is not None:
            people = (self.along.T * self.of.whole) @ self.along - np.outer(self.values, self.values)
            total -= people / max(self.of.people - 1, 1)
        return readonly(total)

    @property
    def design_effect(self) -> Array:
        """How many times the variance that weighted counts would have as counts each has."""
        plain = np.diag(self._plain)
        return np.divide(np.diag(self.covariance), plain, out=np.ones(self.count), where=plain > 0)

    @cached_property
    def std_error(self) -> Array:
        """A standard error each."""
        return readonly(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))

    def _expected(self, group: Group) -> Array:
        """The counts that the plausible table makes one expect."""
        lam = group.forward(self.of.likely[:, None])[:, 0]
        return group.counts.sum() * lam if isinstance(group.said, Counted) else group.counts

    @cached_property
    def variance_at(self) -> tuple[Array, Array, Array]:
        """(a, b, c) with Var = a + b t + c t^2 if a functional were t above its estimate."""
        own = np.einsum("ij,ij->j", self.along, self.toward)  # w' C w
        direction = self.toward / np.where(own > 0, own, 1.0)
        a, b, c = np.zeros(self.count), np.zeros(self.count), np.zeros(self.count)
        for group in self.of.weighed.groups:
            of_group = self._of_moments if isinstance(group.said, Moments) else self._of_reports
            parts = of_group(group, direction)
            a, b, c = a + parts[0], b + parts[1], c + parts[2]
        if self.of.people is not None:
            # w of everybody at hand is known no better for having drawn them: the same less, at estimate + t d.
            squares, rest = self.along**2, max(self.of.people - 1, 1)
            a = a - (squares.T @ self.of.whole - self.values**2) / rest
            b = b - ((squares * direction).sum(axis=0) - 2 * self.values) / rest
            c = c + 1 / rest
        if self.of.sampling is not None:
            a, b, c = a * self.design_effect, b * self.design_effect, c * self.design_effect
        return readonly(a), readonly(b), readonly(c)

    def _of_reports(self, group: Group, direction: Array) -> tuple[Array, Array, Array]:
        pulls, weight = self.pulls(group), group.counts.sum()
        if isinstance(group.said, Counted):
            now, moved = weight * group.forward(self.of.whole[:, None]), weight * group.forward(direction)
        else:
            lam = group.forward(self.of.likely[:, None])
            now, moved = group.counts[:, None], group.counts[:, None] * group.forward(direction) / lam
        mean, shift = (pulls * now).sum(axis=0), (pulls * moved).sum(axis=0)
        flat = (pulls**2 * now).sum(axis=0) - mean**2 / weight
        slope = (pulls**2 * moved).sum(axis=0) - 2 * mean * shift / weight
        return flat, slope, -(shift**2) / weight

    def _of_moments(self, group: Group, direction: Array) -> tuple[Array, Array, Array]:
        """Counts of sets: their second moments are linear in the table, where they are about no more than it."""
        said = group.said
        assert isinstance(said, Moments)
        own = group.down(self.toward)
        weights = said.precision @ own
        if set(said.source.domain) != set(said.part):
            flat = (own * weights).sum(axis=0)
            return flat, np.zeros_like(flat), np.zeros_like(flat)
        channel, n = said.source.channel, max(said.n, 2)
        now, moved = group.down(self.of.whole[:, None])[:, 0], group.down(direction)
        flat, slope, bend = (np.zeros(self.count) for _ in range(3))
        for j in range(self.count):
            w = weights[:, j].reshape(channel.input_shape)
            for into, table in ((flat, now), (slope, moved[:, j])):
                shares = channel.apply(table.reshape(channel.input_shape))
                into[j] = float((w * channel.moments_times(shares, w)).sum())
            mean, shift = float(weights[:, j] @ now), float(weights[:, j] @ moved[:, j])
            flat[j], slope[j], bend[j] = flat[j] - mean**2, slope[j] - 2 * mean * shift, -(shift**2)
        return flat / n, slope / n, bend / n

    def variances_at(self, values: Array) -> Array:
        """What the variance of each functional would be if that were its true value.

        An estimate far outside may make reports negative; then it is that of the plausible table.
        """
        (a, b, c), t = self.variance_at, values - self.values
        there = a + b * t + c * t**2
        return np.where(there > 0, there, self._plausible)

    @property
    def _plausible(self) -> Array:
        """What the variance of each functional would be of the plausible table."""
        own = np.einsum("ij,ij->j", self.along, self.toward)
        return own if self.of.sampling is None else own * self.design_effect

    def score_interval(self, z2: float) -> tuple[Array, Array]:
        """The ends of (estimate - x)^2 = z2 Var(x), for every functional.

        Where none solves it, because the estimate makes reports negative, the variance is that of the plausible table.
        """
        a, b, c = self.variance_at
        lead, middle = 1 - z2 * c, z2 * b / 2
        square = middle**2 + lead * z2 * a
        solved, root = square >= 0, np.sqrt(np.maximum(square, 0.0))
        half = np.sqrt(z2 * np.maximum(self._plausible, 0.0))
        low, high = np.where(solved, (middle - root) / lead, -half), np.where(solved, (middle + root) / lead, half)
        return self.values + low, self.values + high
