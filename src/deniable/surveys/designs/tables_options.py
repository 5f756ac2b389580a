"""One of the wanted tables of each respondent: the default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.aims.default_aims import shares_and_pairs
from deniable.designs.design import Design
from deniable.designs.question import Question
from deniable.surveys.designs.wish import SETS

if TYPE_CHECKING:
    from deniable.surveys.designs.wish import Wish

KEYS = SETS


def make(wish: Wish) -> Design:
    """Ask each respondent for one of the wanted tables, drawn by their device, with the whole budget.

    This is the default because it is the best: splitting a budget over several questions loses several times as much as
    asking each of fewer people. A question that no table holds is asked alone.
    """
    wanted = list(dict.fromkeys(one.attributes for one in wish.wanted))
    if len(wish.domain) > 1 and wish.wanted == shares_and_pairs(wish.domain):
        wanted = [one for one in wanted if len(one) > 1]  # which tell the shares as well
    questions = [Question(table, wish.channels(wish.domain.project(table), wish.epsilon)) for table in wanted]
    return Design(wish.domain, questions, [[index] for index in range(len(questions))])
