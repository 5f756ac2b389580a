"""Derived measures: any smooth function of an estimated table, with its standard error.

To first order f(estimate) varies like its gradient times the estimate, so Var f = grad' Cov grad, with the full
covariance of the efficient estimate (as an operator: nothing of size cells x cells is formed). The gradient comes from
the complex step, Im f(x + ih) / h with h = 1e-20, which has no cancellation and is exact to the last digits; functions
that cannot take complex numbers are differenced instead.
"""

from __future__ import annotations

import textwrap
import warnings as python_warnings
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from deniable.core.results import Interval, frame_of, intervals_by_row
from deniable.core.summary import Shown, Summary, number, stamped_columns
from deniable.errors import InputError
from deniable.estimation.intervals import critical_value, tail
from deniable.estimation.notes.denominators import applies_to_all
from deniable.estimation.notes.refused import FEWEST_SHOWN
from deniable.estimation.notes.stamped import stamped
from deniable.estimation.shown_intervals import shown_interval, stated_error
from deniable.frozen import Frozen
from deniable.inference.measures.parametric_bootstrap import bootstrap_tables
from deniable.numerics.simplex import norm_sub
from deniable.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.core.randomness import Source
    from deniable.core.results import Frame
    from deniable.estimation.estimate import Estimate

Scale = Literal["plain", "log", "atanh"]
How = Literal["delta", "bootstrap"]
_STEP = 1e-20
EVERYTHING: dict[Scale, tuple[float, float]] = {"plain": (-np.inf, np.inf), "log": (0.0, np.inf), "atanh": (-1.0, 1.0)}
EMPTY = (
    "No error can be stated: some cell or category is not estimated above zero, and the measure has no slope there. "
    "Merge categories that so few have before you estimate, or ask more people."
)
_FEWEST = 10  # of the respondents, estimated, in a category of a table that a measure is of
NEAR_ZERO = 2.0  # standard errors from zero within which a cell makes the delta method unreliable


@dataclass(frozen=True, eq=False)
class Measure(Shown, Frozen):
    """A number derived from a table.

    Attributes:
        name: what it measures, with its unit.
        value: the estimate, within the values that there can be.
        error: its standard error as `method` has it; `std_error` is the one to state.
        method: how the interval was found: "delta method", "bootstrap", "profile likelihood", "Fieller's interval" or
            "inverted test"; of the last three the standard error is the delta method's.
        warnings: when not to trust it, in words.
        scale: where the interval is symmetric: "plain", "log" (ratios) or "atanh" (correlations).
        ends: for intervals not made from the standard error: a function from the level to (low, high).
        df: degrees of freedom behind the standard error; infinite but for a survey's clusters.
        within: the least and the largest value that there can be.
        unclipped: the estimate where it lies outside of them, else None; see `unbiased`.
    """

    name: str
    value: float
    error: float
    method: str
    warnings: tuple[str, ...] = ()
    scale: Scale = "plain"
    ends: Callable[[float], tuple[float, float]] | None = None
    df: float = np.inf
    within: tuple[float, float] = (-np.inf, np.inf)
    unclipped: float | None = None

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return f"<Measure: {self.name} {number(self.value)}, {self.method}>"  # an interval may take long

    @property
    def unbiased(self) -> float:
        """The estimate before it was kept within the values that there can be."""
        return self.value if self.unclipped is None else self.unclipped

    @cached_property
    def std_error(self) -> float:
        """The standard error: `error`, where the interval is not made from it so that neither contradicts the other."""
        if self.ends is None or self.scale != "plain" or not np.isfinite(self.unbiased):
            return self.error
        unclipped = self.interval(clip=False)
        low, high = np.clip(list(unclipped), *self.within)
        own = Interval(low, high, unclipped.level, unclipped.method)
        return float(stated_error(np.array(self.error), np.array(self.unbiased), own, self.df, most=True))

    def interval(self, level: float = 0.95, *, clip: bool = True) -> Interval:
        """A confidence interval: value -+ z std_error on the measure's scale, or that of the method.

        It is what the possible values leave of it, stretched to `value`; with `clip=False` it is around `unbiased`.
        """
        z = critical_value(1 - level, self.df)
        low, high = self._ends(level) if self._ends is not None else self._normal(z * self.error)
        found = Interval(np.float64(low), np.float64(high), level, self.method)  # type: ignore[arg-type]
        return shown_interval(found, np.float64(self.value), *self.within) if clip else found  # type: ignore[arg-type]

    @cached_property
    def _ends(self) -> Callable[[float], tuple[float, float]] | None:
        """`ends` climb likelihoods and invert tests: once a level, though error, interval and summary all ask."""
        return None if self.ends is None else cache(self.ends)

    def _normal(self, half: float) -> tuple[float, float]:
        x = self.unbiased
        if not np.isfinite(half) or not np.isfinite(x):
            return EVERYTHING[self.scale]
        if self.scale == "log" and x > 0:
            return float(x * np.exp(-half / x)), float(x * np.exp(half / x))
        if self.scale == "atanh" and abs(x) < 1:
            z, width = np.arctanh(x), half / (1 - x**2)
            return float(np.tanh(z - width)), float(np.tanh(z + width))
        return x - half, x + half

    def kept(self, least: float, most: float) -> Measure:
        """The same with the value that is shown within those that there can be."""
        value = float(np.clip(self.value, least, most))
        return replace(self, value=value, within=(least, most), unclipped=None if value == self.value else self.value)

    def _columns(self) -> dict[str, list[Any]]:
        low, high = self.interval()
        return {
            "measure": [self.name],
            "value": [float(self.value)],
            "std_error": [float(self.std_error)],
            "low": [float(low)],
            "high": [float(high)],
            "method": [self.method],
        }

    def to_frame(self) -> Frame:
        """Write the measure as a data frame of one row."""
        return frame_of(stamped_columns(self._columns(), self.warnings))

    def summary(self) -> Summary:
        """The measure in one row, and what to keep in mind."""
        return Summary(self._columns(), self.warnings)

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw the measure with its interval, and a line where there would be nothing: at 1 for ratios, else at 0."""
        nothing = 1.0 if self.scale == "log" else 0.0
        ends = tuple(self.interval(level))
        row, of = textwrap.fill(self.name, 24), textwrap.fill(self.name, 48)  # names say the cells that are compared
        return intervals_by_row([row], [self.value], (ends[0], ends[1]), ax, of=of, level=level, reference=nothing)


def gradient(f: Any, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The gradient of a function of a table, by complex step where the function allows it, else by central differences.

    A function that drops the imaginary part (abs, max, a comparison) would give a wrong gradient without complaint, so
    the complex step is checked against a difference in one direction and given up where the two disagree.

    >>> gradient(lambda t: (t**3).sum(), np.array([1.0, 2.0])).tolist()
    [3.0, 12.0]
    """
    central = _central(f, x)
    try:
        with python_warnings.catch_warnings(), np.errstate(all="ignore"):
            python_warnings.simplefilter("error", np.exceptions.ComplexWarning)
            exact = np.array([np.imag(f(x + 1j * _STEP * cell.reshape(x.shape))) / _STEP for cell in np.eye(x.size)])
    except (TypeError, ValueError, np.exceptions.ComplexWarning):
        return central
    if exact.shape != (x.size,):
        raise InputError(f"the function must return one number, not an array of shape {exact.shape[1:]}")
    agree = np.allclose(exact, central.ravel(), rtol=1e-3, atol=1e-5 * max(1.0, float(np.abs(central).max())))
    return exact.reshape(x.shape) if agree else central


def _central(f: Any, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """(f(x + h) - f(x - h)) / 2h, cell by cell; h never crosses zero, where logarithms end."""
    slope = np.empty(x.size)
    for index, cell in enumerate(np.eye(x.size)):
        at = float(x.ravel()[index])
        h = 1e-6 * min(1.0, abs(at)) if at else 1e-9
        step = h * cell.reshape(x.shape)
        slope[index] = float(np.real(f(x + step)) - np.real(f(x - step))) / (2 * h)
    return slope.reshape(x.shape)


def of_few(estimate: Estimate) -> tuple[str, ...]:
    """The warning where so few reports speak of the table, or of a category of it, that errors hardly know themselves.

    To first order a measure moves as its gradient says; of a handful of reports it does not, and intervals miss: of 50
    people of whom four were asked the pair, those of V, of phi and of the difference held the truth in 54% to 85%.
    """
    about = " and ".join(estimate.attributes)
    if estimate.n < FEWEST_SHOWN:
        told = f"{counted(estimate.n, 'report')} about {about}"
        together = " together" if len(estimate.attributes) > 1 else ""
        return (f"Only {told}{together}: error and interval are rough.",)
    shares = simplex(estimate)
    axes = range(shares.ndim if shares.ndim > 1 else 0)
    margins = [shares.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes]
    least = estimate.n * min((float(margin.min()) for margin in margins), default=1.0)
    if least < _FEWEST:
        told = f"Only some {least:.0f} of {estimate.n} respondents are in the rarest category of {about}"
        return (f"{told}: error and interval are rough.",)
    return ()


def close_to_zero(estimate: Estimate) -> tuple[str, ...]:
    """The warning for cells that noise could have moved across zero."""
    few = int((estimate.efficient.values < NEAR_ZERO * estimate.std_error).sum())
    if not few:
        return ()
    told = (
        f"{few} of {estimate.values.size} cells lie within {NEAR_ZERO:g} standard errors of zero, where the delta "
        f'method\'s error can be off by half; method="bootstrap" does not rely on it.'
    )
    return (told,)


def simplex(estimate: Estimate) -> NDArray[np.float64]:
    """The estimate's table without negative cells: itself, or the nearest such table."""
    return nearest(estimate.values)


def nearest(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The table without negative cells that is nearest to a given one."""
    return table if (table >= 0).all() else norm_sub(table)


def floored(table: NDArray[np.float64], estimate: Estimate) -> NDArray[np.float64]:
    """The table with every cell at least one standard error, where gradients that end at zero are taken.

    A cell that nobody reported has a standard error of zero; one respondent's share stands in for it.
    """
    return np.maximum(table, np.minimum(np.maximum(estimate.std_error, 1 / estimate.n), 1 / table.size))


class Resampled(TypedDict, total=False):
    """How reports are drawn anew for a bootstrap.

    Attributes:
        replicates: how often.
        source: where they are drawn from.
    """

    replicates: int
    source: Source | None


@stamped
def derived(
    estimate: Estimate,
    f: Any,
    *,
    name: str = "derived",
    method: How = "delta",
    at: NDArray[np.float64] | None = None,
    slope_at: NDArray[np.float64] | None = None,
    scale: Scale = "plain",
    warnings: tuple[str, ...] | None = None,
    replicates: int = 999,
    source: Source | None = None,
) -> Measure:
    """Any function of an estimated table, with its standard error.

    Args:
        estimate: the table and its covariance.
        f: takes the table's values (an array in the table's shape), returns one number. Written with NumPy arithmetic
            it is differentiated exactly.
        name: what to call the result.
        method: "delta", or "bootstrap": reports drawn anew from the fitted table, the spread of f over them.
        at: where f is evaluated; the estimate's table by default.
        slope_at: where its gradient is taken; `at` by default.
        scale: where the interval is symmetric: "plain", "log" or "atanh".
        warnings: what a reader must know; by default, which cells are too near zero for the delta method.
        replicates: for "bootstrap", how many.
        source: for "bootstrap", where they are drawn from.

    >>> from deniable.channels.survey_devices import Warner
    >>> from deniable.designs.observation import Observation
    >>> from deniable.estimation.estimator import estimate
    >>> table = estimate(Observation("answer", Warner(0.8), [140, 60]), "answer", "inversion")
    >>> odds = derived(table, lambda x: x[1] / x[0], name="odds", scale="log")
    >>> round(odds.value, 4), round(odds.std_error, 4)
    (0.2, 0.078)
    """
    point = estimate.values if at is None else at
    value = f(point)
    if np.ndim(value) != 0:
        raise InputError(f"the function must return one number, not an array of shape {np.shape(value)}")
    if np.asarray(value).dtype.kind not in "biufc":
        raise InputError(f"the function must return one number, not {value!r}")
    value = float(np.real(value))
    if method == "bootstrap":
        return bootstrapped(estimate, f, value, name=name, scale=scale, replicates=replicates, source=source)
    if method != "delta":
        raise InputError(f'method must be "delta" or "bootstrap", not {method!r}', method=method)
    slope = gradient(f, point if slope_at is None else slope_at)
    told = (*(close_to_zero(estimate) if warnings is None else warnings), *of_few(estimate))
    told = (*told, *applies_to_all([estimate.table.domain]))
    if not np.isfinite(slope).all():
        told = (*told, f"{EMPTY} Until then the interval holds everything.")
        return Measure(name, value, np.nan, "delta method", told, scale)
    error = float(np.sqrt(max(estimate.covariance.quadratic(slope), 0.0)))
    return Measure(name, value, error, "delta method", told, scale, df=estimate.covariance.df)


def plugged(estimate: Estimate, f: Any, usable: Callable[[NDArray[np.float64]], bool], **more: Any) -> Measure:
    """A function of the efficient cells if it is defined there, else of the nearest table without negative ones.

    Bootstrap replicates are treated like the estimate.
    """
    point = estimate.efficient.values if usable(estimate.efficient.values) else simplex(estimate)
    with np.errstate(divide="ignore", invalid="ignore"):
        if more.get("method") == "bootstrap":
            return derived(estimate, lambda x: f(x if usable(x) else nearest(x)), at=point, **more)
        return derived(estimate, f, at=point, **more)


def bootstrapped(
    estimate: Estimate,
    f: Any,
    value: float,
    *,
    name: str,
    scale: Scale = "plain",
    replicates: int = 999,
    source: Source | None = None,
) -> Measure:
    """The spread of f over tables estimated from reports drawn anew; intervals are their percentiles."""
    if replicates < 2:
        raise InputError(f"the spread over replicates needs at least 2 of them, not {replicates}")
    tables = bootstrap_tables(estimate, replicates, source)
    with np.errstate(all="ignore"):
        again = np.array([float(np.real(f(tables[..., i]))) for i in range(replicates)])
    defined = again[~np.isnan(again)]
    told = of_few(estimate)
    if len(defined) < replicates:
        told = (*told, f"{replicates - len(defined)} of {replicates} replicates have no value and are left out.")
    if len(defined) < 2:
        return Measure(name, value, np.nan, "bootstrap", told, scale, lambda _: (-np.inf, np.inf))
    finite = bool(np.isfinite(defined).all())

    def ends(level: float) -> tuple[float, float]:
        # An infinite ratio is a value, but nothing lies between it and its neighbour.
        how: Literal["linear", "inverted_cdf"] = "linear" if finite else "inverted_cdf"
        least = tail(1 - level, estimate.covariance.df)
        low, high = np.quantile(defined, [least, 1 - least], method=how)
        return float(low), float(high)

    error = float(defined.std(ddof=1)) if finite else np.inf
    return Measure(name, value, error, "bootstrap", told, scale, ends)
