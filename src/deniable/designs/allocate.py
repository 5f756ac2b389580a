"""Sharing a respondent's total epsilon among the questions of a ballot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from deniable.device.epsilon import require_number
from deniable.errors import DesignError


def even_share(total: float, parts: int) -> float:
    """A part's share of the total, rounded so that the parts never exceed it.

    >>> even_share(1.0, 4)
    0.25
    """
    require_number(total)
    if not 0 < total < math.inf:
        raise DesignError(
            f"epsilon is the respondent's total and must be positive and finite, not {total!r}", epsilon=total
        )
    share = total / parts
    while Fraction(share) * parts > Fraction(total):
        share = math.nextafter(share, 0.0)
    return share


def shares(epsilon: float | Mapping[str, float], names: tuple[str, ...]) -> dict[str, float]:
    """Every question's epsilon: an even share of a total, or what the mapping says."""
    if not isinstance(epsilon, Mapping):
        return dict.fromkeys(names, even_share(epsilon, len(names)))
    if set(epsilon) != set(names):
        raise DesignError(
            f"epsilon must name each of {sorted(names)} once; it names {sorted(epsilon)}", expected=sorted(names)
        )
    return {name: even_share(epsilon[name], 1) for name in names}
