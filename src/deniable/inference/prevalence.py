"""`prevalence`: one question of a randomized-response survey.

With P the device and lambda the observed shares of the reports, the moment estimate is pi = Q lambda, Q P = I. It is
right on average, which is why it may be negative: near zero, noise falls on both sides. That is `unbiased`. `values`
are the maximum-likelihood shares: the same wherever none is negative and there are as many reports as truths. For
Warner's device with probability p and share lambda of "yes" it is (lambda + p - 1) / (2p - 1), with standard error

    sqrt(lambda (1 - lambda) / (n - 1)) / |2p - 1|

(n - 1, so that its square is an unbiased estimate of the variance, the sampling of respondents included).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from deniable.channels.channel import Channel
from deniable.channels.sets.possible_sets import holds_sets
from deniable.core.domain import Domain
from deniable.core.input_coercion import row_labels
from deniable.core.results import Interval, intervals_by_row
from deniable.core.rows import SHOWN, cells_of, frame, of_shares, rows_of
from deniable.core.summary import Shown
from deniable.core.table import Table
from deniable.designs.observation import Observation
from deniable.errors import InputError, TooFewReportsError, UnknownCategoryError
from deniable.estimation.by_group import notes_by_group, one_refusal_each, rows_by_group
from deniable.estimation.estimate import Estimate
from deniable.estimation.intervals import critical_value
from deniable.estimation.inversion import pooled_inverse
from deniable.estimation.least_squares import least_squares
from deniable.estimation.notes.fewer_than_chance import accused, fewer_than_chance
from deniable.estimation.notes.refused import FEWEST_SHOWN, Refused, too_few
from deniable.estimation.shown_intervals import shown_interval
from deniable.frozen import Frozen
from deniable.inference.prevalence_input import given_reports, report_codes, variable_of
from deniable.likelihood.em import fit
from deniable.likelihood.evidence import Evidence, of_counts
from deniable.likelihood.linearization import Linearized
from deniable.sampling.read_sampling import column, numbered, sampling_by_columns
from deniable.sampling.weighted_shares import weighted_shares
from deniable.text import counted, listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.core.domain import Category
    from deniable.core.results import Frame
    from deniable.core.rows import Row
    from deniable.core.summary import Summary
    from deniable.likelihood.covariance_operator import Dispersion
    from deniable.sampling.read_sampling import Column
    from deniable.sampling.sampling import Sampling

_MOST = 60_000  # evaluations before giving up
_GAP = 1e-9  # nats left to gain by the constrained maximum-likelihood estimate


@dataclass(frozen=True, eq=False, repr=False)
class Prevalence(Estimate):
    """An `Estimate` of one question: maximum likelihood, with the n - 1 standard errors of the unbiased one.

    `interval(level, method)` takes "wilson" (default), "wald", "clopper_pearson", "profile" and "bootstrap".
    """

    def _detailed(self) -> list[str]:
        return []  # the notes say how it was made

    def _accused(self, pvalues: NDArray[np.float64], looked_at: int) -> tuple[str, ...]:  # noqa: ARG002
        return ()  # the warnings say it, of weighted answers as they came

    def notes(self, level: float = 0.95, *, looked_at: int = 1) -> list[str]:
        """What was done and what to keep in mind, a sentence each."""
        return [f"{self.n} reports; {self.reason}.", *self._of_range(level, looked_at), *self.warnings]


@overload
def prevalence(
    codes: Channel | None = ...,
    channel: Channel | None = ...,
    *,
    yes: int,
    n: int,
    categories: Sequence[Category] | None = ...,
) -> Prevalence: ...


@overload
def prevalence(
    codes: Column,
    channel: Channel,
    weights: Column | Sampling | None = ...,
    *,
    strata: Column | None = ...,
    clusters: Column | None = ...,
    by: None = ...,
    categories: Sequence[Category] | None = ...,
) -> Prevalence: ...


@overload
def prevalence(
    codes: Column,
    channel: Channel,
    weights: Column | Sampling | None = ...,
    *,
    strata: Column | None = ...,
    clusters: Column | None = ...,
    by: Column,
    categories: Sequence[Category] | None = ...,
) -> Prevalences: ...


def prevalence(
    codes: Column | Channel | None = None,
    channel: Channel | None = None,
    weights: Column | Sampling | None = None,
    *,
    strata: Column | None = None,
    clusters: Column | None = None,
    by: Column | None = None,
    categories: Sequence[Category] | None = None,
    yes: int | None = None,
    n: int | None = None,
) -> Prevalence | Prevalences:
    """Estimate how common each answer to one randomized-response question is.

    Args:
        codes: the reports: codes 0, 1, ..., or labels where the categories are known. A list, array or series.
        channel: the device. One performed by hand is taken as stated; one our code ran, as its integers say.
        weights: survey weights, one a respondent, or what `rake` returns. Of this and what follows, a pandas series is
            brought to the order of the reports by its index, if both have one.
        strata: each respondent's stratum.
        clusters: each respondent's cluster (primary sampling unit).
        by: each respondent's group; the result is then a `Prevalences`, from group to estimate. A group of a single
            report is refused in its own place.
        categories: names of the answers, in the order in which results list them; by default those of the channel, else
            0, 1, ... They are matched with the channel's by name, and yes is always the sensitive answer of a device.
        yes: instead of codes, for a device with two answers: how many reports were yes (of others, the second one).
        n: and of how many.

    Returns:
        A `Prevalence`, or `Prevalences` when `by` is given.

    >>> from deniable.channels.survey_devices import Warner
    >>> answers = ["yes"] * 60 + ["no"] * 140
    >>> print(prevalence(answers, Warner(0.8, categories=("no", "yes"))))
    answer  estimate  std_error    95% interval
    no         83.3%      5.41%  72.2% to 93.2%
    yes        16.7%      5.41%   6.8% to 27.8%
    200 reports; the device inverted.
    """
    codes, channel = given_reports(codes, channel, yes, n)
    if not isinstance(channel, Channel):
        raise InputError(f"the device must be a channel, such as Warner(0.8), not {channel!r}")
    variable = variable_of(codes, channel, categories)
    channel = channel.in_order_of(variable.categories, variable.name)
    if yes is not None and n is not None and channel.sensitive == 0:
        codes = [variable.categories[0]] * yes + [variable.categories[1]] * (n - yes)
    reports = report_codes(codes, channel, variable)
    rows, index = len(reports), row_labels(codes)
    groups, group = ([None], np.zeros(rows, dtype=np.int64)) if by is None else numbered(column(by, "by", rows, index))
    domain = Domain([variable])
    drawn = sampling_by_columns(rows, lambda part, name: column(part, name, rows, index), weights, strata, clusters)
    if drawn is not None and holds_sets(channel):
        raise InputError(
            f"reports through {channel.name} are sets of answers; weights, strata and clusters are for devices whose "
            f"reports are answers, such as k-RR"
        )
    weighed = np.ones(rows) if drawn is None else drawn.scaled
    refused = _too_few(variable.name, groups, group, weighed, 2 if by is None else FEWEST_SHOWN)
    if len(refused) == len(groups):
        raise _nothing(refused, grouped=by is not None)
    kept = [name for name in groups if name not in refused]
    place = np.array([kept.index(name) if name in kept else len(kept) for name in groups])[group]
    sizes = np.bincount(place, minlength=len(kept)).tolist()
    tallies = [channel.tally(reports[place == g]) for g in range(len(kept))]
    came = [of_counts([Observation(domain, channel, counts)]) for counts in tallies]
    told = [_accused(evidence, len(kept)) for evidence in came]
    if drawn is None:
        found = [
            _made(evidence, pooled_inverse(evidence), "the device inverted", warned)
            for evidence, warned in zip(came, told, strict=True)
        ]
        return found[0] if by is None else Prevalences(dict(zip(kept, found, strict=True)), None, refused)
    # Who is in a group that is not shown stays in the sample: together they are one more, if they have any weight.
    one_more = drawn.scaled[place == len(kept)].sum() > 0
    inside = place if one_more else np.minimum(place, len(kept) - 1)
    shares = weighted_shares(reports, channel.outputs, inside, drawn, [*kept, listed(refused)])
    reason = f"the device inverted on weighted shares, {drawn.words}"
    found = []
    for g, warned in enumerate(told):
        evidence = of_counts([Observation(domain, channel, shares.values[g] * sizes[g])])
        part = slice(g * channel.outputs, (g + 1) * channel.outputs)
        spread = _through(pooled_inverse(evidence), channel, shares.covariance[part, part], shares.df)
        found.append(_made(evidence, spread, reason, warned))
    if by is None:
        return found[0]
    q = channel.solve(np.eye(channel.outputs).reshape(*channel.output_shape, -1)).reshape(channel.inputs, -1)
    whole, shown = np.kron(np.eye(len(kept)), q), slice(len(kept) * channel.outputs)
    covariance = whole @ shares.covariance[shown, shown] @ whole.T
    return Prevalences(dict(zip(kept, found, strict=True)), covariance, refused)


def _too_few(
    name: str, groups: Sequence[Any], group: NDArray[np.int64], weights: NDArray[np.float64], fewest: int
) -> dict[Any, Refused]:
    """The groups that are not shown, as those of an estimate are not, and what stands in their place."""
    sizes, weighed = (np.bincount(group, w, len(groups)) for w in (None, weights))
    refused = {}
    for which, size, weight in zip(groups, sizes.astype(int).tolist(), weighed.tolist(), strict=True):
        if size < fewest:
            told = f"only {counted(size, 'report')}; an estimate with an error needs at least 2"
            refused[which] = Refused((name,), size, told if fewest < FEWEST_SHOWN else too_few(size))
        elif not weight > 0:
            refused[which] = Refused((name,), 0, "nobody has any weight")
    return refused


def _nothing(refused: Mapping[Any, Refused], *, grouped: bool) -> TooFewReportsError:
    """The error where nothing can be shown."""
    each = {str(group): one.reason for group, one in refused.items()}
    if not grouped:
        return TooFewReportsError(next(iter(each.values())), n=next(iter(refused.values())).n)
    told = "; ".join(f"{group}: {reason}" for group, reason in each.items())
    return TooFewReportsError(f"no group can be shown: {told}. Join groups, or leave out by=", groups=list(each))


def _through(inverse: Dispersion, channel: Channel, covariance: NDArray[np.float64], df: float) -> Linearized:
    """Map the covariance of report shares through their channel."""
    half = channel.solve(covariance.reshape(*channel.output_shape, -1)).reshape(channel.inputs, -1)
    whole = channel.solve(half.T.reshape(*channel.output_shape, -1)).reshape(channel.inputs, -1)
    return Linearized(inverse.samples, inverse.domain, known=whole, degrees=df)


def _made(evidence: Evidence, dispersion: Dispersion, reason: str, warned: tuple[str, ...]) -> Prevalence:
    unbiased = Table(dispersion.domain, dispersion.estimate)
    shares = _most_likely(evidence, unbiased, dispersion)
    return Prevalence(shares, unbiased, dispersion, dispersion.n, "mle", reason, warnings=warned)


def _most_likely(evidence: Evidence, unbiased: Table, dispersion: Dispersion) -> Table:
    """Maximum likelihood without negative cells: the unbiased estimate where that has none and fits exactly.

    Weights enter as a pseudo-likelihood. Reports that are sets have no likelihood: weighted least squares stands in.
    """
    channel = evidence.groups[0].said.channel
    if (unbiased.values >= 0).all() and channel.outputs == channel.inputs and not holds_sets(channel):
        return unbiased
    if not evidence.has_likelihood:
        return Table(unbiased.domain, least_squares(unbiased.values, dispersion), unbiased.backend)
    fitted = fit(evidence, gap=_GAP, most=_MOST)
    return Table(unbiased.domain, fitted.pi[..., 0], unbiased.backend)


def _accused(came: Evidence, groups: int) -> tuple[str, ...]:
    """What to say where fewer reports of a category came than chance alone explains; weights do not matter to that."""
    pvalues = fewer_than_chance(came.observations, came.asked)
    so = "Respondents may not have followed the device's instructions, or its probabilities are not as stated."
    return accused(pvalues, came.asked, pvalues.size * groups, so)


@dataclass(frozen=True, eq=False, repr=False)
class Prevalences(Shown, Frozen, Mapping[Any, Prevalence]):
    """Estimates by group. `difference(a, b)` compares two of them.

    Attributes:
        groups: from group to estimate.
        covariance: of all groups' cells, where a survey's clusters or strata tie them; None if they are independent.
        refused: the groups of which too few have answered, and what stands in their place.
    """

    groups: Mapping[Any, Prevalence]
    covariance: NDArray[np.float64] | None
    refused: Mapping[Any, Refused] = field(default_factory=dict)

    def __getitem__(self, group: Any) -> Prevalence:
        if group in self.refused:
            few = self.refused[group]
            raise TooFewReportsError(
                f"group {group!r}: {few}. Join this group with another one, or drop it", n=few.n, group=group
            )
        try:
            return self.groups[group]
        except KeyError:
            raise UnknownCategoryError(
                f"there is no group {group!r}; there are {listed(self.groups)}", value=group
            ) from None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def difference(self, a: Any, b: Any) -> Difference:
        """How much more common each answer is in group a than in group b."""
        first, second = self[a], self[b]
        across = np.zeros(first.values.size)
        if self.covariance is not None:
            k, order = first.values.size, list(self.groups)
            i, j = order.index(a), order.index(b)
            across = np.diagonal(self.covariance[i * k : (i + 1) * k, j * k : (j + 1) * k])
        return Difference(a, b, first, second, across.reshape(first.values.shape))

    def differences(self, baseline: Any = None) -> list[Difference]:
        """Every group less the baseline (by default the first group)."""
        base = next(iter(self.groups)) if baseline is None else baseline
        return [self.difference(group, base) for group in self.groups if group != base]

    @property
    def _headings(self) -> list[str]:
        (name,) = next(iter(self.groups.values())).attributes
        return ["group" if name != "group" else "group of", name]

    def rows(self, level: float = 0.95) -> tuple[Row, ...]:
        """The rows of all groups, the group before the category."""
        return rows_by_group(self.groups, self.refused, level)

    def to_frame(self) -> Frame:
        """Write the estimates as a data frame: a row a group and category, NaN where a group is refused."""
        return frame(self._headings, self.rows())

    def summary(self, level: float = 0.95) -> Summary:
        """Every group's categories, a row each."""
        rows = one_refusal_each(self.rows(level))
        return of_shares(cells_of(self._headings, rows), rows, level, self.notes(level))

    def notes(self, level: float = 0.95) -> list[str]:
        """What to keep in mind of which groups, a sentence each."""
        return notes_by_group({str(group): estimate.notes(level)[1:] for group, estimate in self.groups.items()})

    def __repr__(self) -> str:
        return f"<Prevalences of {counted(len(self), 'group')}: {listed(self.groups)}>"

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw every group's categories with their intervals; of two categories only the last, which says it all."""
        (variable,) = next(iter(self.groups.values())).table.domain.values()
        first = variable.categories[0] if len(variable) == 2 else None
        rows = [row for row in one_refusal_each(self.rows(level)) if row.is_refused or row.cell[1] != first]
        return intervals_by_row(
            [str(row.cell[0]) if row.is_refused else f"{row.cell[0]}: {row.cell[1]}" for row in rows],
            [row.estimate for row in rows],
            ([row.low for row in rows], [row.high for row in rows]),
            ax,
            of="share of respondents",
            level=level,
            bars=True,
            instead={place: row.reason for place, row in enumerate(rows) if row.is_refused},
        )


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Shown, Frozen):
    """The difference between two groups, category by category."""

    a: Any
    b: Any
    first: Prevalence
    second: Prevalence
    across: NDArray[np.float64]  # covariances between the two groups' cells

    @property
    def values(self) -> NDArray[np.float64]:
        """Estimate in group a less estimate in group b."""
        return self.first.values - self.second.values

    @property
    def unbiased(self) -> NDArray[np.float64]:
        """The same of the unbiased estimates, which may be below zero."""
        return self.first.unbiased.values - self.second.unbiased.values

    @property
    def std_error(self) -> NDArray[np.float64]:
        """Standard errors of the differences."""
        both = self.first.std_error**2 + self.second.std_error**2
        return np.sqrt(both - 2 * self.across)

    def interval(self, level: float = 0.95, method: str = "mover", *, clip: bool = True) -> Interval:
        """Intervals for the differences: what -1 to 1 leaves of them, stretched to `values`, unless `clip=False`.

        "mover" (default) combines the two groups' Wilson intervals (l, u) as Newcombe (1998) does for plain shares:

            low  = d - sqrt((a - l_a)^2 + (u_b - b)^2 - 2 r (a - l_a)(u_b - b)),

        and high likewise, with r the correlation between the groups (0 unless clusters or strata tie them). "wald" is
        the normal interval.
        """
        found = self._unclipped(level, method)
        return shown_interval(found, self.values, least=-1.0) if clip else found

    def _unclipped(self, level: float, method: str) -> Interval:
        d = self.unbiased
        if method == "wald":
            half = critical_value(1 - level, self.first.dispersion.df) * self.std_error
            return Interval(d - half, d + half, level, "Wald")
        if method != "mover":
            raise InputError(f'method must be "mover" or "wald", not {method!r}', method=method)
        both = self.first.std_error * self.second.std_error
        r = np.divide(self.across, both, out=np.zeros_like(both), where=both > 0)
        (low_a, high_a), (low_b, high_b) = (one.interval(level, clip=False) for one in (self.first, self.second))
        a, b = self.first.unbiased.values, self.second.unbiased.values
        below = _combine(a - low_a, high_b - b, r)
        above = _combine(high_a - a, b - low_b, r)
        return Interval(d - below, d + above, level, "Wilson intervals combined (MOVER)")

    def rows(self, level: float = 0.95) -> tuple[Row, ...]:
        """What is told of every category."""
        low, high = self.interval(level)
        told = {"estimate": self.values, "std_error": self.std_error, "low": low, "high": high}
        return rows_of(self.first.table.cells(), self.first.n + self.second.n, told)

    def to_frame(self) -> Frame:
        """Write the differences as a data frame: a row a category."""
        return frame(self.first.attributes, self.rows(), numbers=SHOWN, value="difference")

    def summary(self, level: float = 0.95) -> Summary:
        """Every category's difference, a row each."""
        notes = (f"{self.a} less {self.b}; differences of shares.",)
        return of_shares(self.first.table.cells(), self.rows(level), level, notes, value="difference")

    def __repr__(self) -> str:
        return f"<Difference between {self.a!r} and {self.b!r}>"

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw the difference of every category with its interval."""
        interval = self.interval(level)
        (labels,) = self.first.table.cells().values()
        title = f"{self.a} less {self.b}"
        ends = (interval.low, interval.high)
        return intervals_by_row(labels, self.values, ends, ax, of="difference of shares", level=level, title=title)


def _combine(x: NDArray[np.float64], y: NDArray[np.float64], r: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt(np.maximum(x**2 + y**2 - 2 * r * x * y, 0.0))
