"""Correlation of two columns of which one or both were disguised.

A disguised column with truth scores s_v has unbiased scores  z = Q's  and  zz = Q's^2  of a report:  E(z | truth) = s,
E(zz | truth) = s^2; two that were asked in one question have such scores of their product too. A column given directly
is its own score. With them

    Cov(x, y) = E z_xy - E z_x E z_y,     Var(x) = E zz_x - (E z_x)^2,     r = Cov / sqrt(Var(x) Var(y)),

z_xy = z_x z_y where the devices are independent. Means are pooled over all who speak of what they are of (`moments`).
The standard error is the delta method's, from the covariance of the five means; with weights, strata and clusters that
of the sampling. Nothing is clipped: with much
noise r can lie outside [-1, 1].

References:
    J. A. Fox and P. E. Tracy (1984), Measuring associations with randomized response, Social Science Research 13,
    188-197. S. Himmelfarb and S. E. Edgell (1980), Psychological Bulletin 87(3), 525-530, for quantitative answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.domain import Variable
from deniable.core.results import Interval, intervals_by_row
from deniable.core.summary import Shown, Summary
from deniable.designs.reports.reports import Reports
from deniable.errors import InputError, MissingValueError, TooFewReportsError
from deniable.estimation.intervals import critical_value
from deniable.estimation.notes.stamped import stamped
from deniable.inference.numbers.ordered_attribute import sizes_of
from deniable.regression.cross_moments import Voices, Wanted, pool, voices_of, voices_of_columns
from deniable.regression.data_source import check_there
from deniable.regression.formula import as_pandas, column_of
from deniable.regression.likelihood.disguised_outcome import disguised
from deniable.regression.likelihood.posterior import public_of
from deniable.regression.missing_answers import counted_out, told_of
from deniable.regression.model import drawn_of
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.channels.channel import Channel
    from deniable.regression.likelihood.disguised_outcome import Disguised
    from deniable.sampling.read_sampling import Given, Weights

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class Correlation(Shown):
    """A correlation with its standard error.

    Attributes:
        value: the estimate, unclipped.
        std_error: by the delta method.
        n: the number of rows.
        columns: which were correlated.
        notes: what a reader must know.
        freedom: degrees of freedom of its error: infinite but for a survey's clusters.
    """

    value: float
    std_error: float
    n: int
    columns: tuple[str, str]
    notes: tuple[str, ...] = ()
    freedom: float = np.inf

    def interval(self, level: float = 0.95) -> Interval:
        """On Fisher's scale, atanh(r) +- z std_error / (1 - r^2), mapped back; plain Wald where |r| >= 1."""
        wide = critical_value(1 - level, self.freedom)
        if abs(self.value) >= 1:
            ends = self.value - wide * self.std_error, self.value + wide * self.std_error
            return Interval(np.array(ends[0]), np.array(ends[1]), level, "Wald")
        half = wide * self.std_error / (1 - self.value**2)
        centre = np.arctanh(self.value)
        return Interval(np.tanh(centre - half), np.tanh(centre + half), level, "Fisher")

    def _columns(self) -> dict[str, list[Any]]:
        low, high = self.interval()
        return {
            "columns": [" and ".join(self.columns)],
            "correlation": [self.value],
            "std error": [self.std_error],
            "0.025": [float(low)],
            "0.975": [float(high)],
            "n": [self.n],
        }

    def summary(self) -> Summary:
        """The correlation in one row."""
        return Summary(self._columns(), self.notes)

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw the correlation with its interval."""
        low, high = self.interval(level)
        name = " and ".join(self.columns)
        ax = intervals_by_row([name], [self.value], (low, high), ax, of="correlation", level=level)
        ax.set_xlim(min(-1.0, float(low)), max(1.0, float(high)))
        return ax


@stamped
def correlate(
    frame: Any,
    x: str,
    y: str,
    *,
    channels: Mapping[str, Channel] | None = None,
    weights: Weights = None,
    strata: Given = None,
    clusters: Given = None,
) -> Correlation:
    """Pearson's correlation of two columns, each disguised or given directly.

    A disguised column's truths count 0, 1, 2, ... in the order of its categories, or as the categories themselves where
    these are numbers. For two yes-or-no answers this is the phi coefficient. Who prefers not to say either takes no
    part.

    Args:
        frame: any data frame, or `Reports` of any design: every report that speaks of an attribute counts.
        x: one column; of reports, an attribute or a public column.
        y: the other.
        channels: the channels of a frame's disguised columns. Their devices must be independent of each other.
        weights: survey weights, one a respondent, a column's name, or what `rake` made.
        strata: each respondent's stratum, or the name of a column.
        clusters: each respondent's cluster, or the name of a column.

    >>> import pandas as pd
    >>> import deniable as dn
    >>> frame = pd.DataFrame({"x": [0] * 50 + [1] * 50, "y": [0.0, 1.0] * 25 + [1.0, 2.0] * 25})
    >>> round(dn.correlate(frame, "x", "y").value, 4)
    0.7071
    """
    if x == y:
        raise InputError(f"name two different columns, not {x!r} twice: one device's noise is in both")
    heard = _of_reports(frame, x, y, channels) if isinstance(frame, Reports) else _of_frame(frame, x, y, channels)
    n = heard.n
    if n < 4:
        raise TooFewReportsError(f"{n} rows are too few for a correlation", n=n)
    given = {"weights": weights, "strata": strata, "clusters": clusters}
    drawn = drawn_of(given, frame, heard.data)
    weight = np.ones(len(heard.data)) if drawn is None else drawn.sampling.weights
    wanted = [heard.product(powers) for powers in ({x: 1}, {y: 1}, {x: 1, y: 1}, {x: 2}, {y: 2})]
    if heard.aside:
        means, pulls = among(*pool(heard.voices, [heard.product({}), *wanted], weight), heard.aside)
    else:
        means, pulls = pool(heard.voices, wanted, weight)
    ex, ey, exy, exx, eyy = means
    cov, vx, vy = exy - ex * ey, exx - ex**2, eyy - ey**2
    if vx <= 0 or vy <= 0:
        name = x if vx <= 0 else y
        raise TooFewReportsError(
            f"the estimated variance of {name!r} is not positive ({min(vx, vy):.4g}): too few reports for so much "
            "noise, or a constant column. Ask more respondents or with a larger epsilon; association of categories can "
            "be estimated all the same: use cramers_v(estimate(...))",
            attribute=name,
        )
    value = cov / np.sqrt(vx * vy)
    # d r over (ex, ey, exy, exx, eyy); d vx = d exx - 2 ex d ex.
    root = np.sqrt(vx * vy)
    slopes = np.array(
        [-ey / root + value * ex / vx, -ex / root + value * ey / vy, 1 / root, -value / (2 * vx), -value / (2 * vy)]
    )
    moved = pulls @ slopes
    variance = n / (n - 1) * float(moved @ moved) if drawn is None else float(drawn.covariance(moved[:, None])[0, 0])
    notes = ("The estimate lies outside [-1, 1]: noise reaches that far.",) if abs(value) > 1 else ()
    freedom = np.inf if drawn is None else drawn.sampling.df
    told = (*counted_out(frame, heard.aside, heard.columns, given), *told_of("drop", None, heard.aside))
    return Correlation(float(value), float(np.sqrt(variance)), n, (x, y), (*notes, *told, *heard.used), freedom)


def among(means: Array, pulls: Array, names: Sequence[str]) -> tuple[Array, Array]:
    """Means and pulls among those whose share is the first mean: those who do not prefer not to say."""
    share = float(means[0])
    if share <= 0:
        raise TooFewReportsError(
            f"the estimated share of those who answer {listed(names)} is not positive: too much noise for the "
            "respondents at hand. Ask more of them, or with a larger epsilon",
        )
    inside = means[1:] / share
    return inside, (pulls[:, 1:] - pulls[:, :1] * inside) / share


@dataclass(frozen=True)
class _Heard:
    """Rows of a frame or of reports: who speaks of which disguised column, and what its truths count."""

    data: Any
    voices: list[Voices]
    counts: Mapping[str, Array]  # of the disguised columns; NaN for who takes no part
    n: int  # how many respondents were asked
    used: tuple[str, ...] = ()
    columns: tuple[Disguised, ...] = ()  # of a frame

    @property
    def aside(self) -> list[str]:
        """The columns that some prefer not to say."""
        return [name for name, counts in self.counts.items() if np.isnan(counts).any()]

    def product(self, powers: Mapping[str, int]) -> Wanted:
        """The mean of a product of powers of the two columns, over those who answer times their share."""
        aside = self.aside
        hidden = tuple(name for name in self.counts if name in powers or name in aside)
        cells: Array = np.ones(1)
        for name in hidden:
            there = ~np.isnan(self.counts[name])
            own = np.where(there, self.counts[name], 0.0) ** powers.get(name, 0) * there
            cells = np.outer(cells, own).ravel()
        rows = np.ones(len(self.data))
        for name, power in powers.items():
            if name not in hidden:
                rows = rows * _open(name, column_of(self.data, name)) ** power
        return Wanted(hidden, np.outer(cells, rows))


def _of_reports(reports: Reports, x: str, y: str, channels: Mapping[str, Channel] | None) -> _Heard:
    if channels:
        raise InputError("reports know from their design what every answer went through; leave channels= out")
    for name in (x, y):
        check_there(name, reports)
    domain = reports.design.domain
    hidden = [name for name in domain if name in (x, y)]
    if not hidden:
        raise InputError(f"neither {x!r} nor {y!r} is an attribute of the design; correlate public columns as a frame")
    spoken = voices_of(reports, hidden)
    counts = {name: sizes_of(spoken.asked[name]) for name in hidden}
    return _Heard(public_of(reports), spoken.voices, counts, spoken.n, spoken.used)


def _of_frame(frame: Any, x: str, y: str, channels: Mapping[str, Channel] | None) -> _Heard:
    data, known = as_pandas(frame), dict(channels or {})
    strangers = [name for name in known if name not in (x, y)]
    if strangers:
        raise InputError(f"channels names {listed(strangers)}, which are not correlated here")
    columns = [disguised(name, column_of(data, name), channel) for name, channel in known.items()]
    voices = voices_of_columns(columns, len(data))
    counts = {column.name: sizes_of(Variable(column.name, column.labels)) for column in columns}
    return _Heard(data, voices, counts, len(data), columns=tuple(columns))


def _open(name: str, column: Any) -> Array:
    """A column of numbers that was not disguised."""
    if column.isna().any():
        raise MissingValueError(f"column {name!r} has {int(column.isna().sum())} missing values; drop those rows")
    try:
        return np.asarray(column.to_numpy(dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError(f"column {name!r} must hold numbers, or be named in channels", attribute=name) from None
