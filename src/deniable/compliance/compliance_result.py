"""What every model of compliance returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from deniable.core.results import Interval, TestResult, frame_of, intervals_by_row
from deniable.core.summary import Shown, Summary
from deniable.estimation.intervals import critical_value
from deniable.frozen import Frozen
from deniable.inference.hypothesis_tests.rao_scott import NONE, untested
from deniable.inference.measures.two_by_two import fieller

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.core.results import Frame

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Compliance(Shown, Frozen):
    """Estimated shares of a model of compliance.

    Attributes:
        model: its name.
        params: the estimates by name, never clipped: a share below 0 or above 1 says that noise reaches that far, or
            that the model is wrong.
        std_error: their standard errors by name.
        constrained: the maximum likelihood estimates with every share between 0 and 1.
        loglik: the log-likelihood of the counts at `params`, without the binomial coefficients.
        n: the number of respondents.
        fit: a goodness-of-fit test, where the model has fewer parameters than the data.
        compliance: a test that everybody does as told, where the model allows one.
        notes: what a reader must know.
        naive: the estimates that a model without any disobedience has in common with this one, by name.
        df: degrees of freedom of the errors: `Sampling.df`; infinite where respondents are independent.
        ratios: which shares are a ratio of two estimates: both of these, and their covariance as four numbers.
    """

    model: str
    params: Mapping[str, float]
    std_error: Mapping[str, float]
    constrained: Mapping[str, float]
    loglik: float
    n: int
    fit: TestResult | None = None
    compliance: TestResult | None = None
    notes: tuple[str, ...] = field(default=())
    naive: Mapping[str, float] = field(default_factory=dict)
    df: float = np.inf
    ratios: Mapping[str, tuple[tuple[float, float], tuple[float, ...]]] = field(default_factory=dict)

    def interval(self, level: float = 0.95) -> Interval:
        """Wald intervals, unclipped, in the order of `params`; of ratios Fieller's, which may have no ends."""
        z = critical_value(1 - level, self.df)
        half, centre = z * np.array(list(self.std_error.values())), np.array(list(self.params.values()))
        low, high = centre - half, centre + half
        for name, (both, spread) in self.ratios.items():
            place = list(self.params).index(name)
            low[place], high[place] = fieller(*both, np.reshape(spread, (2, 2)), z**2)
        return Interval(low, high, level, "Wald and Fieller" if self.ratios else "Wald")

    def _columns(self) -> dict[str, list[Any]]:
        low, high = self.interval()
        return {
            "share": list(self.params),
            "estimate": list(self.params.values()),
            "std error": list(self.std_error.values()),
            "0.025": low.tolist(),
            "0.975": high.tolist(),
            "within [0, 1]": list(self.constrained.values()),
        }

    def to_frame(self) -> Frame:
        """The table as a pyarrow table."""
        return frame_of(self._columns())

    def _tests(self) -> list[TestResult]:
        return [test for test in (self.fit, self.compliance) if test is not None]

    def summary(self) -> Summary:
        """The shares, a row each, and the tests beside them."""
        tests = [test.summary().columns for test in self._tests()]
        beside = {name: [value for test in tests for value in test[name]] for name in tests[0]} if tests else {}
        said = [note for test in self._tests() for note in test.notes]
        title = f"{self.model}, {self.n} respondents"
        return Summary(self._columns(), (*said, *self.notes), title, beside=beside)

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw the shares with their intervals, and beside them what one would find if everybody did as told."""
        low, high = self.interval(level)
        others = {"if everybody did as told": [self.naive.get(name, np.nan) for name in self.params]}
        return intervals_by_row(
            list(self.params),
            list(self.params.values()),
            (low, high),
            ax,
            of="share of respondents",
            level=level,
            beside=others if self.naive else None,
            title=self.model,
            bars=True,
        )


def one_sided(statistic: float, method: str, effect: float = 1.0, df: float = np.inf) -> TestResult:
    """A likelihood ratio test of a share being 0, which it cannot be below.

    Under the hypothesis the statistic is 0 in half of all samples and chi-square with one degree of freedom in the
    other half, so p = Pr(chi2_1 > statistic) / 2, and 1 where the statistic is 0. Of weighted reports the statistic is
    divided by the share's design effect, and the law is F's with 1 and df degrees of freedom.
    """
    if effect <= NONE:
        return untested(method)
    value = max(statistic, 0.0) / effect
    tail = stats.chi2.sf(value, 1) if np.isinf(df) else stats.f.sf(value, 1, df)
    return TestResult(value, 1.0 if value == 0 else float(tail) / 2, 1, method)
