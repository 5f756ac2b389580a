"""The unrelated question whose own prevalence nobody knows: two samples with different devices settle both.

In sample i the sensitive question is asked with probability p_i, else a harmless one (Greenberg et al. 1969):

    lambda_i = p_i pi + (1 - p_i) y,          i = 1, 2.

Two equations, two unknowns: pi = ((1 - p_2) lambda_1 - (1 - p_1) lambda_2) / (p_1 - p_2), and y likewise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.integer_weights import stated
from deniable.core.results import Interval, frame_of, intervals_by_row
from deniable.core.summary import Shown, Summary
from deniable.errors import InputError, SingularChannelError, TooFewReportsError
from deniable.estimation.intervals import critical_value
from deniable.estimation.shown_intervals import none_shown, shown_interval
from deniable.frozen import Frozen, readonly
from deniable.sampling.read_sampling import column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.core.results import Frame

_ROWS = ("sensitive question", "unrelated question")


@dataclass(frozen=True, eq=False)
class TwoSamples(Shown, Frozen):
    """Prevalence of the sensitive answer and of the unrelated one, in this order.

    Attributes:
        p: the probabilities of being asked the sensitive question, a sample each.
        yes: how many said yes, a sample each.
        n: how many were asked, a sample each.
    """

    p: NDArray[np.float64]
    yes: NDArray[np.float64]
    n: NDArray[np.float64]

    @cached_property
    def _inverse(self) -> NDArray[np.float64]:
        return readonly(np.linalg.inv(np.stack([self.p, 1 - self.p], axis=1)))

    @property
    def unbiased(self) -> NDArray[np.float64]:
        """Unbiased estimates of (pi, y); they may lie outside [0, 1]."""
        return self._inverse @ (self.yes / self.n)

    @property
    def covariance(self) -> NDArray[np.float64]:
        """Their covariance, from lambda_i (1 - lambda_i) / (n_i - 1)."""
        share = self.yes / self.n
        return self._inverse @ np.diag(share * (1 - share) / (self.n - 1)) @ self._inverse.T

    @property
    def std_error(self) -> NDArray[np.float64]:
        """Standard errors of the two estimates."""
        return np.sqrt(np.diagonal(self.covariance))

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The likeliest (pi, y) inside [0, 1]: the unbiased ones if they lie there, else the best point of an edge."""
        from scipy.optimize import minimize_scalar

        if ((self.unbiased >= 0) & (self.unbiased <= 1)).all():
            return readonly(self.unbiased)
        # The log-likelihood is concave, so a maximum outside the square means one on its boundary.
        best, found = -np.inf, self.unbiased
        for axis in (0, 1):
            for end in (0.0, 1.0):

                def point(x: float, axis: int = axis, end: float = end) -> NDArray[np.float64]:
                    return np.array([end, x] if axis == 0 else [x, end])

                options = {"xatol": 1e-12}
                edge = minimize_scalar(
                    lambda x, at=point: -self.loglik(at(x)), bounds=(0, 1), method="bounded", options=options
                )
                for x in (0.0, float(edge.x), 1.0):
                    if self.loglik(point(x)) > best:
                        best, found = self.loglik(point(x)), point(x)
        return readonly(found)

    def loglik(self, values: Sequence[float] | NDArray[np.float64]) -> float:
        """Log-likelihood of (pi, y), binomial coefficients left out."""
        from scipy.special import xlog1py, xlogy

        share = self.p * values[0] + (1 - self.p) * values[1]
        return float((xlogy(self.yes, share) + xlog1py(self.n - self.yes, -share)).sum())

    def interval(self, level: float = 0.95, method: str = "mover", *, clip: bool = True) -> Interval:
        """Intervals: "mover" combines the two samples' Wilson intervals (see `Difference.interval`), or "wald".

        They are what 0 to 1 leaves of them, stretched to `values`; with `clip=False` they belong to `unbiased`.
        """
        found = self._unclipped(level, method)
        return shown_interval(found, self.values) if clip else found

    def _unclipped(self, level: float, method: str) -> Interval:
        z = critical_value(1 - level)
        if method == "wald":
            half = z * self.std_error
            return Interval(self.unbiased - half, self.unbiased + half, level, "Wald")
        if method != "mover":
            raise InputError(f'method must be "mover" or "wald", not {method!r}', method=method)
        share = self.yes / self.n
        middle = (share + z**2 / (2 * self.n)) / (1 + z**2 / self.n)
        half = z / (1 + z**2 / self.n) * np.sqrt(share * (1 - share) / self.n + z**2 / (4 * self.n**2))
        down, up = self._inverse * (share - middle + half), self._inverse * (middle + half - share)
        # A negative coefficient turns a sample's interval round.
        below = np.sqrt((np.where(self._inverse > 0, down, up) ** 2).sum(axis=1))
        above = np.sqrt((np.where(self._inverse > 0, up, down) ** 2).sum(axis=1))
        return Interval(self.unbiased - below, self.unbiased + above, level, "Wilson intervals combined (MOVER)")

    def _columns(self) -> dict[str, list[Any]]:
        low, high = self.interval()
        return {
            "yes to": list(_ROWS),
            "estimate": self.values.tolist(),
            "std_error": self.std_error.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "unbiased": self.unbiased.tolist(),
        }

    def to_frame(self) -> Frame:
        """Write the two estimates as a data frame."""
        return frame_of(self._columns())

    def summary(self) -> Summary:
        """Both prevalences, a row each."""
        return Summary(self._columns(), none_shown(_ROWS, self.interval(clip=False)))

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw both prevalences with their intervals."""
        ends = tuple(self.interval(level))
        return intervals_by_row(_ROWS, self.values, (ends[0], ends[1]), ax, of='share of "yes"', level=level, bars=True)


def unrelated_two_samples(first: Any, second: Any, p: Sequence[float]) -> TwoSamples:
    """Estimate from two independent samples asked with different probabilities of the sensitive question.

    Args:
        first: the answers of sample one: 1 for yes, 0 for no.
        second: the answers of sample two.
        p: Pr(the sensitive question is asked) in sample one and in sample two.

    >>> result = unrelated_two_samples([1] * 32 + [0] * 68, [1] * 46 + [0] * 54, p=(0.7, 0.3))
    >>> result.values.round(4).tolist()
    [0.215, 0.565]
    """
    if np.shape(p) != (2,):
        raise InputError(f"p holds two probabilities, one a sample, not {p!r}")
    shares = np.array([float(stated(part, "p")) for part in p])
    if abs(shares[0] - shares[1]) < 1e-9:
        raise SingularChannelError(
            f"both samples were asked the sensitive question with probability {shares[0]:g}, so the two prevalences "
            f"cannot be told apart; the samples' probabilities must differ",
            p=tuple(shares),
        )
    yes, n = [], []
    for answers in (first, second):
        array = column(answers, "the answers")
        if not np.isin(array, (0, 1)).all():
            raise InputError("answers must be 1 for yes and 0 for no")
        if len(array) < 2:
            raise TooFewReportsError(f"a sample has {len(array)} answers; an estimate with an error needs 2")
        yes.append(float(array.sum()))
        n.append(float(len(array)))
    return TwoSamples(shares, np.array(yes), np.array(n))
