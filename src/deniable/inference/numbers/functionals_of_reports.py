"""What reports tell of linear functionals of some attributes' table: values, covariance, score intervals.

From an `Estimate`, or from reports themselves. The latter works also where no whole table can be estimated: a channel
that is the best for a mean may tell the mean and nothing else.

Numbers: several derived numbers of one sort, a row each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from deniable.core.results import Interval, frame_of, intervals_by_row
from deniable.core.summary import Shown, Summary, beside, stamped_columns
from deniable.errors import EstimationError, InputError, NotCoveredError, SingularChannelError
from deniable.estimation.estimate import Estimate
from deniable.estimation.estimator import estimate
from deniable.estimation.notes.denominators import applies_to_all
from deniable.frozen import Frozen, readonly
from deniable.inference.numbers.ordered_attribute import left_out
from deniable.likelihood.efficient_estimate import Efficient, efficient_from
from deniable.likelihood.evidence import DENSE_CELLS
from deniable.likelihood.gather import gather
from deniable.numerics.simplex import norm_sub
from deniable.sampling.read_sampling import sampling_of
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.core.domain import Category, Domain, Variable
    from deniable.estimation.report_sources import Collected
    from deniable.inference.numbers.ordered_attribute import Ordered
    from deniable.likelihood.linear_functionals import Functionals
    from deniable.sampling.read_sampling import Given, Weights

    Array = NDArray[np.float64]
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from deniable.core.results import Frame
    from deniable.inference.measures.delta_method import Measure


class Options(TypedDict, total=False):
    """How the respondents of reports were drawn; an estimate knows it, and `estimate` takes the same.

    Attributes:
        weights: survey weights: one a respondent, the name of a public column, or what `rake` or `replicate_weights`
            returns.
        strata: each respondent's stratum, or the name of a public column.
        clusters: each respondent's cluster, or the name of a public column.
    """

    weights: Weights
    strata: Given
    clusters: Given


@dataclass(frozen=True, eq=False)
class Told(Frozen):
    """Some functionals as the reports tell them; `exactly` knows how their covariance depends on the truth."""

    values: Array
    covariance: Array
    exactly: Functionals | None = None

    @property
    def std_error(self) -> Array:
        """A standard error each."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def error_at(self, values: Array) -> Array:
        """The standard errors that there would be if these were the true values."""
        return self.std_error if self.exactly is None else np.sqrt(self.exactly.variances_at(values))

    def interval(self, z2: float) -> tuple[Array, Array]:
        """Score intervals for a squared critical value, or where that is all there is, so many errors to each side."""
        if self.exactly is not None:
            return self.exactly.score_interval(z2)
        half = np.sqrt(z2) * self.std_error
        return self.values - half, self.values + half


@dataclass(frozen=True, eq=False)
class Known(Frozen):
    """What is known of a table: an estimate of it, or the evidence alone.

    Attributes:
        domain: the attributes.
        estimate: the estimated table; None where there is none.
        pooled: the efficient estimate; None where only the reports that cover the table could be used.
        n: how many reports.
    """

    domain: Domain
    estimate: Estimate | None
    pooled: Efficient | None
    n: int

    def tell(self, along: Array) -> Told:
        """Tell of functionals, columns over the cells of the table; refused where reports say nothing of them."""
        if self.pooled is not None:
            found = self.pooled.along(along)
            if self.estimate is None and not self.pooled.determines(found.along):
                parts = [set(group.said.part) for group in self.pooled.evidence.groups]
                if not any(set(self.domain) <= part for part in parts):
                    raise NotCoveredError(
                        f"no respondent was asked about {listed(self.domain)} together, so the reports do not say how "
                        f"they are related. Use a design that asks them together: Independent, Joint, or Views with "
                        f"k={len(self.domain)}",
                        attributes=self.domain.names,
                    )
                raise EstimationError(
                    f"the reports do not tell this of {listed(self.domain)}: their channel was made for other numbers. "
                    f"Ask for what it was made for, or use a channel that tells the whole table"
                )
            return Told(found.values, found.covariance, found)
        assert self.estimate is not None
        columns = [along[:, j].reshape(self.domain.shape) for j in range(along.shape[1])]
        spread = np.stack([(self.estimate.covariance @ column).ravel() for column in columns], axis=1)
        return Told(along.T @ self.estimate.efficient.values.ravel(), along.T @ spread)

    def left_out(self, read: Ordered, group: tuple[Variable, Category] | None = None) -> tuple[str, ...]:
        """A sentence about those whose category is no number, of everybody or of a group; none where all have one."""
        if not read.aside:
            return ()
        held = np.isin(np.arange(len(read.variable)), read.places, invert=True).astype(np.float64)
        along = lifted(self.domain, read.variable.name, held[:, None])
        whole = np.ones_like(along)
        if group is not None:
            variable, category = group
            inside = (np.arange(len(variable)) == variable.code(category)).astype(np.float64)
            whole = lifted(self.domain, variable.name, inside[:, None])
        if self.estimate is not None:
            share, of = ((columns * self.table.reshape(-1, 1)).sum() for columns in (along * whole, whole))
            named = "" if group is None else f"{group[0].name} {group[1]}"
            inner = float(share / of) if of > 0 else 0.0
            return (left_out(read.variable, read.aside, inner, round(self.n * of), named),)
        try:
            share = float(np.clip(self.tell(along).values[0], 0.0, 1.0))
        except EstimationError:
            return (f"{listed(read.aside)} of {read.variable.name} takes no part; these reports do not tell how many.",)
        return (left_out(read.variable, read.aside, share, self.n),)

    @property
    def df(self) -> float:
        """Degrees of freedom behind the errors."""
        if self.pooled is not None:
            return self.pooled.df
        return np.inf if self.estimate is None else self.estimate.covariance.df

    @cached_property
    def table(self) -> Array:
        """The table without negative cells, in its shape."""
        if self.estimate is not None and (self.estimate.values >= 0).all():
            return self.estimate.values
        if self.estimate is not None:
            return norm_sub(self.estimate.values)
        assert self.pooled is not None
        return norm_sub(self.pooled.values)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know."""
        unasked = 0 if self.pooled is None else self.pooled.evidence.unasked
        told = *([f"{unasked} people were not asked."] if unasked else []), *applies_to_all([self.domain])
        if self.estimate is not None:
            return (*told, *self.estimate.warnings)
        sampling = None if self.pooled is None else self.pooled.sampling
        return told if sampling is None else (*told, *sampling.warnings)


def known_of(source: Estimate | Collected, attributes: Sequence[str], options: Options) -> Known:
    """What a source tells of attributes: an estimate's own table, or what is estimated from reports."""
    if not options.keys() <= Options.__annotations__.keys():
        raise TypeError(f"options are {listed(Options.__annotations__)}")  # the door says it in our words
    if isinstance(source, Estimate):
        if any(given is not None for given in options.values()):
            raise InputError(
                f"an estimate knows how its respondents were drawn: give {listed(list(options))} to estimate(), or "
                f"hand in the reports themselves"
            )
        if not attributes:
            return Known(source.table.domain, source, source.pooled, source.n)
        strangers = [name for name in attributes if name not in source.attributes]
        if strangers:
            raise InputError(
                f"the estimate is of {listed(source.attributes)} and does not hold {listed(strangers)}; estimate that "
                f"attribute, or hand in the reports themselves",
                attribute=strangers[0],
            )
        return Known(source.table.domain, source, source.pooled, source.n)
    if not attributes:
        raise InputError('say which attribute of the reports is meant, for example mean(reports, "age")')
    try:
        found = estimate(source, list(attributes), **options)
    except (EstimationError, SingularChannelError):
        sampling = sampling_of(source, options.get("weights"), options.get("strata"), options.get("clusters"))
        told = gather(source if not isinstance(source, tuple) else list(source), list(attributes), sampling=sampling)
        if not told.groups or told.cells > DENSE_CELLS:
            raise
        return Known(told.asked, None, efficient_from(told), told.n)
    return Known(found.table.domain, found, found.pooled, found.n)


def only(
    source: Estimate | Collected, attribute: str | None, options: Options, beside: Sequence[str] = ()
) -> tuple[Known, Variable]:
    """What is known of one attribute (and some beside it), and the attribute."""
    if attribute is None and isinstance(source, Estimate):
        rest = [name for name in source.attributes if name not in beside]
        if len(rest) != 1:
            raise InputError(f"the estimate is of {listed(source.attributes)}: say which attribute is meant")
        attribute = rest[0]
    found = known_of(source, [] if attribute is None else [attribute, *beside], options)
    assert attribute is not None
    return found, found.domain[attribute]


def lifted(domain: Domain, name: str, columns: Array) -> Array:
    """Functionals of one attribute, columns over its categories, as functionals of a table it is an axis of."""
    axis = domain.names.index(name)
    shape = [1] * len(domain) + [columns.shape[1]]
    shape[axis] = len(domain[name])
    return np.broadcast_to(columns.reshape(shape), (*domain.shape, columns.shape[1])).reshape(-1, columns.shape[1])


@dataclass(frozen=True, eq=False)
class Numbers(Shown, Frozen):
    """Several numbers of one sort: means by group, quantiles by level.

    Attributes:
        name: what they are.
        rows: what tells them apart: a heading, and a label each.
        measures: the numbers with their errors.
    """

    name: str
    rows: Mapping[str, tuple[Category, ...]]
    measures: tuple[Measure, ...]

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The numbers."""
        return readonly(np.array([measure.value for measure in self.measures]))

    @cached_property
    def std_error(self) -> NDArray[np.float64]:
        """Their standard errors."""
        return readonly(np.array([measure.std_error for measure in self.measures]))

    def interval(self, level: float = 0.95) -> Interval:
        """A confidence interval for each."""
        ends = [tuple(measure.interval(level)) for measure in self.measures]
        low, high = (np.array([float(end[i]) for end in ends]) for i in (0, 1))
        return Interval(low, high, level, self.measures[0].method)

    @property
    def _notes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(note for measure in self.measures for note in measure.warnings))

    def __repr__(self) -> str:
        told = Summary({**self.rows, "value": self.values.tolist()}).line  # intervals may take long
        return f"<Numbers: {self.name}: {told}>"

    def _columns(self, level: float) -> dict[str, Any]:
        low, high = self.interval(level)
        found: dict[str, list[Any]] = {
            "value": self.values.tolist(),
            "std_error": self.std_error.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
        }
        return beside({heading: list(labels) for heading, labels in self.rows.items()}, found)

    def to_frame(self, level: float = 0.95) -> Frame:
        """Write the numbers as a data frame: a row each."""
        return frame_of(stamped_columns(self._columns(level), self._notes))

    def summary(self, level: float = 0.95) -> Summary:
        """A row each, and what to keep in mind."""
        return Summary(self._columns(level), self._notes, title=f"{self.name} ({self.measures[0].method})")

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw a number a row with its interval."""
        low, high = self.interval(level)
        labels = [", ".join(str(part) for part in row) for row in zip(*self.rows.values(), strict=True)]
        ax = intervals_by_row(labels, self.values, (low, high), ax, of=self.name, level=level, reference=None)
        ax.set_ylabel(", ".join(self.rows), parse_math=False)
        return ax
