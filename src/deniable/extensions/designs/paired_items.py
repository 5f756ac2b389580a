"""PairedItems: one person holds several items and pairs them with each other. No partner, and no safety in it."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from msgspec import Meta

from deniable.channels.dense import Dense
from deniable.channels.read_channel import channel_from_dict
from deniable.core.domain import Category, Domain
from deniable.designs.design import Design, domain_of
from deniable.designs.question import Question
from deniable.designs.request import Options
from deniable.device.privacy_statement import Statement
from deniable.errors import DesignError
from deniable.extensions.paired.pairing import Coins
from deniable.frozen import Frozen, fix
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from fractions import Fraction

    from deniable.designs.request import Request


def items_channel(coins: Coins) -> Dense:
    """Two yes-or-no items of one person through correlated coins: P[(u, u'), (v, v')] = P(T = [u = v], T' = [u' = v']).

    Coins of 16 bits give whole weights of 2^32 draws: P(11) = P^2 - D^2, P(10) = P Q + D^2, P(00) = Q^2 - D^2.

    >>> float(items_channel(Coins.of(0.8, 0, bits=16)).epsilon)
    2.7725
    """
    if coins.bits != 16:
        raise DesignError(f"two items take one 32-bit draw, so each coin has 16 bits, not {coins.bits}")
    truth, lies, shift = coins.truthful, (1 << 16) - coins.truthful, coins.shift
    joint = {2: truth**2 - shift**2, 1: truth * lies + shift**2, 0: lies**2 - shift**2}
    cells = [(a, b) for a in (0, 1) for b in (0, 1)]
    weights = [[joint[(u[0] == v[0]) + (u[1] == v[1])] for v in cells] for u in cells]
    return Dense.from_weights(
        np.array(weights), 32, name=f"PairedItems(p={float(coins.p):.4g}, rho={float(coins.rho):.4g})"
    )


class PairedItemsOptions(Options, kw_only=True, frozen=True):
    """The coins of each two items."""

    p: Annotated[float, Meta(description="The probability of the truth, above 1/2.")]
    rho: Annotated[float, Meta(description="How partners depend on each other, from -(1 - p) / p to 0.")]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class PairedItems(Design):
    """Ask yes-or-no attributes two by two, each two with correlated coins of the person's own.

    The server sees both reports of a person side by side, so the person-level ratio is that of the two together,

        P(11) / P(00) = (p^2 + rho p q) / (q^2 + rho p q),

    for each two items: above the (p / q)^2 of independent coins for every rho < 0, and infinite at the corner (which is
    refused). That is a price in privacy, not a way around it. Each item alone is RR(p), and since the two coins
    are a known joint channel, all tables and tests hold as for any other design.

    >>> design = PairedItems({"a": ["no", "yes"], "b": ["no", "yes"]}, p=0.75, rho=-0.2)
    >>> float(design.ratio), design.epsilon > 2 * 1.0986  # against two independent answers
    (21.0, True)
    """

    kind = "paired_items"
    is_shuffled = False
    is_served = False  # a server would read the two answers of a pair as if two people had sent them
    is_repeatable = False
    Options = PairedItemsOptions

    coins: Coins

    def __init__(
        self, domain: Domain | Mapping[str, Iterable[Category]], p: float | Fraction, rho: float | Fraction
    ) -> None:
        """Take an even number of yes-or-no attributes; the first is paired with the second, and so on."""
        known = domain if isinstance(domain, Domain) else Domain(domain)
        names = known.names
        if len(names) % 2 or any(size != 2 for size in known.shape):
            raise DesignError(f"items are paired two by two, each with two categories; {listed(names)} are not that")
        coins = Coins.of(p, rho, bits=16)
        fix(self, coins=coins)
        channel = items_channel(coins)
        questions = [Question(pair, channel) for pair in zip(names[::2], names[1::2], strict=True)]
        super().__init__(known, questions, [range(len(questions))])

    def _given(self) -> dict[str, Any]:
        return {"domain": self.domain, "p": self.coins.p, "rho": self.coins.rho}

    __reduce__ = Frozen.__reduce__  # through this constructor: the coins are more than the questions

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PairedItems:
        """The coins out of the channel's integers: P(11) = T^2 - D^2 and P(00) = (W - T)^2 - D^2, of W = 2^16 draws."""
        channel = channel_from_dict(data["questions"][0]["channel"])
        weights, whole = channel.weights(), 1 << 16
        both, neither = int(weights[0, 0]), int(weights[3, 0])
        truthful = ((both - neither) // whole + whole) // 2
        coins = Coins(truthful, isqrt(truthful**2 - both), 16)
        return cls(domain_of(data), coins.p, coins.rho)

    def plan(self) -> dict[str, object]:
        """None: a server would read the two answers as any other pair of attributes."""
        raise DesignError("a paired_items design disguises tables; no collector serves it")

    def _statement(self) -> Statement:
        """Say what the two answers of a person tell together."""
        alone = (self.coins.p / (1 - self.coins.p)) ** len(self.domain)
        told = (
            f"Items of one person are paired, so their reports are read together: the odds can shift by "
            f"{float(self.ratio):.4g}, against {float(alone):.4g} if the coins were independent. This is not safer "
            f"than pairing respondents; it only needs no partner."
        )
        return Statement(self.ratio, (*super()._statement().notes, told))

    @classmethod
    def make(cls, request: Request, options: PairedItemsOptions) -> PairedItems:
        """Pair the attributes two by two, in their order, by coins that keep epsilon for a person."""
        design = cls(request.domain, options.p, options.rho)
        if not design.keeps(request.epsilon):
            raise DesignError(
                f"both answers of a pair of items tell epsilon {design.epsilon:.4g} together, more than the "
                f"{request.epsilon:g} that are promised: choose a smaller p, or a rho nearer to 0",
                option="p",
                epsilon=design.epsilon,
            )
        return design
