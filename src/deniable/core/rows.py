"""Row: an estimated cell with its error and interval, as text, data frames, JSON, CSV, pages and scripts state it.

An estimate makes its rows once, with `rows(level)`; whoever shows them lays them out and computes nothing.
"""

from __future__ import annotations

from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deniable.core.results import frame_of
from deniable.core.summary import Span, Summary, beside, share, stamped_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from deniable.core.results import Frame
    from deniable.core.summary import Columns

LEVEL = 0.95  # of intervals where nobody says another: the convention of survey reports
NUMBERS = ("estimate", "std_error", "low", "high", "unbiased", "efficient", "unclipped_low", "unclipped_high")
SHOWN = NUMBERS[:4]  # what is not clipped is for those who compute with it


class Row(NamedTuple):
    """A cell of a table with what is told of it.

    `cell` are its categories, `n` how many reports it stands on. `estimate`, `std_error`, `low` and `high` are what
    people are shown, `unbiased`, `efficient`, `unclipped_low` and `unclipped_high` the same before shares are kept to 0
    to 1; NaN is what there is none of. `reason` says why there is no interval, or no number at all; `stamp` what a row
    that leaves without its table says of itself: simulated, or a pilot's.
    """

    cell: tuple[Any, ...]
    n: int
    estimate: float = nan
    std_error: float = nan
    low: float = nan
    high: float = nan
    unbiased: float = nan
    efficient: float = nan
    unclipped_low: float = nan
    unclipped_high: float = nan
    reason: str = ""
    stamp: str = ""

    @property
    def interval(self) -> Span:
        """Both ends."""
        return Span(self.low, self.high)

    def holds(self, value: float) -> bool:
        """Whether the interval holds a value."""
        return self.low <= value <= self.high

    @property
    def is_refused(self) -> bool:
        """Whether its reason stands in the place of every number."""
        return bool(self.reason) and isnan(self.estimate)

    def numbers(self, names: Iterable[str] = NUMBERS) -> dict[str, float | None]:
        """Its numbers by name as JSON and CSV have them: None where there is none, or no end.

        >>> Row(("yes",), 50, estimate=0.0, std_error=0.1).numbers(SHOWN)
        {'estimate': 0.0, 'std_error': 0.1, 'low': None, 'high': None}
        """
        found = ((name, getattr(self, name)) for name in names)
        return {name: value if isfinite(value) else None for name, value in found}


def rows_of(
    cells: Columns, n: int, numbers: Mapping[str, Any], *, reasons: Sequence[str] = (), stamp: str = ""
) -> tuple[Row, ...]:
    """Rows out of columns.

    Args:
        cells: the attributes' categories.
        n: how many reports they stand on.
        numbers: arrays by the names of a row's numbers.
        reasons: why cells have no interval, a text each; nothing for those that have one.
        stamp: whether reports are simulated, or a pilot's.

    >>> rows_of({"smokes": ["no", "yes"]}, 50, {"estimate": np.array([0.7, 0.3])})[1].estimate
    0.3
    """
    told = [np.ravel(values).tolist() for values in numbers.values()]
    every = zip(zip(*cells.values(), strict=True), zip(*told, strict=True), strict=True)
    return tuple(
        Row(cell, n, **dict(zip(numbers, values, strict=True)), reason=reasons[place] if reasons else "", stamp=stamp)
        for place, (cell, values) in enumerate(every)
    )


def cells_of(names: Sequence[str], rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The categories of rows, a column an attribute."""
    return {name: [row.cell[place] for row in rows] for place, name in enumerate(names)}


def columns_of(
    names: Sequence[str], rows: Sequence[Row], numbers: Iterable[str] = NUMBERS, *, value: str = "estimate"
) -> dict[str, list[Any]]:
    """Rows as columns: the attributes, then numbers; `value` is the heading of the estimate."""
    told = {value if name == "estimate" else name: [getattr(row, name) for row in rows] for name in numbers}
    return beside(cells_of(names, rows), told)


def frame(
    names: Sequence[str],
    rows: Sequence[Row],
    backend: Any = None,
    numbers: Iterable[str] = NUMBERS,
    *,
    value: str = "estimate",
) -> Frame:
    """Rows as a data frame, with their stamp as a column where they have one."""
    stamp = rows[0].stamp if rows else ""
    return frame_of(stamped_columns(columns_of(names, rows, numbers, value=value), word=stamp), backend)


def of_shares(
    cells: Columns,
    rows: Sequence[Row],
    level: float,
    notes: Sequence[str] = (),
    title: str = "",
    *,
    value: str = "estimate",
    raw: Sequence[float | None] = (),
) -> Summary:
    """The layout of estimated shares, a row a cell: the attributes, the shares, their errors, one interval.

    Args:
        cells: the rows' categories, in words.
        rows: the shares.
        level: the coverage of the intervals.
        notes: what to keep in mind.
        title: what was asked, in words.
        value: the heading of the shares.
        raw: the shares of the reports as they came, which then stand beside the cells; None where there is none.

    >>> rows = [Row(("yes",), 200, 0.25, 0.013, 0.225, 0.276)]
    >>> print(of_shares({"smokes": ["yes"]}, rows, 0.95))
    smokes  estimate  std_error    95% interval
    yes        25.0%      1.30%  22.5% to 27.6%
    """
    came = {"as it came": ["" if one is None else share(one) for one in raw]} if raw else {}
    told: dict[str, list[Any]] = {
        value: [share(row.estimate) for row in rows],
        "std_error": [share(row.std_error, 2) for row in rows],
        f"{level:.0%} interval": [row.interval for row in rows],
    }
    return Summary(beside(cells, came | told), tuple(notes), title, stamp=rows[0].stamp if rows else "")
