"""What a survey was made for, told: a row for each wanted number, with its interval.

Means, quantiles, distribution functions and ranges; tables have estimates of their own. Where reports came through a
channel that was made for these numbers, they are all that can be told.

They are what `mean`, `quantile` and `cdf` say, with the same intervals. Where categories are words and nothing says
what they count as, those functions ask for scores; a survey has been planned by then, with 0, 1, 2, ... in their order
(of bins without an end, as wide as their neighbours): so they count here too, and it is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deniable.aims.aim import lifted
from deniable.aims.category_scores import category_scores
from deniable.aims.parse import aims_of
from deniable.core.results import Interval
from deniable.core.rows import Row, rows_of
from deniable.core.summary import Ends, Shown, Stamp, Summary, number
from deniable.designs.distance_to_best import nearness_of
from deniable.estimation.intervals import critical_value
from deniable.estimation.notes.refused import Refused, shown
from deniable.estimation.notes.stamped import stamped
from deniable.estimation.shown_intervals import shown_interval
from deniable.frozen import Frozen
from deniable.inference.numbers.distribution_function import cdf
from deniable.inference.numbers.functionals_of_reports import Known, Options, known_of
from deniable.inference.numbers.mean import mean
from deniable.inference.numbers.ordered_attribute import ordered
from deniable.inference.numbers.quantile import quantile
from deniable.plotting import intervals_by_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Unpack

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.aims.aim import Wanted
    from deniable.aims.kinds.mean import Mean
    from deniable.aims.kinds.quantiles import Quantiles
    from deniable.core.domain import Variable
    from deniable.designs.reports.reports import Reports
    from deniable.estimation.estimate import Estimate
    from deniable.estimation.report_sources import Collected

_NUMBERS = ("estimate", "low", "high")


@dataclass(frozen=True)
class WantedNumbers(Shown, Frozen):
    """Wanted numbers as the reports tell them.

    Attributes:
        rows: a row a number. Its cell says what was wanted, and which of its numbers: a level, a category, a range;
            nothing for a mean.
        level: how often an interval holds the truth.
        notes: what a reader must know.
    """

    rows: tuple[Row, ...]
    level: float
    notes: tuple[str, ...] = ()

    @property
    def told(self) -> list[dict[str, Any]]:
        """The rows as JSON; of what is refused, the reason in the place of its numbers."""
        found: list[dict[str, Any]] = []
        for row in self.rows:
            wanted, which = row.cell
            numbers = {"refused": row.reason} if row.is_refused else {"which": which, **row.numbers(_NUMBERS)}
            found.append({"wanted": wanted, "reports": row.n, **numbers})
        return found

    @classmethod
    def of_told(cls, told: Iterable[Mapping[str, Any]], level: float) -> WantedNumbers:
        """The same out of JSON."""
        rows = []
        for one in told:
            numbers: dict[str, Any] = {name: one[name] for name in _NUMBERS if one.get(name) is not None}
            cell = (one["wanted"], one.get("which", ""))
            rows.append(Row(cell, one["reports"], reason=one.get("refused", ""), **numbers))
        return cls(tuple(rows), level)

    def summary(self) -> Summary:
        """A row a number."""
        columns: dict[str, list[object]] = {
            "wanted": [row.cell[0] for row in self.rows],
            "which": [row.reason if row.is_refused else row.cell[1] for row in self.rows],
            "estimate": [row.estimate for row in self.rows],
            f"{self.level:.0%} interval": [Ends(row.low, row.high) for row in self.rows],
        }
        return Summary(columns, self.notes)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw every number with its interval."""
        return intervals_by_row(
            [" ".join(row.cell).strip() for row in self.rows],
            [row.estimate for row in self.rows],
            ([row.low for row in self.rows], [row.high for row in self.rows]),
            ax,
            of="value",
            level=self.level,
            instead={place: row.reason for place, row in enumerate(self.rows) if row.is_refused},
        )


@dataclass(frozen=True)
class ToldAims(Frozen):
    """What a survey was made for, as an output states it.

    Attributes:
        numbers: its numbers that are no tables; None where there are none.
        nearness: how far its design is from the best possible one for them, a sentence; nothing where nobody knows.
    """

    numbers: WantedNumbers | None
    nearness: str

    @property
    def notes(self) -> list[str]:
        """What must be known of the numbers, a sentence each, but for the stamp, which all of an output bears."""
        notes = () if self.numbers is None else self.numbers.notes
        return [note for note in notes if not isinstance(note, Stamp)]

    @property
    def lines(self) -> list[str]:
        """The numbers, a line each, where there is no room for a table, and what must be known of them."""
        if self.numbers is None:
            return []
        found = []
        for row in self.numbers.rows:
            told = f"{number(row.estimate)}, {self.numbers.level:.0%} interval {Ends(row.low, row.high)}"
            found.append(f"{' '.join(filter(None, row.cell))}: {row.reason or told}.")
        return [*found, *self.notes]


NONE_TOLD = ToldAims(None, "")


def told_aims(
    reports: Reports, level: float = 0.95, also: Sequence[Wanted] = (), **options: Unpack[Options]
) -> ToldAims:
    """What the survey of some reports was made for, and `also` other numbers.

    What too few have answered, or reports do not tell, has that said in its place.
    """
    rows: list[Row] = []
    notes: dict[str, None] = {}
    for one in dict.fromkeys((*aims_of(reports.labels), *also)):
        found = shown(reports, list(one.attributes), partial(wanted_numbers, reports, [one], level, **options))
        if isinstance(found, Refused) and (one.estimator is not None or one.seen_in):
            rows.append(Row((str(one), ""), found.n, reason=found.reason))
        elif one.estimator is None and one.seen_in:
            rows.append(Row((str(one), ""), reports.n, reason=one.seen_in))
        elif isinstance(found, WantedNumbers):
            rows += found.rows
            notes |= dict.fromkeys(found.notes)
    numbers = WantedNumbers(tuple(rows), level, tuple(notes)) if rows else None
    return ToldAims(numbers, nearness_of(reports))


@stamped
def wanted_numbers(
    source: Estimate | Collected, wanted: Sequence[Wanted], level: float = 0.95, **options: Unpack[Options]
) -> WantedNumbers | None:
    """Tell the wanted numbers that are no tables; None where there are none. Options as for `mean`.

    >>> import deniable as dn
    >>> seen = dn.Observation("trust", dn.KRR(3, 1.0), [40, 25, 35])
    >>> found = wanted_numbers(seen, [dn.Wanted.mean("trust", scores=[0, 1, 2])])
    >>> round(found.rows[0].estimate, 4)
    0.8627
    """
    rows: list[Row] = []
    notes: dict[str, None] = {}
    for one in wanted:
        if one.estimator is not None:
            told, known = resolve_name(one.estimator)(_asked(source, one, options), one, level)
            rows += [row._replace(cell=(str(one), *row.cell)) for row in told]
            notes |= dict.fromkeys(known)
    return WantedNumbers(tuple(rows), level, tuple(notes)) if rows else None


class Asked(NamedTuple):
    """What an estimator of a wanted number is given.

    Attributes:
        known: what is known of its attributes.
        source: the estimate or the reports that tell of it.
        options: how respondents were drawn, where the source does not know it.
    """

    known: Known
    source: Estimate | Collected
    options: Options


Told = tuple[list[Row], Sequence[str]]  # which of its numbers, each with its interval, and what must be known of them


def _asked(source: Estimate | Collected, one: Wanted, options: Options) -> Asked:
    known = known_of(source, one.attributes, options)
    return Asked(known, source, options) if known.estimate is None else Asked(known, known.estimate, Options())


def of_mean(asked: Asked, one: Mean, level: float) -> Told:
    """What `mean` says."""
    (name,) = one.attributes
    scores, counted = _scores(one, asked.known.domain[name]) if one.scores is None else (one.scores, ())
    found = mean(asked.source, name, scores=scores, **asked.options)
    low, high = found.interval(level)
    row = Row(("",), asked.known.n, estimate=found.value, low=float(low), high=float(high))
    return [row], (*counted, *found.warnings)


def of_quantiles(asked: Asked, one: Quantiles, level: float) -> Told:
    """What `quantile` says; one of the categories, where these are no bins, has its name."""
    (name,) = one.attributes
    variable = asked.known.domain[name]
    in_bins = one.edges is not None or ordered(variable).edges is not None
    scores, counted = (None, ()) if in_bins else _scores(one, variable)
    several = quantile(asked.source, one.levels, name, scores=scores, edges=one.edges, **asked.options)
    which = [f"{each:g}" for each in one.levels]
    if counted:
        places = {size: category for category, size in zip(variable.categories, scores or (), strict=True)}
        which = [f"{each} ({places[value]})" for each, value in zip(which, several.values.tolist(), strict=True)]
    notes = [note for each in several.measures for note in each.warnings]
    return _rows(asked, which, several.values, several.interval(level)), (*counted, *notes)


def of_cdf(asked: Asked, one: Wanted, level: float) -> Told:
    """What `cdf` says."""
    function = cdf(asked.source, one.attributes[0], **asked.options)
    named = "up to" if function.read.edges is None else "below"
    which = [f"{named} {_said(end)}" for end in function.at]
    return _rows(asked, which, function.values, function.interval(level)), function.known.warnings


def of_shares(asked: Asked, one: Wanted, level: float) -> Told:
    """What reports say of linear functionals, with score intervals."""
    known, own = asked.known, asked.known.domain.project(one.attributes)
    rows, places = one.own_rows(own), np.arange(1.0, own.cells + 1)
    if not np.allclose(rows, one.own_rows(own, places / places.sum())):
        raise TypeError(f"{one} is not linear in the shares: its kind has to name an estimator of its own")
    told = known.tell(lifted(known.domain, one.attributes, rows).T)
    least, most = rows.min(axis=1), rows.max(axis=1)
    values = np.clip(told.values, least, most)
    if known.estimate is not None:
        beside = tuple(axis for axis, name in enumerate(known.domain) if name not in own)
        table = known.table.sum(axis=beside).transpose(np.argsort(np.argsort(known.domain.axes(own))))
        values = rows @ table.ravel()
    ends = Interval(*told.interval(critical_value(1 - level, known.df) ** 2), level, "score interval")
    return _rows(asked, one.which(own), values, shown_interval(ends, values, least, most)), known.warnings


def _scores(one: Wanted, variable: Variable) -> tuple[list[float | None] | None, tuple[str, ...]]:
    """What categories count as that nobody gave a number, and that they do; nothing where they are numbers."""
    if not np.isnan(ordered(variable).scores).any():
        return None, ()
    sizes = category_scores(variable)
    every = zip(variable.categories, sizes, strict=True)
    counted = [f"{category} counts as {size:g}" for category, size in every if size is not None]
    return sizes, (f'{one}: {", ".join(counted)}, unless "; scores" says otherwise.',)


def _said(end: object) -> str:
    return f"{end:g}" if isinstance(end, float) else str(end)


def _rows(asked: Asked, which: Sequence[str], values: NDArray[np.float64], ends: Interval) -> list[Row]:
    numbers = {"estimate": values, "low": ends.low, "high": ends.high}
    return list(rows_of({"which": which}, asked.known.n, numbers))
