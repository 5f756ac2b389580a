"""Paired respondents, who share coins: weaker than its claimed epsilon, so the file must accept that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.device.epsilon import exp_below
from deniable.errors import SurveyError
from deniable.extensions.designs.paired import Paired

if TYPE_CHECKING:
    from deniable.surveys.designs.wish import Wish

KEYS = ("p", "rho", "accept")
ACCEPT = "a partner who knows the coin"


def make(wish: Wish) -> Paired:
    """The design that a file asks for, where it keeps what the file promises."""
    entry, epsilon = wish.entry, wish.epsilon
    if entry.accept != ACCEPT:
        raise SurveyError(
            "design.accept: pairing respondents is weaker than its claimed epsilon: the partner, or whoever matched "
            f'the two, learns more. Epsilon here is what they learn. Say accept = "{ACCEPT}"',
            path="design.accept",
        )
    if entry.p is None or entry.rho is None:
        raise SurveyError("design.p: a paired design needs p and rho", path="design.p")
    design = Paired(wish.domain, entry.p, entry.rho)
    if design.is_corner:
        raise SurveyError(
            f"design.rho: at rho = -q/p = {entry.rho:g} whoever knows the coin knows half of the answers for certain; "
            f"choose a rho nearer to 0",
            path="design.rho",
        )
    if design.ratio > exp_below(epsilon):
        raise SurveyError(
            f"design.p: who knows the coins learns epsilon {design.epsilon:.4g}, more than the {epsilon:g} promised; "
            f"choose a smaller p, or a rho nearer to 0",
            path="design.p",
        )
    return design
