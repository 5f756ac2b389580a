"""Views: sets of questions that are answered together, drawn by each respondent's device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs.kinds.views import Views
from deniable.surveys.designs.wish import SETS

if TYPE_CHECKING:
    from deniable.surveys.designs.wish import Wish

KEYS = ("k", "answer", *SETS)


def make(wish: Wish) -> Views:
    """The design that a file asks for; pairs of questions, unless it says otherwise."""
    k, answer = wish.entry.k, wish.entry.answer
    return Views(wish.domain, 2 if k is None else k, wish.epsilon, answer=answer or "one", channel=wish.channels)
