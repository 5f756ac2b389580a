"""What pairing respondents really promises: six numbers instead of one (JRR, Zheng et al. 2025).

Two respondents whose coins are correlated each still say the truth with probability p, so a stranger who sees one
report learns what randomized response would tell. Whoever knows more about the partner learns more. For one coin with
parameters p, q = 1 - p and rho <= 0, and with d = sqrt(-rho p q):

===========================  =====================================================================================
who is asking                truthfulness, given what they know
===========================  =====================================================================================
a stranger                   p
the partner (knows T)        (1 - rho) p = p + d^2 / q  after a lie of the partner's, p + rho q after a truth
who knows the shared coin    p + d or p - d: the partner, or a server that matched the two and dealt the coin
===========================  =====================================================================================

The published theorem averages the first two over the hidden pairing: with m of n respondents colluding,

    claimed ratio = (m p_max + (n - 1 - m) p) / (m p_min + (n - 1 - m) q),   p_max = (1 - rho) p,  p_min = 1 - p_max.

That is no local differential privacy when rho is not 0: which of the two cases somebody is in is decided before they
answer, and one of them has the ratio p_max / p_min, which is infinite at the corner rho = -q / p. So `epsilon` here is
always the worst number, the theorem's is called `claimed_epsilon`, and `lines()` says both, and what lies between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from html import escape
from itertools import product
from typing import TYPE_CHECKING

from deniable.device.epsilon import compose, epsilon_of
from deniable.device.privacy_statement import rounded_up
from deniable.errors import DesignError, InputError
from deniable.extensions.paired.pair_attacks import (
    DELTA,
    after_lie,
    all_truths_epsilon,
    coin_views,
    exact_ratio,
    over,
    partner_views,
    stranger_views,
)
from deniable.plotting import epsilons

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from matplotlib.axes import Axes

    from deniable.device.epsilon import Ratio

    _Views = Callable[[float, float], Iterator[tuple[float, float]]]

_NOT_LDP = (
    "Respondents are paired, so this is not epsilon-LDP at the claimed epsilon: it is randomized response plus the "
    "secrecy of who was paired with whom."
)
_MOST_COLLUDERS = 16  # the exact value is a sum over how the colluders are paired among themselves ...
_MOST_RESPONDENTS = 200  # ... with factorials of the number of respondents
_MOST_COINS = 8  # delta is a sum over 4^coins outcomes


@dataclass(frozen=True)
class PairedPrivacy:
    """All that can be said about the privacy of one respondent of a paired design.

    Args:
        coins: (p, d) of every coin in which two truths may differ, as fractions: one for a yes-or-no question, two
            for a question of more categories (unary encoding), the sum of these over the questions of a ballot.
        respondents: n, how many are paired at random; None where it is not known yet.
        colluders: m, how many of them pool what they know.

    >>> told = PairedPrivacy(((Fraction(4, 5), Fraction(1, 10)),), respondents=100, colluders=1)
    >>> told.ratio, told.partner_ratio, told.claimed_ratio
    (Fraction(9, 1), Fraction(17, 3), Fraction(317, 79))
    >>> told.is_ldp
    False
    """

    coins: tuple[tuple[Fraction, Fraction], ...]
    respondents: int | None = None
    colluders: int = 0

    def __post_init__(self) -> None:
        for p, d in self.coins:
            if not Fraction(1, 2) < p < 1 or not 0 <= d <= 1 - p:
                raise DesignError(
                    f"a paired coin has 1/2 < p < 1 and 0 <= d <= 1 - p; got p = {float(p):g}, d = {float(d):g}"
                )
        if self.colluders < 0 or (self.respondents is not None and self.colluders > self.respondents - 2):
            raise DesignError(
                f"{self.colluders} colluders among {self.respondents} respondents leave no two honest ones",
                colluders=self.colluders,
            )

    # -- the four views ---------------------------------------------------------------------------------------------

    @property
    def is_ldp(self) -> bool:
        """Whether this is epsilon-LDP at the claimed epsilon: only without correlation."""
        return all(d == 0 for _, d in self.coins)

    @cached_property
    def ratio(self) -> Ratio:
        """Against whoever knows the shared coin: the product of (p + d) / (q - d)."""
        return compose(over(p + d, 1 - p - d) for p, d in self.coins)

    @property
    def epsilon(self) -> float:
        """The worst number, ln((p + d) / (q - d)): against a partner or a matching server who knows the coin."""
        return epsilon_of(self.ratio)

    @cached_property
    def partner_ratio(self) -> Ratio:
        """Against the actual partner, who knows only whether they themselves lied: the product of p_max / p_min."""
        return compose(over(after_lie(p, d), 1 - after_lie(p, d)) for p, d in self.coins)

    @property
    def partner_epsilon(self) -> float:
        """ln(p_max / p_min)."""
        return epsilon_of(self.partner_ratio)

    @cached_property
    def claimed_ratio(self) -> Ratio:
        """The theorem's ratio, an average over the hidden pairing (for several coins: over the one pairing they share).

        (m prod p_max + (n - 1 - m) prod p) / (m prod p_min + (n - 1 - m) prod q).
        """
        weight = Fraction(self.colluders)
        others = Fraction(self._known_respondents() - 1 - self.colluders if self.colluders else 1)
        truths = weight * _prod(after_lie(p, d) for p, d in self.coins) + others * _prod(p for p, _ in self.coins)
        lies = weight * _prod(1 - after_lie(p, d) for p, d in self.coins) + others * _prod(1 - p for p, _ in self.coins)
        return over(truths, lies)

    @property
    def claimed_epsilon(self) -> float:
        """What the theorem says: an average over the pairings that might have been drawn, not about the drawn one."""
        return epsilon_of(self.claimed_ratio)

    @cached_property
    def exact_epsilon(self) -> float | None:
        """The theorem's situation without its approximation, where it is small enough to be enumerated; else None.

        The theorem takes the chance of a colluding partner to be m / (n - 1), as it was before any coin was tossed.
        Colluders who know their own coins know more: two who both lied are hardly each other's partners, so that
        somebody honest is all the more likely to be.
        """
        n = self.respondents
        if len(self.coins) != 1 or n is None or n > _MOST_RESPONDENTS or self.colluders > _MOST_COLLUDERS:
            return None
        return epsilon_of(exact_ratio(*self.coins[0], n, self.colluders))

    # -- how often the claim fails ----------------------------------------------------------------------------------

    @property
    def partner_delta(self) -> float | None:
        """Delta at the claimed epsilon: the chance m / (n - 1) of a colluding partner times what is then lost."""
        return self._delta_of_colluders(partner_views)

    @property
    def coin_delta(self) -> float | None:
        """The same when colluders know the shared coin and not only their own truthfulness."""
        return self._delta_of_colluders(coin_views)

    @property
    def server_delta(self) -> float | None:
        """Delta at the claimed epsilon against a server that matched everybody and knows the coins."""
        return None if len(self.coins) > _MOST_COINS else self._lost(coin_views)

    def all_truths_epsilon(self, delta: float = DELTA) -> float | None:
        """Epsilon at a small delta against an attacker who knows everybody else's truth, but not the pairing.

        Such an attacker sees from the reports who lied. With z lies among the others, a lie of the respondent's makes
        z + 1 of all n; at a negative rho the number of lies is more regular than chance, so the last one can be
        guessed. Of the dearest coin alone: coins that share one pairing tell more together.
        """
        if self.respondents is None:
            return None
        return max(all_truths_epsilon(float(p), float(d), self.respondents, delta) for p, d in set(self.coins))

    def _delta_of_colluders(self, views: _Views) -> float | None:
        if len(self.coins) > _MOST_COINS or (self.colluders and self.respondents is None):
            return None
        share = self.colluders / (self._known_respondents() - 1) if self.colluders else 0.0
        return share * self._lost(views) + (1 - share) * self._lost(stranger_views)

    def _lost(self, views: _Views) -> float:
        """The sum of max(0, Pr(outcome | x) - e^epsilon Pr(outcome | x')), x and x' differing in every coin."""
        factor = math.exp(min(self.claimed_epsilon, 700.0))
        lost = 0.0
        for outcome in product(*(list(views(float(p), float(d))) for p, d in self.coins)):
            here = math.prod(chance for chance, _ in outcome)
            lost += max(0.0, here - factor * math.prod(other for _, other in outcome))
        # At the claimed epsilon two equal numbers may differ in their last bit.
        return lost if lost > 1e-12 else 0.0

    def _known_respondents(self) -> int:
        if self.respondents is None:
            raise InputError("the theorem's epsilon depends on how many respondents are paired; say respondents=...")
        return self.respondents

    # -- in words ---------------------------------------------------------------------------------------------------

    def lines(self) -> tuple[str, ...]:
        """Every number with who it holds against, one sentence a line."""
        if self.is_ldp:
            return (f"No correlation (rho = 0): plain randomized response, epsilon {rounded_up(self.epsilon)}.",)
        counted = self.respondents is not None or not self.colluders
        claim = rounded_up(self.claimed_epsilon) if counted else "unknown until the number of respondents is"
        told = [
            _NOT_LDP,
            f"Claimed epsilon (an average over the hidden pairing, {self.colluders} colluders): {claim}.",
        ]
        if counted and self.exact_epsilon is not None:
            told.append(f"The same by enumeration: {rounded_up(self.exact_epsilon)}.")
        told += [
            f"Against the actual partner: {rounded_up(self.partner_epsilon)}.",
            f"Against a partner or a matching server who knows the shared coin: {rounded_up(self.epsilon)}.",
        ]
        if counted and self.server_delta is not None:
            delta = rounded_up(self.server_delta)
            told.append(f"Against a server that knows the coin the claimed {claim} holds at delta {delta} only.")
        if self.colluders and counted and self.partner_delta is not None and self.coin_delta is not None:
            partners, knowing = rounded_up(self.partner_delta), rounded_up(self.coin_delta)
            told.append(
                f"Against the colluders the claimed {claim} holds at delta {partners} only, at delta {knowing} if they "
                f"know the coin."
            )
        everything = self.all_truths_epsilon()
        if everything is not None:
            told.append(
                f"Against somebody who knows all other truths: {rounded_up(everything)} at delta {DELTA:g}"
                f"{' for one coin alone, more for all of them' if len(self.coins) > 1 else ''}."
            )
        return tuple(told)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(line)}</li>" for line in self.lines())
        return f'<section class="deniable-statement"><strong>Privacy statement</strong><ul>{items}</ul></section>'

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the epsilon that holds against each attacker, the claimed one among them."""
        counted = self.respondents is not None or not self.colluders
        everything = self.all_truths_epsilon()
        shown = [
            *([("claimed, on average", self.claimed_epsilon)] if counted else []),
            ("the actual partner", self.partner_epsilon),
            ("who knows the shared coin", self.epsilon),
            *([] if everything is None else [(f"who knows all other truths\n(delta {DELTA:g})", everything)]),
        ]
        return epsilons(shown, "epsilon against ...", ax)


def _prod(factors: Iterable[Fraction]) -> Fraction:
    return math.prod(factors, start=Fraction(1))
