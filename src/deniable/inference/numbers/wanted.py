"""What a survey was made for, told: a row for each wanted number, with its interval.

Means, quantiles, distribution functions and ranges; tables have estimates of their own. Where reports came through a
channel that was made for these numbers, they are all that can be told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.drawing import intervals_by_row
from deniable.estimation.intervals import critical_value
from deniable.frozen import Frozen
from deniable.inference.numbers.known import Options, lifted, only
from deniable.inference.numbers.mean import mean
from deniable.inference.numbers.quantile import quantile
from deniable.optimal.sizes import bounds_of, counts_as
from deniable.summary import Shown, Summary, number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from matplotlib.axes import Axes

    from deniable.estimation.estimate import Estimate
    from deniable.estimation.estimator import Collected
    from deniable.optimal.wanted import Wanted

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
    """

    wanted: tuple[str, ...]
    which: tuple[str, ...]
    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    level: float

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
        return Summary(columns)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw every number with its interval."""
        names = [f"{wanted} {which}".strip() for wanted, which in zip(self.wanted, self.which, strict=True)]
        ends = (np.array(self.low), np.array(self.high))
        return intervals_by_row(names, self.values, ends, ax, of="value", level=self.level)


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
    for one in wanted:
        if one.kind in TOLD:
            rows += [(str(one), *row) for row in _rows(source, one, level, options)]
    if not rows:
        return None
    texts, which, values, low, high = zip(*rows, strict=True)
    return WantedNumbers(texts, which, values, low, high, level)


def _rows(
    source: Estimate | Collected, one: Wanted, level: float, options: Options
) -> list[tuple[str, float, float, float]]:
    (name,) = one.attributes
    known, variable = only(source, name, options)
    told_by, drawn = (known.estimate, Options()) if known.estimate is not None else (source, options)
    if one.kind == "mean":
        found = mean(told_by, name, scores=one.options[0] if one.options else counts_as(variable), **drawn)
        low, high = found.interval(level)
        return [("", found.value, float(low), float(high))]
    if one.kind == "quantiles":
        levels, *edges = one.options
        bounds = edges[0] if edges else bounds_of(variable)
        several = quantile(told_by, levels, name, edges=bounds, **drawn)
        low, high = several.interval(level)
        return [
            (f"{each:g}", float(v), float(a), float(b))
            for each, v, a, b in zip(levels, several.values, low, high, strict=True)
        ]
    rows = one.rows(known.domain.project([name])) / np.sqrt(one.weight)
    found_rows = known.tell(lifted(known.domain, name, rows.T))
    low, high = found_rows.interval(critical_value(1 - level, known.df) ** 2)
    if one.kind == "cdf":
        which = [f"up to {category}" for category in variable.categories[:-1]]
    else:
        which = [f"{first} to {last}" for first, last in one.options]
    return [
        (label, float(v), float(a), float(b))
        for label, v, a, b in zip(which, found_rows.values, low, high, strict=True)
    ]
