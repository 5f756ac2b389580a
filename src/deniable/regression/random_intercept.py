"""A random intercept for disguised yes-or-no answers: log odds x'beta + s b_g for a respondent of group g.

The likelihood, with b_g integrated out, is in `marginal`. Steps to its maximum are quasi-Newton's first, and Newton's
at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from scipy import optimize, special

from deniable.core.results import Interval, TestResult
from deniable.core.summary import Shown, Summary
from deniable.designs.reports.reports import Reports
from deniable.errors import (
    ConvergenceError,
    DeniableError,
    DivergenceError,
    EstimationError,
    InputError,
    TooFewReportsError,
)
from deniable.estimation.intervals import critical_value
from deniable.estimation.notes.stamped import stamped
from deniable.frozen import Frozen
from deniable.numerics.newton_step import newton_step
from deniable.regression.coefficients import plot_coefficients
from deniable.regression.formula import as_pandas, column_of, quoted, split, terms_without, variables_of
from deniable.regression.integrated_likelihood import NODES, Marginal
from deniable.regression.likelihood.covariance import inverse
from deniable.regression.likelihood.maximize import ascend
from deniable.regression.likelihood.posterior import public_of
from deniable.regression.logit import logit
from deniable.regression.model import membership
from deniable.regression.random_intercept_missing import knows_refusals, unshifted, with_levels
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.channels.channel import Channel
    from deniable.core.domain import Category
    from deniable.inference.attribute_pairs import Missing
    from deniable.regression.likelihood.disguised_outcome import Channels
    from deniable.regression.result import Regression

    Array = NDArray[np.float64]

_SCALES = (0.5, 2.0, 4.0)  # spreads between groups to start from, the latter where the first does not lead anywhere
_AWAY = 20.0  # log odds beyond which a search from a penalised fit is running away
_STARTED = (
    "Without groups the likelihood has no maximum, so the search began at the penalised fit; with them it has this one."
)
_STEPS = 33  # Newton steps before giving up; a few are usual
_QUICK = 16.0  # how much less a step leaves of the way than there was, where the same Hessian serves again
_NEAR = 1e-3  # a rise still to come, in log-likelihood, at which a step may be judged by the gradient
_TOLD_APART = 12  # groups up to which each has its own share of a disguised predictor


@dataclass(frozen=True, eq=False, repr=False)
class RandomIntercept(Shown, Frozen):
    """A fitted random-intercept model.

    Attributes:
        formula: as it was given.
        fixed: the fit without the random intercept, from which this one started; penalised where there is no other.
        values: the parameters of the fit without groups, in the same order; levels of groups among those who prefer not
            to say, if any; and log s.
        matrix: their covariance, from the observed Hessian.
        loglik: the marginal log-likelihood.
        groups: how many groups there are.
        between: which column names them.
        notes: what a reader must know.
        nodes: of the quadrature, per group.
        alone: the log-likelihood without groups, or its supremum where that lies at infinity.
        missing: of whom it is where some prefer not to say, as it was given.
    """

    formula: str
    fixed: Regression
    values: Array
    matrix: Array
    loglik: float
    groups: int
    between: str
    notes: tuple[str, ...] = ()
    nodes: int = NODES
    alone: float = -np.inf
    missing: Missing | None = None

    @property
    def marginal(self) -> Marginal:
        """The function that was maximised."""
        members = membership(self.between, self.fixed.data, "group")
        assert members is not None
        return _objective(self.fixed, members, self.nodes)

    def _series(self, numbers: Array, name: str) -> pd.Series:
        import pandas as pd

        return pd.Series(numbers[: self.fixed.main], index=self.fixed.params.index, name=name)

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
        statistic = max(2 * (self.loglik - self.alone), 0.0)
        pvalue = float(special.erfc(np.sqrt(statistic / 2))) / 2 if statistic > 0 else 1.0
        return TestResult(statistic, pvalue, 1, f"no difference between groups of {self.between}")

    def summary(self, level: float = 0.95) -> Summary:
        """A table as text or HTML."""
        low, high = self.interval(level)
        facts = {
            "model": f"{self.fixed.model} with a random intercept per {self.between}, {self.formula}",
            "outcome through": self.fixed.channel,
            "disguised predictors": ", ".join(self.fixed.hidden) or "none",
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
        return Summary(table, (*self.fixed.used, *self.notes), facts=facts, beside=beside)

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw every coefficient but the intercept with its interval."""
        return plot_coefficients(self.summary(level), level, ax)

    def __repr__(self) -> str:
        return f"<random intercept per {self.between}: {self.formula}; log-likelihood {self.loglik:.4f}>"


class _Refused(TypedDict, total=False):
    weights: object
    strata: object
    clusters: object


@stamped
def random_intercept(
    formula: str,
    frame: Any,
    channel: Channels = None,
    *,
    groups: str,
    design_column: str | None = None,
    categories: Sequence[Category] | None = None,
    rr: Mapping[str, Channel] | None = None,
    rr_models: Mapping[str, str] | None = None,
    missing: Missing | None = None,
    nodes: int = NODES,
    **sampled: Unpack[_Refused],
) -> RandomIntercept:
    """Logistic regression of a disguised answer with a random intercept for every group.

    Coefficients are conditional: log odds within a group. Predictors may be disguised as well; their own models and
    attributes that ride along are as in `logit`, the same in all groups. The maximum is sought from the fit without
    groups, or from the penalised one where that has no maximum; a standard deviation that runs to zero is reported as a
    `DivergenceError`, since there is then nothing between the groups.

    Args:
        formula: "outcome ~ predictors".
        frame: any data frame, or `Reports`.
        channel: as in `logit`.
        groups: the column that names each row's group.
        design_column: as in `logit`.
        categories: as in `logit`.
        rr: disguised predictors of a frame, as in `Options`.
        rr_models: their models, likewise.
        missing: what of those who prefer not to say an answer, as in `Options`. The shift of a group is one of the
            answers of those whom the model is about; how many prefer not to say is no matter of it.
        nodes: quadrature nodes per group.
        **sampled: weights, strata and clusters are refused: see the message.
    """
    _check(nodes, sampled, groups)
    models, alike = _hidden_models(formula, frame, groups, rr or {}, rr_models or {})
    given = {"design_column": design_column, "categories": categories, "rr": rr or {}, "missing": missing}
    fixed, trouble = _without_groups(formula, frame, channel, models, given)
    members = membership(groups, fixed.data, "group")
    assert members is not None
    count = int(members.max()) + 1
    if count < 2 or count == len(fixed.data):
        raise TooFewReportsError(
            f"{count} groups in {len(fixed.data)} rows: at least two groups are needed, and groups of more than one "
            "row",
            groups=count,
        )
    objective = _objective(fixed, members, nodes)
    notes = (*fixed.assumed, *alike, *_refusals_alike(fixed, objective, groups))
    try:
        start, spread, alone = _start(objective, fixed)
        params, value, matrix = _climb(objective, fixed, groups, (start, spread))
    except EstimationError as error:
        if trouble is None:
            raise
        raise DivergenceError(
            f"neither without groups nor with them is there a maximum. Without: {trouble.message}. With: "
            f"{error.message}",
            **trouble.details,
        ) from None
    if trouble is not None:
        notes = (*notes, _STARTED)
        alone = float(str(trouble.details["loglik"]))
    loglik = value - objective.likelihood.add_steady(params[:-1], np.zeros(len(params) - 1))
    return RandomIntercept(formula, fixed, params, matrix, loglik, count, groups, notes, nodes, alone, missing)


def _check(nodes: int, sampled: _Refused, groups: str) -> None:
    """Enough nodes; and no weights, for which there is another way."""
    if nodes < 2:
        raise InputError(f"quadrature needs at least 2 nodes, not {nodes}")
    if not sampled.keys() <= _Refused.__annotations__.keys():
        raise TypeError(f"options are {listed(_Refused.__annotations__)}")  # the door says it in our words
    if sampled:
        raise InputError(
            f"{listed(list(sampled))} cannot be used here: the variance between groups would depend on how the weights "
            f"of a group's respondents are scaled, and on how the groups were drawn. Use logit() with them and "
            f"clusters={groups!r}, whose errors allow for groups; or add what the weights depend on as predictors"
        )


def _hidden_models(
    formula: str, frame: Any, groups: str, rr: Mapping[str, Channel], given: Mapping[str, str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The models of disguised predictors: their shares differ between groups, as far as there are not too many."""
    _, right = split(formula)
    used = variables_of(right)
    hidden = [name for name in frame.design.domain if name in used] if isinstance(frame, Reports) else list(rr)
    left_out = [name for name in hidden if name not in given]
    if not left_out:
        return dict(given), ()
    data = public_of(frame) if isinstance(frame, Reports) else as_pandas(frame)
    if column_of(data, groups).nunique() > _TOLD_APART:
        told = (
            f"Shares of {listed(left_out)} are taken to be the same in all groups of {groups}; if they are not, the "
            f"coefficients are off: say in rr_models what they depend on."
        )
        return dict(given), (told,)
    terms = [*terms_without(right, hidden), f"C({quoted(groups)})"]
    models = {
        name: " + ".join([*terms, *(f"C({quoted(earlier)})" for earlier in hidden[:place])])
        for place, name in enumerate(hidden)
    }
    return {**models, **given}, ()


def _without_groups(
    formula: str, frame: Any, channel: Channels, models: Mapping[str, str], given: Mapping[str, Any]
) -> tuple[Regression, DivergenceError | None]:
    """The fit to start from: without groups; penalised, and why, where that one has no maximum.

    Groups that differ much can have one all the same: the whole sample may hold fewer reports of a trait than its
    channel makes of nobody having it, while some groups hold more.
    """
    try:
        return logit(formula, frame, channel, rr_models=models, **given), None
    except DivergenceError as error:
        if models:
            hint = ", ".join(f'"{name}": "1"' for name in models)
            raise DivergenceError(
                f"the fit without groups, from which this one starts, has no maximum: {error.message}. Shares of "
                f"disguised predictors that differ between groups may be the reason: try rr_models={{{hint}}}",
                models=models,
            ) from None
        try:
            return logit(formula, frame, channel, penalty="jeffreys", **given), error
        except DeniableError:  # a model that cannot be penalised
            raise error from None


def _objective(fixed: Regression, members: NDArray[np.intp], nodes: int) -> Marginal:
    """What is maximised: the likelihood of the fit without groups, the shift integrated out."""
    likelihood = fixed.likelihood
    if knows_refusals(likelihood):
        if int(members.max()) < _TOLD_APART:
            likelihood = with_levels(likelihood, members)
        likelihood = unshifted(likelihood)
    return Marginal(likelihood, members, nodes).compact()


def _refusals_alike(fixed: Regression, objective: Marginal, groups: str) -> tuple[str, ...]:
    """What is to be known where there are too many groups for levels of their own."""
    if not knows_refusals(fixed.likelihood) or objective.count <= _TOLD_APART:
        return ()
    told = (
        f"Who prefers not to say is taken to depend on the predictors, and not on {groups} besides; if it does, the "
        f"coefficients are off: add what it depends on as predictors."
    )
    return (told,)


def _start(objective: Marginal, fixed: Regression) -> tuple[Array, Array, float]:
    """The maximum without shifts, its covariance and log-likelihood: the fit's, unless groups have levels besides."""
    likelihood = objective.likelihood
    if likelihood.size == len(fixed.values):
        return fixed.values, fixed.matrix, fixed.loglik
    end = ascend(likelihood, np.append(fixed.values, np.zeros(likelihood.size - len(fixed.values))))
    return end.params, inverse(-end.hessian), likelihood.loglik(end.params)


def _climb(
    objective: Marginal, fixed: Regression, groups: str, start: tuple[Array, Array]
) -> tuple[Array, float, Array]:
    """From a fit without groups to a maximum: the parameters there, the log-likelihood, and their covariance.

    A penalised fit may be far from it: then several spreads between groups are tried, and the highest way counts. From
    any other fit the first spread nearly always leads there; where it does not, the next is tried.
    """

    def approach(scale: float) -> Array:
        return _approach(objective, np.append(start[0], np.log(scale)), start[1])

    if fixed.penalty:
        return _ascend(objective, fixed, groups, max(map(approach, _SCALES), key=lambda way: objective.value(way)[0]))
    for scale in _SCALES[:-1]:
        try:
            return _ascend(objective, fixed, groups, approach(scale))
        except ConvergenceError:
            continue
    return _ascend(objective, fixed, groups, approach(_SCALES[-1]))


def _ascend(objective: Marginal, fixed: Regression, groups: str, params: Array) -> tuple[Array, float, Array]:
    """Newton's steps from near a maximum to it; a Hessian serves as long as steps by it lead on quickly."""
    value, gradient, hessian = objective.evaluate(params)
    is_new = True
    for _ in range(_STEPS):
        step, concave = newton_step(gradient, hessian)
        decrement = float(gradient @ step)
        if concave and abs(decrement) < 1e-10:
            if is_new:
                return params, value, inverse(-hessian)
            (value, gradient, hessian), is_new = objective.evaluate(params), True
            continue
        is_long = _falls_from_zero(gradient, hessian)
        if is_long:
            step[-1] = -2.0
        step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
        for halving in range(30):
            reached, slope = objective.value(params + step * 0.5**halving)
            left = abs(slope @ newton_step(slope, hessian)[0])
            # Near the top the quadrature's own error hides a rise, and the gradient tells what is left of the way.
            settles = abs(decrement) < _NEAR and left < abs(decrement) / 4
            if settles or (np.isfinite(reached) and reached >= value - 1e-10 * abs(value)):
                break
        else:
            raise ConvergenceError(
                "the likelihood stopped rising short of a maximum; use more nodes or fewer predictors"
            )
        params = params + step * 0.5**halving
        if params[-1] < np.log(1e-3):
            raise DivergenceError(
                f"the standard deviation between groups of {groups!r} runs to zero: the reports show no difference "
                "between groups. Use logit(), with clusters= for errors that allow for groups",
                loglik=reached,
                fixed=fixed,
            )
        if fixed.penalty and objective.likelihood.reach(params[:-1]) > _AWAY:
            break
        is_new = is_long or not (concave and left < abs(decrement) / _QUICK)
        if is_new:
            value, gradient, hessian = objective.evaluate(params)
        else:
            value, gradient = reached, slope
    raise ConvergenceError("no maximum was reached; use more nodes or fewer predictors")


def _falls_from_zero(gradient: Array, hessian: Array) -> bool:
    """Whether the likelihood falls from s = 0 on, in s and not in log s: down it, Newton's steps would never end.

    It is  f_0 - a s^2 - b s^4  there. With a and b positive f' and f'' in log s are negative, and f'' is 2 to 4 times
    f'; were a negative, so that the maximum were elsewhere, it would be more.
    """
    falls, bends = gradient[-1], hessian[-1, -1]
    return bool(falls < 0 and 1.6 * falls > bends > 4 * falls)


def _approach(objective: Marginal, start: Array, matrix: Array) -> Array:
    """Most of the way, by quasi-Newton steps: a Hessian costs two gradients for every parameter."""
    spread = np.eye(len(start))
    spread[:-1, :-1] = matrix

    def down(params: Array) -> tuple[float, Array]:
        value, gradient = objective.value(params)
        return -value, -gradient

    with np.errstate(all="ignore"):
        found = optimize.minimize(
            down, start, jac=True, method="BFGS", options={"hess_inv0": spread, "gtol": 1e-4, "maxiter": 100}
        )
    return np.asarray(found.x) if np.isfinite(found.fun) and found.x[-1] > np.log(2e-3) else start
