"""A channel that names its truths meets attributes that list them: names win, whatever the order."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels.dense import Dense

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deniable.channels.channel import Channel
    from deniable.core.domain import Domain, Variable


def matched(channel: Channel, domain: Domain) -> tuple[Channel, bool]:
    """The channel with truths in the domain's order, and whether it had them in another.

    Of a product, each factor about one attribute. A device for yes-or-no questions without names takes "yes" for the
    sensitive answer wherever the domain lists it; other channels without names are in the domain's order.

    >>> from deniable.channels.survey_devices import Triangular
    >>> from deniable.core.domain import Domain
    >>> found, moved = matched(Triangular(0.25), Domain({"drug": ["yes", "no"]}))
    >>> found.matrix().tolist(), moved
    ([[1.0, 0.25], [0.0, 0.75]], True)
    """
    factors = channel.factors
    if prod(factor.inputs for factor in factors) != domain.cells:
        return channel, False  # refused by whoever asked, in its own words
    found: list[Channel] = []
    turned = False
    for factor, variables in dealt(factors, list(domain.values())):
        if isinstance(factor, Dense) and len(variables) == 1:
            variable = variables[0]
            turned |= bool((factor.order_of(variable.categories, variable.name) != np.arange(factor.inputs)).any())
            found.append(factor.in_order_of(variable.categories, variable.name))
        else:
            found.append(factor)
    if all(new is old for new, old in zip(found, factors, strict=True)):
        return channel, False
    return channel.with_factors(found), turned


def dealt(factors: Sequence[Channel], variables: Sequence[Variable]) -> Iterator[tuple[Channel, list[Variable]]]:
    """Deal attributes out to the factors of a product, in order."""
    left = list(variables)
    for factor in factors:
        mine = [left.pop(0)]
        while prod(len(v) for v in mine) < factor.inputs:
            mine.append(left.pop(0))
        yield factor, mine
