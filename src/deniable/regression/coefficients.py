"""Coefficients: what every fitted regression says of its coefficients.

The picture of a fitted regression: its coefficients with their intervals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special, stats

from deniable.core.results import Interval, TestResult, intervals_by_row
from deniable.errors import InputError
from deniable.estimation.intervals import critical_value
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    from matplotlib.axes import Axes

    from deniable.core.summary import Summary


class Coefficients:
    """The first `main` of some parameters, by their labels; their covariance was computed as `kind` says.

    `freedom` are its degrees of freedom: infinite but for a survey's clusters.
    """

    labels: tuple[Any, ...]
    main: int
    values: Array
    matrix: Array
    kind: str
    freedom: float

    @property
    def degrees(self) -> float:
        """Degrees of freedom of intervals and tests, one at least."""
        return max(self.freedom, 1.0)

    def _series(self, numbers: Array, name: str) -> pd.Series:
        import pandas as pd

        labels = list(self.labels[: self.main])
        index = (
            pd.MultiIndex.from_tuples(labels, names=["category", "term"])
            if isinstance(labels[0], tuple)
            else pd.Index(labels, name="term")
        )
        return pd.Series(numbers[: self.main].copy(), index=index, name=name)

    @property
    def params(self) -> pd.Series:
        """The coefficients, by term; for a multinomial model by (category, term)."""
        return self._series(self.values, "params")

    @property
    def std_error(self) -> pd.Series:
        """Their standard errors."""
        return self._series(np.sqrt(np.diagonal(self.matrix)), "std_error")

    @property
    def pvalue(self) -> pd.Series:
        """Two-sided p-values of each coefficient being zero: `2 (1 - Phi(|b / std_error|))`; of surveys Student's."""
        z = -np.abs(self.params / self.std_error).to_numpy()
        tail = special.ndtr(z) if np.isinf(self.degrees) else special.stdtr(self.degrees, z)
        return self._series(2 * tail, "pvalue")

    @property
    def covariance(self) -> pd.DataFrame:
        """The coefficients' covariance."""
        import pandas as pd

        index = self.params.index
        return pd.DataFrame(self.matrix[: self.main, : self.main].copy(), index=index, columns=index)

    def interval(self, level: float = 0.95) -> Interval:
        """Wald intervals of the coefficients, in the order of `params`."""
        half = critical_value(1 - level, self.degrees) * self.std_error.to_numpy()
        centre = self.params.to_numpy()
        return Interval(centre - half, centre + half, level, f"Wald ({self.kind})")

    def wald_test(self, terms: Iterable[Any]) -> TestResult:
        """Test that the named coefficients are all zero, with whichever covariance the fit has."""
        wanted = [terms] if isinstance(terms, str) else list(terms)
        known = list(self.params.index)
        strangers = [term for term in wanted if term not in known]
        if strangers or not wanted:
            raise InputError(f"no coefficient {listed(strangers)}; there are {listed(known)}")
        rows = [known.index(term) for term in wanted]
        part = self.values[rows]
        statistic = float(part @ np.linalg.solve(self.matrix[np.ix_(rows, rows)], part))
        q, few = len(rows), not np.isinf(self.degrees)
        p = stats.f.sf(statistic / q, q, self.degrees) if few else stats.chi2.sf(statistic, q)
        return TestResult(statistic, float(p), q, f"Wald ({self.kind})")

    def told(self, level: float) -> dict[str, list[Any]]:
        """The coefficients as a table: a row a term."""
        names = [label if isinstance(label, str) else f"{label[0]}: {label[1]}" for label in self.params.index]
        low, high = self.interval(level)
        tail = (1 - level) / 2
        return {
            "term": names,
            "estimate": self.params.tolist(),
            "std error": self.std_error.tolist(),
            "z": (self.params / self.std_error).tolist(),
            "P>|z|": self.pvalue.tolist(),
            f"{tail:.3g}": low.tolist(),
            f"{1 - tail:.3g}": high.tolist(),
        }


def plot_coefficients(summary: Summary, level: float, ax: Axes | None = None) -> Axes:
    """Draw every coefficient with its interval; the intercept says nothing about a predictor and is left out."""
    terms, values, *_, low, high = summary.columns.values()
    kept = [i for i, term in enumerate(terms) if not str(term).endswith("Intercept")] or list(range(len(terms)))
    some = [[column[i] for i in kept] for column in (terms, values, low, high)]
    title = str(summary.facts["model"])
    return intervals_by_row(some[0], some[1], (some[2], some[3]), ax, of="coefficient", level=level, title=title)
