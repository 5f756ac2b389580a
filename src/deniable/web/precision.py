"""How exact an estimate is by now, and how many reports would make it how much more exact, in one sentence."""

from __future__ import annotations

from math import ceil, log10

_POINTS = (20.0, 10.0, 5.0, 3.0, 2.0, 1.0, 0.5, 0.2, 0.1)


def precision(half_width: float, reports: int) -> str:
    """Say how wide the widest interval is, and what the next step would take.

    A half width shrinks with the root of the number of reports: from h to g takes n (h^2 / g^2 - 1) more.

    >>> precision(0.042, 1000)
    'Within ±4.2 points. About 960 more reports for ±3 points.'
    >>> precision(0.0004, 10**9)
    'Within ±0.04 points.'
    """
    points = 100 * half_width
    told = f"Within ±{points:.2g} points." if points < 1 else f"Within ±{points:.1f} points."
    wanted = next((each for each in _POINTS if each < 0.9 * points), None)
    if wanted is None:
        return told
    more = reports * ((points / wanted) ** 2 - 1)
    return f"{told} About {_rounded(more):,} more reports for ±{wanted:g} points."


def _rounded(number: float) -> int:
    """Up, to two digits.

    >>> [_rounded(each) for each in (0.2, 7.1, 96.4, 961, 12345)]
    [1, 8, 97, 970, 13000]
    """
    unit = int(10 ** max(0, int(log10(max(number, 1))) - 1))
    return max(1, ceil(number / unit - 1e-9)) * unit
