"""Correlation of two columns of which one or both were disguised.

A disguised column with truth scores s_v has unbiased scores  z = Q's  and  zz = Q's^2  of a report:  E(z | truth) = s,
E(zz | truth) = s^2. A column given directly is its own score. Since the two devices are independent,

    Cov(x, y) = E z_x z_y - E z_x E z_y,     Var(x) = E zz_x - (E z_x)^2,     r = Cov / sqrt(Var(x) Var(y)).

The standard error is the delta method's, from the empirical covariance of the five means. Nothing is clipped: with much
noise r can lie outside [-1, 1].

References:
    J. A. Fox and P. E. Tracy (1984), Measuring associations with randomized response, Social Science Research 13,
    188-197. S. Himmelfarb and S. E. Edgell (1980), Psychological Bulletin 87(3), 525-530, for quantitative answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import InputError, MissingValueError, TooFewReportsError
from deniable.estimation.intervals import critical_value
from deniable.inference.regression.formula import as_pandas, column_of
from deniable.inference.regression.outcome import disguised
from deniable.results import Interval, intervals_by_row
from deniable.summary import Shown, Summary
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.channels.base import Channel

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
    """

    value: float
    std_error: float
    n: int
    columns: tuple[str, str]
    notes: tuple[str, ...] = ()

    def interval(self, level: float = 0.95) -> Interval:
        """On Fisher's scale, atanh(r) +- z std_error / (1 - r^2), mapped back; plain Wald where |r| >= 1."""
        wide = critical_value(1 - level)
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


def correlate(frame: Any, x: str, y: str, *, channels: Mapping[str, Channel] | None = None) -> Correlation:
    """Pearson's correlation of two columns, each disguised (named in `channels`) or given directly.

    A disguised column's truths count 0, 1, 2, ... in the order of its categories, or as the categories themselves where
    these are numbers. For two yes-or-no answers this is the phi coefficient.

    Args:
        frame: any data frame.
        x: one column.
        y: the other.
        channels: the channels of the disguised ones. Their devices must be independent of each other.

    >>> import pandas as pd
    >>> import deniable as dn
    >>> frame = pd.DataFrame({"x": [0] * 50 + [1] * 50, "y": [0.0, 1.0] * 25 + [1.0, 2.0] * 25})
    >>> round(dn.correlate(frame, "x", "y").value, 4)
    0.7071
    """
    data, known = as_pandas(frame), dict(channels or {})
    strangers = [name for name in known if name not in (x, y)]
    if strangers:
        raise InputError(f"channels names {listed(strangers)}, which are not correlated here")
    if x == y:
        raise InputError(f"name two different columns, not {x!r} twice: one device's noise is in both")
    if len(data) < 4:
        raise TooFewReportsError(f"{len(data)} rows are too few for a correlation", n=len(data))
    (zx, zzx), (zy, zzy) = (_scores(name, column_of(data, name), known.get(name)) for name in (x, y))
    moments = np.stack([zx, zy, zx * zy, zzx, zzy])
    ex, ey, exy, exx, eyy = moments.mean(axis=1)
    cov, vx, vy = exy - ex * ey, exx - ex**2, eyy - ey**2
    if vx <= 0 or vy <= 0:
        name = x if vx <= 0 else y
        raise TooFewReportsError(
            f"the estimated variance of {name!r} is not positive ({min(vx, vy):.4g}): too few reports for so much "
            "noise, or a constant column",
            attribute=name,
        )
    value = cov / np.sqrt(vx * vy)
    # d r over (ex, ey, exy, exx, eyy); d vx = d exx - 2 ex d ex.
    root = np.sqrt(vx * vy)
    slopes = np.array(
        [-ey / root + value * ex / vx, -ex / root + value * ey / vy, 1 / root, -value / (2 * vx), -value / (2 * vy)]
    )
    error = float(np.sqrt(slopes @ np.cov(moments) @ slopes / len(data)))
    notes = ("The estimate lies outside [-1, 1]: noise reaches that far.",) if abs(value) > 1 else ()
    return Correlation(float(value), error, len(data), (x, y), notes)


def _scores(name: str, column: Any, channel: Channel | None) -> tuple[Array, Array]:
    """Unbiased scores of a column's value and of its square."""
    if channel is not None:
        found = disguised(name, column, channel)
        numbers = all(isinstance(label, int | float) for label in found.labels)
        scale = np.array(found.labels if numbers else range(len(found.labels)), dtype=np.float64)
        return found.scores @ scale, found.scores @ scale**2
    if column.isna().any():
        raise MissingValueError(f"column {name!r} has {int(column.isna().sum())} missing values; drop those rows")
    try:
        values = column.to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"column {name!r} must hold numbers, or be named in channels", attribute=name) from None
    return values, values**2
