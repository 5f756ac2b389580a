"""What people are shown: a point and an interval that hold together, both in the range there is.

The point is the constrained estimate. The interval is what the range leaves of the unclipped one, stretched to the
point where that lies outside. Cutting off what cannot be costs no coverage, because the truth is in the range. Where
the range leaves nothing, there is no interval: its ends are NaN, and a sentence says what that means. It accuses
nobody: that fewer came than chance explains is said where an exact test finds it, of all that is looked at together.

A standard error says how reports vary, and reports that are all alike do not show it: where nobody is in a category and
the disguise makes no such reports of others, it would be 0. The interval knows better, and no error contradicts it: an
arm of it is at most 2.5 times as long as one of a normal interval with that error. Of a direct count of one, Wilson's
is 2.4 times as long, and of larger ones less, so that errors stay as they are wherever a single report shows some.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.intervals import critical_value

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from deniable.core.results import Interval

    Array = NDArray[np.float64]

_LONGEST = 2.5  # times an arm of the normal interval: how long an arm may be


def shown_interval(
    unclipped: Interval, values: Array, least: float | Array = 0.0, most: float | Array = 1.0
) -> Interval:
    """The hull of each point and of what a range leaves of its interval; NaN where it leaves nothing.

    >>> from deniable.core.results import Interval
    >>> wide = Interval(np.array([-0.03, -0.2, 0.01]), np.array([0.1, -0.1, 0.3]), 0.95, "Wald")
    >>> found = shown_interval(wide, np.array([0.02, 0.0, 0.0]))
    >>> found.low.tolist(), found.high.tolist()
    ([0.0, nan, 0.0], [0.1, nan, 0.3])
    """
    low, high = np.maximum(unclipped.low, least), np.minimum(unclipped.high, most)
    empty = low > high
    low, high = np.where(empty, np.nan, [np.fmin(values, low), np.fmax(values, high)])
    return replace(unclipped, low=low, high=high)


def stated_error(error: Array, values: Array, interval: Interval, df: float = np.inf, *, most: bool = False) -> Array:
    """A standard error that does not contradict the interval it stands beside: see above.

    With `most`, nor is it longer than the longer arm: an interval found in another way may know better of that too.

    >>> from deniable.core.results import Interval
    >>> none_of_fifty = Interval(np.array([0.0]), np.array([0.0713]), 0.95, "Wilson")
    >>> stated_error(np.array([0.0]), np.array([0.0]), none_of_fifty).round(4).tolist()
    [0.0146]
    """
    arm = np.fmax(values - interval.low, interval.high - values)
    least = arm / (_LONGEST * critical_value(1 - interval.level, df))
    kept = np.clip(error, least, np.where(arm > 0, arm, np.inf)) if most else np.fmax(error, least)
    return np.where(np.isfinite(arm), kept, error)


_BELOW, _ABOVE = "end below 0%", "begin above 100%"


def why_none_shown(unclipped: Interval) -> list[str]:
    """Why cells have no interval, a text each: where it would lie; nothing for those that have one.

    >>> from deniable.core.results import Interval
    >>> why_none_shown(Interval(np.array([1.1, 0.1]), np.array([1.3, 0.2]), 0.95, "Wald"))
    ['the interval would begin above 100%', '']
    """
    ends = zip(np.ravel(unclipped.low).tolist(), np.ravel(unclipped.high).tolist(), strict=True)
    beyond = (_BELOW if high < 0 else _ABOVE if low > 1 else "" for low, high in ends)
    return [where and f"the interval would {where}" for where in beyond]


def none_shown(cells: Sequence[str], unclipped: Interval, but: Collection[str] = ()) -> list[str]:
    """What to say of shares whose unclipped intervals lie outside of 0 to 1: of those below it, else of those above.

    It says nothing about the respondents. An interval misses its share now and then, and of many categories that
    nobody is in, one is below 0 in most surveys; whether fewer came than chance explains is for `fewer_than_chance`,
    and what it says it of is left out here.

    >>> from deniable.core.results import Interval
    >>> far = Interval(np.array([1.1, -0.3]), np.array([1.3, -0.1]), 0.95, "Wald")
    >>> none_shown(["no", "yes"], far)
    ['Too few reports to tell the share of yes: the 95% interval would end below 0%, so none is shown.']
    """
    sides = (unclipped.high < 0, _BELOW), (unclipped.low > 1, _ABOVE)
    for outside, where in sides:
        beyond = [cell for cell, far in zip(cells, np.ravel(outside), strict=True) if far]
        named = [cell for cell in beyond if cell not in but]
        if named:
            told = f"Too few reports to tell the share of {' and '.join(named)}"
            return [f"{told}: the {unclipped.level:.0%} interval would {where}, so none is shown."]
        if beyond:
            return []
    return []
