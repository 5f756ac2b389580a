"""Sample sizes from exact powers, which rise like a saw: up with n on the whole, down a little at many steps.

A count is a whole number, so a test's true level lies below the nominal one by a little that changes with n. The first
n that reaches the target may therefore be followed by larger ones that miss it. What is returned here is the n from
which on the target is never missed again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

MOST = 10**9


def settle(f: Callable[[NDArray[np.int64]], NDArray[np.float64]], target: float, guess: float) -> tuple[int, int]:
    """The first n with f(n) >= target, and the first from which on f stays there.

    The teeth of the saw are about sqrt(n) wide, so a window of some sqrt(n) around a good guess shows both; it is
    widened until its lower quarter lies below the target and its upper quarter above.
    """
    if not guess < MOST:
        raise InputError(
            f"more than {MOST:.0e} respondents would be needed: ask for less, or use a device with less noise"
        )
    centre = max(2.0, guess)
    below = above = 8 * np.sqrt(centre) + 60
    while True:
        low, high = max(2, int(centre - below)), int(centre + above)
        n = np.arange(low, high + 1)
        reached = f(n) >= target
        quarter = max(1, len(n) // 4)
        if not reached[-quarter:].all():
            if high > MOST:
                raise InputError(f"the target {target:g} is not reached with {MOST:.0e} respondents")
            above *= 2
        elif low > 2 and reached[:quarter].any():
            below *= 2
        else:
            break
    missed = np.flatnonzero(~reached)
    return int(n[np.argmax(reached)]), int(n[missed[-1]] + 1) if len(missed) else low
