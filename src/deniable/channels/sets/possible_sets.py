"""All sets that can come through a channel, where they are few enough to be counted like categories.

What sets hold says less than the sets themselves: they have a likelihood, set by set. Where all possible ones can be
listed, how often each came is all there is to know of them, and drawing that takes one multinomial.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.channel import multinomials
from deniable.channels.kronecker import Kronecker
from deniable.channels.sets.support import Support

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.channels.channel import Channel

MOST_LISTED = 4096  # possible reports up to which sets are counted like categories


def holds_sets(channel: Channel) -> bool:
    """Whether reports through a channel are sets, whose counts say less than the reports do."""
    return any(isinstance(part, Support) for part in channel.factors)


def possible_sets(channel: Channel) -> NDArray[Any] | None:
    """Every report that can come, a row each, a column a factor of the channel; None where they are too many.

    >>> from deniable.channels.sets.subset import SubsetSelection
    >>> possible_sets(SubsetSelection(3, epsilon=1.0, d=2)).tolist()
    [[3], [5], [6]]
    """
    every = channel.every_report(MOST_LISTED)
    return None if every is None else every.reshape(len(every), -1)


def places_of(channel: Channel, codes: NDArray[Any]) -> NDArray[np.int64]:
    """Where reports, rows as above, stand among all that are possible; only of a channel that has a list of them."""
    every = [factor.every_report(MOST_LISTED) for factor in channel.factors]
    known = [part for part in every if part is not None]
    places = [np.searchsorted(part, column) for part, column in zip(known, codes.T, strict=True)]
    return np.ravel_multi_index(tuple(places), tuple(map(len, known)))


def likelihood_of(channel: Channel, codes: NDArray[Any]) -> NDArray[np.float64]:
    """Pr(report | truth), a row a report: a product takes rows of codes, any other channel numbers."""
    return channel.likelihood(channel.from_rows(codes))


def draw_sets(
    channel: Channel, pi: NDArray[np.float64], n: int, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """What n independent respondents send through a channel of sets: reports, rows as above, and how often each came.

    Of a product with too many possible reports, a row a respondent: some of its attributes may have a list alone. None
    where what the sets hold must do.
    """
    every = possible_sets(channel)
    if every is not None:
        chances = likelihood_of(channel, every) @ pi.reshape(-1, 1)
        return every, multinomials(chances, n, rng, 1)[0]
    if not isinstance(channel, Kronecker):
        return None
    codes = channel.draw_reports(multinomials(pi.reshape(-1, 1), n, rng, 1)[0], rng)
    return codes, np.ones(n, dtype=np.int64)
