"""What results have in common: how they show themselves, and the two smallest of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from deniable.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    import numpy as np
    from numpy.typing import NDArray

_MOST_ROWS = 60  # a printed result stops here and says how many rows it left out


def frame_of(columns: Mapping[str, Any], backend: Any = None) -> Any:
    """Make a data frame: of the library named by `backend` (what the user came with), else a pyarrow table."""
    import narwhals as nw
    import pyarrow as pa

    table = pa.table(dict(columns))
    if backend is None or backend == "pyarrow":
        return table
    return nw.from_arrow(table, backend=backend).to_native()


def beside(cells: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Put result columns beside attribute columns; a result column gives way to an attribute of the same name.

    >>> beside({"value": ["low", "high"]}, {"value": [0.1, 0.9]})
    {'value': ['low', 'high'], 'value_': [0.1, 0.9]}
    """
    joined = dict(cells)
    for name, values in columns.items():
        free = name
        while free in joined:
            free += "_"
        joined[free] = values
    return joined


def backend_of(frame: Any) -> str:
    """Name the data frame library of a frame, as `frame_of` takes it."""
    import narwhals as nw

    return str(nw.from_native(frame, eager_only=True).implementation.value)


def pyplot() -> ModuleType:
    """Import matplotlib when a plot is asked for, and say how to install it when it is absent."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtraError(
            "plots need matplotlib, which is not installed: pip install 'deniable[plot]'", extra="plot"
        ) from None
    return plt


def number(value: object) -> str:
    """Write a number short enough for a table.

    >>> number(0.123456), number(12), number(float("inf"))
    ('0.1235', '12', 'infinite')
    """
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    if value == 0 or 1e-4 <= abs(value) < 1e6:
        return f"{value:.4f}"
    return f"{value:.3e}"


def text_table(columns: Mapping[str, Sequence[object]]) -> str:
    """Lay columns out as plain text, numbers to the right.

    >>> print(text_table({"cell": ["yes", "no"], "estimate": [0.25, 0.75]}))
    cell  estimate
    yes     0.2500
    no      0.7500
    """
    rows, left_out = _rows(columns)
    right = [all(isinstance(value, int | float) for value in values) for values in columns.values()]
    cells = [list(columns), *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    lines = [
        "  ".join(
            text.rjust(width) if is_number else text.ljust(width)
            for text, width, is_number in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join([*lines, *([f"... and {left_out} more rows"] if left_out else [])])


def html_table(columns: Mapping[str, Sequence[object]], caption: str = "") -> str:
    """Lay columns out as an HTML table, everything escaped."""
    rows, left_out = _rows(columns)
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    more = f"<p>... and {left_out} more rows</p>" if left_out else ""
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
    )


def _rows(columns: Mapping[str, Sequence[object]]) -> tuple[list[list[str]], int]:
    every = list(zip(*columns.values(), strict=True))
    return [[number(value) for value in row] for row in every[:_MOST_ROWS]], max(0, len(every) - _MOST_ROWS)


@dataclass(frozen=True)
class Interval:
    """Lower and upper ends of confidence intervals, shaped like the table they belong to.

    Ends are not clipped to [0, 1]: an interval that reaches below zero says how far the noise reaches.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    level: float
    method: str

    def contains(self, values: Any) -> NDArray[np.bool_]:
        """Tell for every cell whether the interval holds the value."""
        return (self.low <= values) & (values <= self.high)

    def __iter__(self) -> Any:
        # So that `low, high = estimate.interval()` reads as it is meant.
        return iter((self.low, self.high))


@dataclass(frozen=True)
class TestResult:
    """The outcome of a hypothesis test.

    Attributes:
        statistic: the value of the test's statistic.
        pvalue: the probability, were the hypothesis true, of a statistic at least this large.
        df: degrees of freedom, where the reference distribution has them.
        method: the test's name, in words.
        notes: what a reader must know to use the result.
    """

    __test__ = False  # not a test case, whatever pytest thinks of the name

    statistic: float
    pvalue: float
    df: float | None
    method: str
    notes: tuple[str, ...] = ()

    def _columns(self) -> dict[str, list[object]]:
        return {
            "test": [self.method],
            "statistic": [self.statistic],
            "df": ["" if self.df is None else self.df],
            "p-value": [self.pvalue],
        }

    def __str__(self) -> str:
        return "\n".join([text_table(self._columns()), *self.notes])

    def _repr_html_(self) -> str:
        return html_table(self._columns(), " ".join(self.notes))
