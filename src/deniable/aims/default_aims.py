"""What is wanted where nobody has said it: every share and every pair."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from deniable.aims.aim import Wanted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.core.domain import Domain


def shares_and_pairs(domain: Domain) -> tuple[Wanted, ...]:
    """The shares of every attribute, and the table of every two: what a plan, a file or a table is for by default.

    >>> from deniable.core.domain import Domain
    >>> [str(one) for one in shares_and_pairs(Domain({"a": [0, 1], "b": [0, 1]}))]
    ['a', 'b', 'a * b']
    """
    return (*map(Wanted.shares, domain), *(Wanted.table(*pair) for pair in combinations(domain.names, 2)))


def in_words(wanted: Sequence[Wanted], domain: Domain) -> str:
    """What is wanted, in a sentence."""
    if len(domain) > 1 and tuple(wanted) == shares_and_pairs(domain):
        return "every share and every pair"
    return ", ".join(map(str, wanted))
