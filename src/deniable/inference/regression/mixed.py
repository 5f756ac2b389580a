"""A random intercept for disguised yes-or-no answers.

Group g shares an unseen shift s b_g of the linear predictor, b_g normal with variance 1:

    L_g = integral of  prod over its rows of  Pr(report_i | x_i'beta + s b)  phi(b)  db.

The integral is taken by adaptive Gauss-Hermite quadrature: nodes are placed around each group's mode m_g with its
curvature's width w_g, so that a dozen of them do. Derivatives: by Fisher's identity, the gradient is the posterior mean
of the complete data's; the Hessian is its difference quotient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from deniable.errors import ConvergenceError, DivergenceError, InputError, TooFewReportsError
from deniable.estimation.intervals import critical_value
from deniable.frozen import Frozen
from deniable.inference.regression.binary import logit
from deniable.inference.regression.covariance import inverse
from deniable.inference.regression.drawing import plot_coefficients
from deniable.inference.regression.fit import newton_step
from deniable.inference.regression.model import membership
from deniable.results import Interval, TestResult
from deniable.summary import Shown, Summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.domain import Category
    from deniable.inference.regression.links import Link
    from deniable.inference.regression.outcome import Channels
    from deniable.inference.regression.result import Regression

    Array = NDArray[np.float64]

NODES = 25


@dataclass(frozen=True)
class Marginal:
    """The log-likelihood of (beta, log s), the random intercept integrated out."""

    design: Array
    chance: Array
    groups: NDArray[np.intp]
    link: Link
    nodes: int = NODES

    @property
    def count(self) -> int:
        """How many groups there are."""
        return int(self.groups.max()) + 1

    def value(self, params: Array) -> tuple[float, Array]:
        """The log-likelihood and its gradient."""
        eta, scale = self.design @ params[:-1], float(np.exp(params[-1]))
        mode, width = self._modes(eta, scale)
        points, weights = special.roots_hermite(self.nodes)
        # b = m + sqrt(2) w t turns the integral of h(b) into  sqrt(2) w sum of weights e^(t^2) h(b).
        b = mode[:, None] + np.sqrt(2) * width[:, None] * points
        row = eta[:, None] + scale * b[self.groups]
        logs, slopes, _ = self._rows(row)
        inner = self._sum(logs) - b**2 / 2 - np.log(2 * np.pi) / 2 + points**2 + np.log(weights)
        highest = inner.max(axis=1, keepdims=True)
        mass = np.exp(inner - highest)
        total = mass.sum(axis=1)
        log_group = highest[:, 0] + np.log(total) + np.log(np.sqrt(2) * width)
        posterior = (mass / total[:, None])[self.groups]
        pull = (posterior * slopes).sum(axis=1)
        shift = (posterior * slopes * b[self.groups]).sum() * scale
        return float(log_group.sum()), np.append(self.design.T @ pull, shift)

    def _rows(self, eta: Array) -> tuple[Array, Array, Array]:
        """Log L, d log L / d eta and the second derivative, of every row at every node."""
        low, high, density, slope = self.link.parts(eta)
        r0, r1 = self.chance[:, :1], self.chance[:, 1:]
        chance = np.maximum(r0 * low + r1 * high, 1e-300)
        first = (r1 - r0) * density / chance
        return np.log(chance), first, (r1 - r0) * slope / chance - first**2

    def _sum(self, rows: Array) -> Array:
        """Add rows up within groups."""
        return np.stack([np.bincount(self.groups, column, self.count) for column in rows.T], axis=1)

    def _modes(self, eta: Array, scale: float) -> tuple[Array, Array]:
        """Where each group's integrand is highest, and how wide it is there (never wider than the prior)."""
        b = np.zeros(self.count)
        for _ in range(50):
            _, first, second = self._rows((eta + scale * b[self.groups])[:, None])
            slope = scale * self._sum(first)[:, 0] - b
            # The prior alone has curvature 1: with a floor of that size every step is safe.
            curve = np.maximum(1 - scale**2 * self._sum(second)[:, 0], 1.0)
            step = np.clip(slope / curve, -2, 2)
            b = b + step
            if np.abs(step).max() < 1e-8:
                break
        return b, 1 / np.sqrt(curve)

    def evaluate(self, params: Array) -> tuple[float, Array, Array]:
        """Value, gradient and Hessian."""
        value, gradient = self.value(params)
        hessian = np.empty((len(params), len(params)))
        for place in range(len(params)):
            change = np.zeros(len(params))
            change[place] = 1e-5
            hessian[place] = (self.value(params + change)[1] - self.value(params - change)[1]) / 2e-5
        return value, gradient, (hessian + hessian.T) / 2


@dataclass(frozen=True, eq=False, repr=False)
class RandomIntercept(Shown, Frozen):
    """A fitted random-intercept model.

    Attributes:
        formula: as it was given.
        fixed: the fit without the random intercept, from which this one started.
        values: beta and log s.
        matrix: their covariance, from the observed Hessian.
        loglik: the marginal log-likelihood.
        groups: how many groups there are.
        between: which column names them.
    """

    formula: str
    fixed: Regression
    values: Array
    matrix: Array
    loglik: float
    groups: int
    between: str

    def _series(self, numbers: Array, name: str) -> pd.Series:
        import pandas as pd

        return pd.Series(numbers[:-1], index=self.fixed.params.index, name=name)

    @property
    def params(self) -> pd.Series:
        """The coefficients by term, for a respondent of a given group."""
        return self._series(self.values, "params")

    @property
    def std_error(self) -> pd.Series:
        """Their standard errors."""
        return self._series(np.sqrt(np.diagonal(self.matrix)), "std_error")

    @property
    def scale(self) -> float:
        """s, the standard deviation between groups on the scale of the linear predictor."""
        return float(np.exp(self.values[-1]))

    @property
    def scale_std_error(self) -> float:
        """Its standard error, s times that of log s."""
        return self.scale * float(np.sqrt(self.matrix[-1, -1]))

    @property
    def df(self) -> int:
        """The number of parameters."""
        return len(self.values)

    @property
    def aic(self) -> float:
        """-2 loglik + 2 df."""
        return -2 * self.loglik + 2 * self.df

    def interval(self, level: float = 0.95) -> Interval:
        """Wald intervals of the coefficients."""
        half = critical_value(1 - level) * self.std_error.to_numpy()
        return Interval(self.params.to_numpy() - half, self.params.to_numpy() + half, level, "Wald (hessian)")

    def no_groups(self) -> TestResult:
        """Likelihood ratio test of s = 0, which is on the boundary: p = Pr(chi2_1 > statistic) / 2."""
        statistic = max(2 * (self.loglik - self.fixed.loglik), 0.0)
        pvalue = float(special.erfc(np.sqrt(statistic / 2))) / 2 if statistic > 0 else 1.0
        return TestResult(statistic, pvalue, 1, f"no difference between groups of {self.between}")

    def summary(self, level: float = 0.95) -> Summary:
        """A table as text or HTML."""
        low, high = self.interval(level)
        facts = {
            "model": f"{self.fixed.model} with a random intercept per {self.between}, {self.formula}",
            "outcome through": self.fixed.channel,
            "reports": self.fixed.n,
            "groups": self.groups,
            "log-likelihood": self.loglik,
            "AIC": self.aic,
        }
        table = {
            "term": list(map(str, self.params.index)),
            "estimate": self.params.tolist(),
            "std error": self.std_error.tolist(),
            "z": (self.params / self.std_error).tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
        }
        beside: dict[str, list[Any]] = {
            "between groups": ["standard deviation"],
            "estimate": [self.scale],
            "std error": [self.scale_std_error],
        }
        return Summary(table, facts=facts, beside=beside)

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw every coefficient but the intercept with its interval."""
        return plot_coefficients(self.summary(level), level, ax)

    def __repr__(self) -> str:
        return f"<random intercept per {self.between}: {self.formula}; log-likelihood {self.loglik:.4f}>"


def random_intercept(
    formula: str,
    frame: Any,
    channel: Channels = None,
    *,
    groups: str,
    design_column: str | None = None,
    categories: Sequence[Category] | None = None,
    nodes: int = NODES,
) -> RandomIntercept:
    """Logistic regression of a disguised answer with a random intercept for every group.

    Coefficients are conditional: log odds within a group. The maximum is sought from the fit without groups; a standard
    deviation that runs to zero is reported as a `DivergenceError`, since there is then nothing between the groups.

    Args:
        formula: "outcome ~ predictors".
        frame: any data frame, or `Reports`.
        channel: as in `logit`.
        groups: the column that names each row's group.
        design_column: as in `logit`.
        categories: as in `logit`.
        nodes: quadrature nodes per group.
    """
    fixed = logit(formula, frame, channel, design_column=design_column, categories=categories)
    if len(fixed.likelihood.cells) > 1:
        raise InputError(
            "a random intercept is for open predictors, and for questions whose channel says by itself what it says of "
            "the outcome. Use logit() with clusters= for errors that allow for groups, or an Independent design"
        )
    data = fixed.data
    members = membership(groups, data, "group")
    assert members is not None
    count = int(members.max()) + 1
    if count < 2 or count == len(data):
        raise TooFewReportsError(
            f"{count} groups in {len(data)} rows: at least two groups are needed, and groups of more than one row",
            groups=count,
        )
    if nodes < 2:
        raise InputError(f"quadrature needs at least 2 nodes, not {nodes}")
    factor = fixed.likelihood.cells[0].factors[0]
    objective = Marginal(fixed.design.matrix, factor.data, members, fixed.response.link, nodes)  # type: ignore[attr-defined]
    params = np.append(fixed.params.to_numpy(), np.log(0.5))
    value, gradient, hessian = objective.evaluate(params)
    for _ in range(100):
        step, concave = newton_step(gradient, hessian)
        step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
        for halving in range(30):
            trial = objective.evaluate(params + step * 0.5**halving)
            if np.isfinite(trial[0]) and trial[0] >= value - 1e-10 * abs(value):
                break
        else:
            raise ConvergenceError(
                "the likelihood stopped rising short of a maximum; use more nodes or fewer predictors"
            )
        params = params + step * 0.5**halving
        decrement = float(gradient @ step)
        value, gradient, hessian = trial
        if params[-1] < np.log(1e-3):
            raise DivergenceError(
                f"the standard deviation between groups of {groups!r} runs to zero: the reports show no difference "
                "between groups. Use logit(), with clusters= for errors that allow for groups",
                loglik=value,
                fixed=fixed,
            )
        if concave and abs(decrement) < 1e-10:
            return RandomIntercept(formula, fixed, params, inverse(-hessian), value, count, groups)
    raise ConvergenceError("no maximum within 100 steps; use more nodes or fewer predictors")
