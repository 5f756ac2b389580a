"""What a survey was made for, told: a row for each wanted number, with its interval.

Means, quantiles, distribution functions and ranges; tables have estimates of their own. Where reports came through a
channel that was made for these numbers, they are all that can be told.

They are what `mean`, `quantile` and `cdf` say, with the same intervals. Where categories are words and nothing says
what they count as, those functions ask for scores; a survey has been planned by then, with 0, 1, 2, ... in their order
(of bins without an end, as wide as their neighbours): so they count here too, and it is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.aims.category_scores import counts_as
from deniable.core.results import Interval
from deniable.core.summary import Shown, Summary, number
from deniable.estimation.intervals import critical_value
from deniable.estimation.notes.stamped import stamped
from deniable.estimation.shown_intervals import shown_interval
from deniable.frozen import Frozen
from deniable.inference.numbers.distribution_function import cdf
from deniable.inference.numbers.functionals_of_reports import Options, lifted, only
from deniable.inference.numbers.mean import mean
from deniable.inference.numbers.ordered_attribute import ordered
from deniable.inference.numbers.quantile import quantile
from deniable.plotting import intervals_by_row

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.aims.aim import Wanted
    from deniable.core.domain import Variable
    from deniable.estimation.estimate import Estimate
    from deniable.estimation.report_sources import Collected

TOLD = ("mean", "quantiles", "cdf", "ranges")


@dataclass(frozen=True)
class WantedNumbers(Shown, Frozen):
    """Wanted numbers as the reports tell them.

    Attributes:
        wanted: what was wanted, a text each.
        which: which of its numbers: a level, a category, a range; nothing for a mean.
        values: the estimates.
        low, high: the ends of their intervals.
        level: how often an interval holds the truth.
        notes: what a reader must know.
    """

    wanted: tuple[str, ...]
    which: tuple[str, ...]
    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    level: float
    notes: tuple[str, ...] = ()

    def summary(self) -> Summary:
        """A row a number."""
        columns: dict[str, list[object]] = {
            "wanted": list(self.wanted),
            "which": list(self.which),
            "estimate": [number(value) for value in self.values],
            f"{self.level:.0%} interval": [
                f"{number(low)} to {number(high)}" for low, high in zip(self.low, self.high, strict=True)
            ],
        }
        return Summary(columns, self.notes)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw every number with its interval."""
        names = [f"{wanted} {which}".strip() for wanted, which in zip(self.wanted, self.which, strict=True)]
        ends = (np.array(self.low), np.array(self.high))
        return intervals_by_row(names, self.values, ends, ax, of="value", level=self.level)


@stamped
def wanted_numbers(
    source: Estimate | Collected, wanted: Sequence[Wanted], level: float = 0.95, **options: Unpack[Options]
) -> WantedNumbers | None:
    """Tell the wanted numbers that are no tables; None where there are none. Options as for `mean`.

    >>> import deniable as dn
    >>> seen = dn.Observation("trust", dn.KRR(3, 1.0), [40, 25, 35])
    >>> found = wanted_numbers(seen, [dn.Wanted.mean("trust", scores=[0, 1, 2])])
    >>> round(found.values[0], 4)
    0.8627
    """
    rows: list[tuple[str, str, float, float, float]] = []
    notes: dict[str, None] = {}
    for one in wanted:
        if one.kind in TOLD:
            told, known = _rows(source, one, level, options)
            rows += [(str(one), *row) for row in told]
            notes |= dict.fromkeys(known)
    if not rows:
        return None
    texts, which, values, low, high = zip(*rows, strict=True)
    return WantedNumbers(texts, which, values, low, high, level, tuple(notes))


Row = tuple[str, float, float, float]


def _rows(source: Estimate | Collected, one: Wanted, level: float, options: Options) -> tuple[list[Row], Sequence[str]]:
    """Which of its numbers, each with its interval, and what must be known of them."""
    (name,) = one.attributes
    known, variable = only(source, name, options)
    told_by, drawn = (known.estimate, Options()) if known.estimate is not None else (source, options)
    if one.kind == "mean":
        scores, counted = (one.options[0], ()) if one.options else _scores(one, variable)
        found = mean(told_by, name, scores=scores, **drawn)
        low, high = found.interval(level)
        return [("", found.value, float(low), float(high))], (*counted, *found.warnings)
    if one.kind == "quantiles":
        levels, *given = one.options
        edges = given[0] if given else None
        in_bins = edges is not None or ordered(variable).edges is not None
        scores, counted = (None, ()) if in_bins else _scores(one, variable)
        several = quantile(told_by, levels, name, scores=scores, edges=edges, **drawn)
        which = [f"{each:g}" for each in levels]
        if counted:  # one of the categories, which has a name
            places = {size: category for category, size in zip(variable.categories, scores or (), strict=True)}
            which = [f"{each} ({places[value]})" for each, value in zip(which, several.values.tolist(), strict=True)]
        notes = [note for each in several.measures for note in each.warnings]
        return _zipped(which, several.values, several.interval(level)), (*counted, *notes)
    if one.kind == "cdf":
        function = cdf(told_by, name, **drawn)
        named = "up to" if function.read.edges is None else "below"
        which = [f"{named} {_said(end)}" for end in function.at]
        return _zipped(which, function.values, function.interval(level)), function.known.warnings
    rows = one.rows(known.domain.project([name])) / np.sqrt(one.weight)
    told = known.tell(lifted(known.domain, name, rows.T))
    values = np.clip(told.values, 0.0, 1.0)
    if known.estimate is not None:
        values = rows @ known.table.sum(axis=tuple(i for i, other in enumerate(known.domain) if other != name))
    ends = Interval(*told.interval(critical_value(1 - level, known.df) ** 2), level, "score interval")
    which = [f"{first} to {last}" for first, last in one.options]
    return _zipped(which, values, shown_interval(ends, values)), known.warnings


def _scores(one: Wanted, variable: Variable) -> tuple[list[float | None] | None, tuple[str, ...]]:
    """What categories count as that nobody gave a number, and that they do; nothing where they are numbers."""
    if not np.isnan(ordered(variable).scores).any():
        return None, ()
    sizes = counts_as(variable)
    every = zip(variable.categories, sizes, strict=True)
    counted = [f"{category} counts as {size:g}" for category, size in every if size is not None]
    return sizes, (f'{one}: {", ".join(counted)}, unless "; scores" says otherwise.',)


def _said(end: object) -> str:
    return f"{end:g}" if isinstance(end, float) else str(end)


def _zipped(which: Sequence[str], values: NDArray[np.float64], ends: Interval) -> list[Row]:
    return [
        (label, float(value), float(low), float(high))
        for label, value, low, high in zip(which, values, ends.low, ends.high, strict=True)
    ]
