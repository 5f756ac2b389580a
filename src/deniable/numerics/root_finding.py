"""Bracketed root finding: Chandrupatla's method element by element, Brent's for one number, as SciPy has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import ConvergenceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

_SAME_SIGN = -1  # SciPy's status of an element whose function has the same sign at both ends; below it are failures


def bracketed_root(
    f: Callable[..., Array], inside: ArrayLike, outside: ArrayLike, *args: ArrayLike, close: float | None = None
) -> Array:
    """Where a continuous function changes its sign between two ends, from the side of `inside`.

    So what holds inside holds at the result, too: it is never a rounding beyond. An element of which the sign is the
    same at both ends has its outer end.

    Args:
        f: of an array of places and of as many of each of the arguments.
        inside: an end for every element.
        outside: the other.
        *args: what the function depends on besides, element by element.
        close: how far the result may be from the root; by default a few roundings.

    >>> bracketed_root(lambda x, of: x**2 - of, [1.0, 0.0, 0.0], 2.0, [2.0, 3.0, 9.0]).round(6).tolist()
    [1.414214, 1.732051, 2.0]
    """
    from scipy.optimize import elementwise

    begin, end = np.broadcast_arrays(np.asarray(inside, dtype=np.float64), np.asarray(outside, dtype=np.float64))
    found = elementwise.find_root(f, (begin, end), args=args, tolerances={} if close is None else {"xatol": close})
    if ((found.status < _SAME_SIGN) | (found.success & ~np.isfinite(found.f_bracket).all(axis=0))).any():
        raise ConvergenceError("a root was not found: the function has no value between the ends, or never settles")
    # The bracket is in rising order; where its ends lie says which of them is the inner one.
    inner = np.where(begin < end, found.bracket[0], found.bracket[1])
    return np.where(found.success, np.where(found.f_x == 0, found.x, inner), end)


def root(f: Callable[[float], float], inside: float, outside: float, close: float = 1e-15) -> float:
    """The same of one number, without the overhead that arrays need to pay off.

    >>> round(root(lambda x: x**2 - 2, 1.0, 2.0), 6), root(lambda x: x**2 - 9, 0.0, 2.0)
    (1.414214, 2.0)
    """
    from scipy.optimize import brentq

    start = f(inside)
    if start == 0 or start * f(outside) > 0:
        return outside if start else inside
    found = float(brentq(f, inside, outside, xtol=close))
    # At most `close` beyond the root, and a few roundings.
    return found if f(found) * start >= 0 else _towards(found, inside, 2 * close + 1e-15 * abs(found))


def _towards(x: float, end: float, step: float) -> float:
    return max(x - step, end) if end < x else min(x + step, end)
