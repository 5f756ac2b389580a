"""Ballots: how they are drawn, by whole numbers, and which respondents drew which.

Sharing a respondent's total epsilon among the questions of a ballot.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.device.epsilon import require_number
from deniable.errors import DesignError
from deniable.text import counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.core.randomness import Source
    from deniable.designs.question import Question

MOST_WEIGHT = 1 << 32  # a ballot is drawn by an even number below the sum of the weights
ALL = slice(None)


def lowest_terms(weights: Sequence[int] | None, ballots: int) -> tuple[int, ...] | None:
    """Check the ballots' weights; None where all are drawn alike.

    >>> lowest_terms([6, 2], 2), lowest_terms([5, 5], 2)
    ((3, 1), None)
    """
    if weights is None:
        return None
    if len(weights) != ballots or not all(type(each) is int and each > 0 for each in weights):
        raise DesignError(f"ballots are drawn by whole numbers above 0, one for each of the {ballots}", ballots=ballots)
    common = gcd(*weights)
    lowest = tuple(each // common for each in weights)
    if sum(lowest) >= MOST_WEIGHT:
        raise DesignError(f"the weights of ballots sum to less than 2^32, not to {sum(lowest)}", total=sum(lowest))
    return None if len(set(lowest)) == 1 else lowest


def drawn_ballots(weights: tuple[int, ...] | None, ballots: int, n: int, source: Source) -> NDArray[Any]:
    """A ballot for each of n respondents, exactly: by an even number below the sum of the weights."""
    stream, kind = source.stream(), np.min_scalar_type(ballots - 1)
    if weights is None:
        return stream.below(ballots, n).astype(kind)
    ends = np.cumsum(weights)
    return np.searchsorted(ends, stream.below(int(ends[-1]), n), side="right").astype(kind)


def rows_of(drawn: NDArray[np.integer], ballots: int) -> Sequence[slice | NDArray[np.intp]]:
    """The rows in which each ballot was drawn, in order, found by one sort instead of a look at all rows for each.

    >>> [rows.tolist() for rows in rows_of(np.array([1, 0, 1]), 3)]
    [[1], [0, 2], []]
    """
    if ballots == 1:
        return [ALL]
    order = np.argsort(drawn, kind="stable")
    return np.split(order, np.cumsum(np.bincount(drawn, minlength=ballots))[:-1])


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


def asked_in_words(
    questions: Sequence[Question], ballots: Sequence[Sequence[int]], weights: Sequence[int] | None
) -> str:
    """What a respondent is asked, in a sentence: whose device draws which of the questions."""
    fewest, most = min(map(len, ballots)), max(map(len, ballots))
    count = counted(most, "question") if fewest == most else f"{fewest} to {most} questions"
    often = "" if weights is None else "some more often than others but "
    drawn = (
        f"Each respondent's own device draws one of {len(ballots)} ballots, {often}whatever the "
        f"answers are, and each ballot asks {count}, out of"
        if len(ballots) > 1
        else f"Each respondent answers {count}:"
    )
    names = listed(question.name for question in questions).replace("'", "")
    return f"{drawn} {names}."
