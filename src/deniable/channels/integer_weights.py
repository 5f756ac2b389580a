"""Probabilities as integers: reading what a person states, and rounding it to what our code runs."""

from __future__ import annotations

import math
import operator
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from deniable.device.channels.channel_kind import WIDTHS
from deniable.errors import DesignError, NotExecutableError, PrecisionError, ProbabilityError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from deniable.channels.channel import Channel

C = TypeVar("C", bound="Channel")
CLOSE = 1e-3  # a realised epsilon may fall short of the requested one by this share


def stated(value: Any, what: str) -> Fraction:
    """Read a probability as it was stated: .8 is four fifths, not the nearest binary fraction.

    >>> stated(0.8, "p")
    Fraction(4, 5)
    """
    try:
        number = Fraction(repr(float(value))) if isinstance(value, float | np.floating) else Fraction(value)
    except (TypeError, ValueError):
        raise ProbabilityError(f"{what} must be a probability, not {value!r}", value=value) from None
    if not 0 <= number <= 1:
        raise ProbabilityError(f"{what} must lie between 0 and 1, not {value!r}", value=value)
    return number


def written(text: object) -> Fraction:
    """Read "n/d" as `to_dict` writes it; an exponent or a thousand digits would be an attack on whoever reads it.

    >>> written("4/5")
    Fraction(4, 5)
    """
    if not re.fullmatch(r"\d{1,400}(/\d{1,400})?", str(text)):
        raise ValueError(f"{str(text)[:40]!r} is not a fraction of whole numbers")
    return Fraction(str(text))


def whole(value: Any, what: str) -> int:
    """Read a whole number: 3.0, "3" and True are none, and NumPy's integers (which overflow) become Python's.

    >>> whole(np.int64(3), "k")
    3
    """
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise ProbabilityError(f"{what} must be a whole number, not {value!r}", value=value)


def width(bits: Any) -> int:
    """Read the width of a draw.

    >>> width(16)
    16
    """
    found = whole(bits, "bits")
    if found not in WIDTHS:
        raise DesignError(f"draws have 16 or 32 bits, not {found}", bits=found)
    return found


def largest_ratio(rows: Sequence[Sequence[Fraction | int]]) -> Fraction | float:
    """The largest W[u, v] / W[u, v'] over rows; infinite when a row has a zero beside a positive entry."""
    worst: Fraction | float = Fraction(1)
    for row in rows:
        low, high = min(row), max(row)
        if high == 0:
            continue  # a report that never occurs tells nothing
        if low == 0:
            return math.inf
        worst = max(worst, Fraction(high) / Fraction(low))
    return worst


def round_column(column: Sequence[Fraction], bits: int, name: str) -> list[int]:
    """Round probabilities that sum to one to integers that sum to 2^bits: each within one of its exact share.

    The largest remainders get the units that rounding down left over. A zero is refused: whoever sees that report would
    know a truth to be impossible.
    """
    if min(column) == 0:
        raise NotExecutableError(
            f"{name} gives some report the probability zero for some truth, so that report would rule the truth out "
            f"(epsilon is infinite). It can be analysed when performed by hand, but is not run or served. Choose "
            f"probabilities above zero, for example KRR(k, epsilon=...)",
            channel=name,
        )
    whole = 1 << bits
    exact = [share * whole for share in column]
    floors = [max(1, math.floor(share)) for share in exact]
    left = whole - sum(floors)
    if left < 0:
        raise PrecisionError(
            f"{name} has {len(column)} reports, some rarer than 2^-{bits}: too rare to run with {bits}-bit draws",
            channel=name,
        )
    by_remainder = sorted(range(len(column)), key=lambda u: floors[u] - exact[u])
    for u in by_remainder[:left]:
        floors[u] += 1
    return floors


def weights_array(columns: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Columns of integers as W[u, v]."""
    return np.array(columns, dtype=np.int64).T.copy()


def narrowest(requested: float, make: Callable[[int], C | None], name: str) -> C:
    """Take the smallest width whose realised epsilon is within 0.1% below the requested one."""
    best: C | None = None
    for bits in WIDTHS:
        channel = make(bits)
        if channel is None:
            continue
        if channel.epsilon >= requested * (1 - CLOSE):
            return channel
        best = channel
    reached = "no such channel exists" if best is None else f"the nearest below it is {best.epsilon:.6g}"
    raise PrecisionError(
        f"{name} cannot meet epsilon {requested:g} within 0.1% with {WIDTHS[-1]}-bit draws ({reached}). Ask for fewer "
        f"categories or attributes at a time, or for another epsilon",
        requested=requested,
        reached=None if best is None else best.epsilon,
    )
