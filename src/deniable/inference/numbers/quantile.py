"""Quantiles of what was answered in disguise.

The quantile at p lies where the distribution function reaches p. A candidate x is refuted when the score interval of
F(x) - p does not hold zero; the confidence interval is what lies between the candidates that are not (Woodruff 1952).
That needs no density, and holds where few answered. Inside a bin, people are taken to lie evenly; where categories
are points, the quantile is one of them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, overload

import numpy as np

from deniable.core.data_frames import refuse_set
from deniable.errors import InputError
from deniable.estimation.intervals import critical_value
from deniable.estimation.notes.stamped import stamped
from deniable.inference.measures.delta_method import Measure
from deniable.inference.numbers.functionals_of_reports import Known, Numbers, Options, lifted, only
from deniable.inference.numbers.ordered_attribute import Ordered, Scores, ordered
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from deniable.estimation.estimate import Estimate
    from deniable.estimation.report_sources import Collected

    Array = NDArray[np.float64]

_PARTS = 64  # of a bin, in which the ends of an interval are looked for


@overload
def quantile(
    source: Estimate | Collected,
    levels: float = ...,
    attribute: str | None = ...,
    *,
    scores: Scores | None = ...,
    edges: Sequence[float] | None = ...,
    **options: Unpack[Options],
) -> Measure: ...


@overload
def quantile(
    source: Estimate | Collected,
    levels: Sequence[float],
    attribute: str | None = ...,
    *,
    scores: Scores | None = ...,
    edges: Sequence[float] | None = ...,
    **options: Unpack[Options],
) -> Numbers: ...


@stamped
def quantile(
    source: Estimate | Collected,
    levels: float | Sequence[float] = 0.5,
    attribute: str | None = None,
    *,
    scores: Scores | None = None,
    edges: Sequence[float] | None = None,
    **options: Unpack[Options],
) -> Measure | Numbers:
    """Quantiles of an ordered or numeric attribute: one, or one for each of several levels.

    Other arguments as for `mean`. In bins it is interpolated; where the categories are points it is one of them, and
    has an interval and no standard error.

    >>> import deniable as dn
    >>> found = dn.estimate(dn.Observation("age", dn.KRR(3, 2.0), [300, 500, 200]), "age")
    >>> age = quantile(found, 0.5, edges=[18, 30, 65, 100])
    >>> round(age.value, 1), [round(float(end), 1) for end in age.interval()]
    (43.1, [41.0, 45.0])
    """
    refuse_set(levels, "the levels of quantiles")
    known, variable = only(source, attribute, options)
    read = ordered(variable, scores, edges)
    if read.edges is None and np.isnan(read.scores).any():
        raise InputError(
            f"the quantile of {variable.name!r} is one of {listed(variable.categories)}, which are no numbers: give "
            f"scores=, or read it off cdf()",
            attribute=variable.name,
        )
    several = [levels] if isinstance(levels, int | float) else list(levels)
    if not several or not all(0 < level < 1 for level in several):
        raise InputError(f"the levels of quantiles lie between 0 and 1, not {listed(several)}")
    found = [_quantile(known, read, float(level)) for level in several]
    if isinstance(levels, int | float):
        return found[0]
    return Numbers(f"quantiles of {variable.name}", {"level": tuple(several)}, tuple(found))


@stamped
def median(
    source: Estimate | Collected,
    attribute: str | None = None,
    *,
    scores: Scores | None = None,
    edges: Sequence[float] | None = None,
    **options: Unpack[Options],
) -> Measure:
    """The median: the quantile at one half."""
    return quantile(source, 0.5, attribute, scores=scores, edges=edges, **options)


def _quantile(known: Known, read: Ordered, level: float) -> Measure:
    table = known.table.sum(axis=tuple(i for i, name in enumerate(known.domain) if name != read.variable.name))
    shares = table[read.places]
    before = np.concatenate([[0.0], np.cumsum(shares)])
    if not before[-1] > 0:
        raise InputError(f"the estimate has nobody who answered {read.variable.name!r} with a number")
    before /= before[-1]
    # The category in which F reaches the level; rounding must not carry it past the last.
    j = min(int(np.searchsorted(before, level, side="left")) - 1, len(shares) - 1)
    name = f"{'median' if level == 0.5 else f'{level:g} quantile'} of {read.variable.name}"
    aside = known.left_out(read)
    ends = partial(_ends, known, read, level)
    if read.edges is None:
        how = "inverted score test, one of the categories"
        return Measure(name, float(read.scores[j]), np.nan, how, (*known.warnings, *aside), ends=ends)
    share = (before[j + 1] - before[j]) or 1.0
    place = j + (level - before[j]) / share
    value = _number(read.edges, float(place))
    width = read.edges[j + 1] - read.edges[j]
    error = float(known.tell(_reached(known, read, level, np.array([place]))).std_error[0]) * width / share
    open_end = () if np.isfinite(width) else ("It falls into a bin without an end: give edges= that close it.",)
    return Measure(name, value, error, "inverted score test", (*known.warnings, *aside, *open_end), ends=ends)


def _number(edges: Array, place: float) -> float:
    """The number at a place: j + f is a share f of the way through bin j."""
    j = min(int(place), len(edges) - 2)
    low, high = float(edges[j]), float(edges[j + 1])
    if place == j or not np.isfinite(low):
        return low
    return high if place == j + 1 or not np.isfinite(high) else low + (place - j) * (high - low)


def _reached(known: Known, read: Ordered, level: float, places: Array) -> Array:
    """F(place) - level times all who count, as functionals of the table: zero where the quantile lies."""
    steps = read.steps()
    j = np.minimum(places.astype(np.int64), len(read.places) - 1)
    columns = steps[:, j] + (places - j) * (steps[:, j + 1] - steps[:, j]) - level * steps[:, -1:]
    return lifted(known.domain, read.variable.name, columns)


def _ends(known: Known, read: Ordered, level: float, confidence: float) -> tuple[float, float]:
    """The first place that F may have reached the level at, and the last that it may not have passed it at."""
    z2 = critical_value(1 - confidence, known.df) ** 2
    count = len(read.places)
    low, high = known.tell(_reached(known, read, level, np.arange(count + 1.0))).interval(z2)
    # At the two ends F is 0 and 1, whatever the reports say.
    low, high = (np.concatenate([[-1.0], end[1:-1], [1.0]]) for end in (low, high))
    first = int(np.argmax(high >= 0))  # place `first` may have reached it, and no place before
    last = count - int(np.argmax(low[::-1] <= 0))  # place `last` may not have passed it, and no place after
    if read.edges is None:
        # Category j is the quantile if F before it is below the level, and F with it is not.
        return float(read.scores[first - 1]), float(read.scores[last])
    ends = (_passes(known, read, (level, z2), first - 1, side=1), _passes(known, read, (level, z2), last, side=0))
    return _number(read.edges, ends[0]), _number(read.edges, ends[1])


def _passes(known: Known, read: Ordered, at: tuple[float, float], j: int, *, side: int) -> float:
    """The place in bin j where the lower (side 0) or upper (side 1) end of F - level passes through zero."""
    level, z2 = at
    places = j + np.linspace(0, 1, _PARTS + 1)
    ends = known.tell(_reached(known, read, level, places)).interval(z2)[side]
    if side == 1:  # the first part at whose far end it is above
        part = int(np.argmax(ends[1:] >= 0)) if (ends[1:] >= 0).any() else _PARTS - 1
    else:  # the last part at whose near end it is below
        part = _PARTS - 1 - int(np.argmax(ends[:-1][::-1] <= 0)) if (ends[:-1] <= 0).any() else 0
    before, after = ends[part], ends[part + 1]
    share = float(np.clip(-before / (after - before), 0, 1)) if after > before else float(side)
    return float(places[part] + share / _PARTS)
