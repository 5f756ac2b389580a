"""Questions of as many attributes as pay: too many to be listed, they are made of those that are asked often.

What a question about the attributes T would add to a mix is its slope, and where it lies above the loss, the mix is
better with it. Sets of up to four attributes are listed. Larger ones are made by adding one attribute to a set that the
best mix so far asks often; those of the largest slopes join, the mix is balanced anew, and so on until nothing is
gained. A question pays as long as it has about e^epsilon possible answers, so that none has more than twice as many.
"""

from __future__ import annotations

from math import ceil, exp, prod
from typing import TYPE_CHECKING, Protocol

import numpy as np

from deniable.errors import ConvergenceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.core.domain import Domain

    Attributes = tuple[str, ...]
    Array = NDArray[np.float64]

MOST_CELLS = 4096  # possible answers to a question that is proposed: a device weighs each of them
_ROUNDS = 12
_HEADS = 60  # questions that others are made of, in every round
_PRICED = 1200  # that are looked at in every round
_JOINING = 120  # of these, the ones that join
_GAINED = 3e-4  # a round that spares less, as a share, is one without gain
_PATIENCE = 2  # so many of these, and it ends: a step may need another one to pay
_SELDOM = 1e-7


class Weighing(Protocol):
    """Balances questions, given by their attributes."""

    def balanced(self, sets: Sequence[Attributes]) -> tuple[Array, float]:
        """How often each is asked in the best mix, and its loss."""
        ...

    def slopes(self, more: Sequence[Attributes]) -> Array:
        """How the loss of the mix that was balanced last falls towards other questions."""
        ...


def pays(epsilon: float) -> int:
    """The most possible answers a question may have and still be worth asking."""
    return min(MOST_CELLS, ceil(2 * exp(min(epsilon, 20.0))))


def generated(asked: Domain, sets: list[Attributes], weighing: Weighing, most: int) -> list[Attributes]:
    """The questions that are listed, and larger ones that make the best mix better, of at most so many cells."""
    sizes = {name: len(variable) for name, variable in asked.items()}
    least = prod(sorted(sizes.values())[: max(map(len, sets), default=0) + 1])
    if max(map(len, sets), default=0) >= len(asked) or least > most:
        return sets
    weights, loss = weighing.balanced(sets)
    known, every, rng, patience = set(sets), list(sets), np.random.default_rng(0), _PATIENCE
    for _ in range(_ROUNDS):
        heads = [every[place] for place in np.argsort(-weights, kind="stable")[:_HEADS]]
        wider = (tuple(name for name in asked if name in one or name == more) for one in heads for more in asked)
        more = [one for one in dict.fromkeys(wider) if one not in known and prod(sizes[n] for n in one) <= most]
        if len(more) > _PRICED:  # as many of each attribute, on average
            more = [more[place] for place in np.sort(rng.choice(len(more), _PRICED, replace=False))]
        if not more:
            break
        slopes = weighing.slopes(more)
        joining = [more[place] for place in np.argsort(-slopes, kind="stable")[:_JOINING]]
        known.update(joining)
        before, listed = loss, every
        often = [one for one, weight in zip(every, weights, strict=True) if weight > _SELDOM]
        every = [*often, *joining]
        try:
            weights, loss = weighing.balanced(every)
        except ConvergenceError:
            every = listed  # without those that cannot be balanced
            break
        patience = _PATIENCE if loss < before * (1 - _GAINED) else patience - 1
        if not patience:
            break
    return list(dict.fromkeys([*sets, *every]))
