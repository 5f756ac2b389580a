"""A fitted regression: coefficients, errors, tests, predictions, and how it shows itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from deniable.core.results import TestResult
from deniable.core.summary import Shown, Summary
from deniable.errors import InputError
from deniable.estimation.intervals import critical_value
from deniable.frozen import Frozen
from deniable.regression.coefficients import Coefficients, plot_coefficients
from deniable.regression.likelihood.covariance import SURVEY
from deniable.regression.likelihood.maximize import ascend
from deniable.regression.likelihood.mixture_likelihood import Cell, Factor, Likelihood
from deniable.regression.likelihood.responses import Normal
from deniable.regression.marginal_effects import average_effects, predictions

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.core.domain import Category
    from deniable.core.results import Frame
    from deniable.regression.formula import Design
    from deniable.regression.likelihood.responses import Response

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Regression(Coefficients, Shown, Frozen):
    """A fitted model.

    Attributes:
        model: which kind.
        formula: as it was given.
        response: the outcome's law.
        truths: the outcome's categories.
        design: its predictors.
        labels: every parameter's label; those of the outcome's model come first.
        main: how many these are.
        values: every parameter.
        matrix: their covariance.
        kind: how that was computed: "hessian", "expected", "opg", "sandwich", "survey" or "cluster".
        loglik: the log-likelihood (of the reports, without the penalty).
        steps: Newton steps to the maximum.
        notes: what a reader must know.
        penalty: None or "jeffreys".
        weighted: whether rows were weighted.
        likelihood: the function that was maximised.
        hidden: the disguised predictors.
        data: the rows, as pandas.
        backend: the data frame library of the answers.
        channel: what the outcome went through, in words.
        used: what was used of the reports, and how many said what; empty for frames.
        freedom: degrees of freedom of the errors: `Sampling.df_beside` the coefficients; else infinite.
        assumed: of whom it is where some prefer not to say, and what is assumed of these; among the notes.
    """

    model: str
    formula: str
    response: Response
    truths: tuple[Category, ...]
    design: Design
    labels: tuple[Any, ...]
    main: int
    values: Array
    matrix: Array
    kind: str
    loglik: float
    steps: int
    notes: tuple[str, ...]
    penalty: str | None
    weighted: bool
    likelihood: Likelihood
    hidden: tuple[str, ...]
    data: Any
    backend: Any
    channel: str
    used: tuple[str, ...] = ()
    freedom: float = np.inf
    assumed: tuple[str, ...] = ()

    @property
    def nuisance(self) -> pd.DataFrame:
        """The parameters beside the outcome's coefficients: log(sigma), and the models of disguised predictors."""
        import pandas as pd

        return pd.DataFrame(
            {"params": self.values[self.main :], "std_error": np.sqrt(np.diagonal(self.matrix))[self.main :]},
            index=pd.Index([str(label) for label in self.labels[self.main :]], name="term"),
        )

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.likelihood.rows

    @property
    def df(self) -> int:
        """The number of parameters."""
        return len(self.values)

    @property
    def aic(self) -> float:
        """-2 loglik + 2 df."""
        return -2 * self.loglik + 2 * self.df

    @property
    def bic(self) -> float:
        """-2 loglik + df log n."""
        return -2 * self.loglik + self.df * float(np.log(self.n))

    # -- tests -------------------------------------------------------------------------------------------------

    @cached_property
    def loglik_null(self) -> float:
        """The log-likelihood without predictors (its supremum, should that lie at infinity)."""
        factor = self.likelihood.cells[0].factors[0]
        if len(self.likelihood.cells) > 1 or isinstance(self.response, Normal):
            raise InputError("the null model is given for disguised outcomes; fit the smaller model and use lr_test()")
        # Without predictors rows differ only in what their reports say: a handful of cases with weights.
        cases, place = np.unique(factor.data, axis=0, return_inverse=True)
        weights = np.bincount(place.ravel(), self.likelihood.weights, len(cases)).astype(np.float64)
        response = factor.response  # which also says who answers, where some prefer not to say
        equations = response.equations
        ones = (np.ones((len(cases), 1)),) * equations
        places = tuple(slice(k, k + 1) for k in range(equations))
        null = Likelihood((Cell((Factor(response, cases, ones, places),)),), weights, equations)
        return ascend(null, np.zeros(equations)).value

    def lr_test(self, smaller: Regression | None = None) -> TestResult:
        """Likelihood ratio test against a smaller model of the same reports; by default the one without predictors."""
        if self.weighted or self.kind in {"sandwich", *SURVEY} or self.penalty:
            raise InputError(
                "with weights, clusters or a penalty the likelihood ratio has no chi-square law; use wald_test()"
            )
        if smaller is None:
            other, df = self.loglik_null, self.df - self.likelihood.cells[0].factors[0].response.equations
            against = "no predictors"
            if df == 0:
                raise InputError("this model has no predictors, so there is nothing smaller to test it against")
        else:
            if smaller.n != self.n or smaller.model != self.model or smaller.df >= self.df:
                raise InputError(
                    "a likelihood ratio test compares a model with a smaller one of the same kind on the same rows; "
                    f"these are {self.model} with {self.df} parameters on {self.n} rows, and {smaller.model} with "
                    f"{smaller.df} on {smaller.n}"
                )
            other, df, against = smaller.loglik, self.df - smaller.df, smaller.formula
        statistic = max(2 * (self.loglik - other), 0.0)
        return TestResult(statistic, float(stats.chi2.sf(statistic, df)), df, f"likelihood ratio against {against}")

    # -- predictions --------------------------------------------------------------------------------------------------

    def predict(self, frame: Any = None, level: float = 0.95) -> Frame:
        """Fitted probabilities (or means), one row a row of `frame`, with standard errors and intervals.

        Standard errors by the delta method. For two categories the interval is made on the scale of the linear
        predictor and mapped through the link, so it stays inside (0, 1). `frame` holds the predictors' true values; it
        must be given when the model has disguised predictors.
        """
        return predictions(self, frame, critical_value(1 - level, self.degrees))

    def marginal_effects(self, variables: Iterable[str] | None = None, level: float = 0.95) -> Frame:
        """Average marginal effects on the probability of each category (of the last, where there are two).

        For a number: the mean over rows of d Pr / d x. For a category: the mean change of Pr between a level and the
        first level, everything else as it is. Interactions and transformations are followed through the formula.
        Weighted as the fit is; standard errors by the delta method, the rows taken as given.
        """
        return average_effects(self, variables, critical_value(1 - level, self.degrees))

    # -- how it shows itself ------------------------------------------------------------------------------------

    def summary(self, level: float = 0.95) -> Summary:
        """A table like statsmodels', as text or HTML."""
        facts: dict[str, object] = {
            "model": f"{self.model}, {self.formula}",
            "outcome through": self.channel if self.truths else "direct question",
            "modelled": self._modelled(),
            "disguised predictors": ", ".join(self.hidden),
            "reports": self.n,
            "parameters": self.df,
            "log-likelihood": self.loglik,
            "AIC": self.aic,
            "BIC": self.bic,
            "standard errors": self.kind,
            "penalty": self.penalty or "",
        }
        beside = {
            "beside the regression": self.nuisance.index.tolist(),
            "estimate": self.nuisance["params"].tolist(),
            "std error": self.nuisance["std_error"].tolist(),
        }
        told = {key: value for key, value in facts.items() if value != ""}
        return Summary(self.told(level), (*self.used, *self.notes), facts=told, beside=beside)

    def _modelled(self) -> str:
        if not self.truths:
            return "the mean"
        if len(self.truths) == 2:
            return f"Pr({self.truths[1]})"
        return f"each category against {self.truths[0]}"

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw every coefficient but the intercept with its interval."""
        return plot_coefficients(self.summary(level), level, ax)

    def __repr__(self) -> str:
        return f"<{self.model}: {self.formula}; {self.n} reports, log-likelihood {self.loglik:.4f}>"
