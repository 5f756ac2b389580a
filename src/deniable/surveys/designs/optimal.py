"""What tells the wanted numbers with the fewest respondents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from deniable.designs.optimal import Optimal
from deniable.errors import InputError, SurveyError
from deniable.surveys.designs.wish import SETS

if TYPE_CHECKING:
    from deniable.surveys.designs.wish import Wish

KEYS = (*SETS, "guess")


def make(wish: Wish) -> Optimal:
    """The design that a file asks for; sets by default, as they tell most of tables."""
    channels = wish.channels if wish.entry.channel is not None else replace(wish.channels, choice="least_variance")
    try:
        return Optimal(wish.domain, wish.wanted, wish.epsilon, channel=channels, truth=wish.entry.guess)
    except InputError as error:
        if wish.entry.guess is None:
            raise
        raise SurveyError(f"design.guess: {error.message}", path="design.guess") from error
