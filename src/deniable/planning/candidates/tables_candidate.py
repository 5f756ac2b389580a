"""One of the wanted tables of each respondent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs.design import Design
from deniable.designs.question import Question
from deniable.optimal.channel_for import channel_for
from deniable.planning.candidates.purpose import MOST_CELLS

if TYPE_CHECKING:
    from deniable.planning.candidates.purpose import Purpose


def make(purpose: Purpose) -> Design | None:
    """Each respondent answers one of the wanted tables, drawn by their device, with the whole budget."""
    parts = [purpose.asked.project(table) for table in dict.fromkeys(purpose.tables)]
    if len(parts) < 2 or all(len(part) == 1 for part in parts) or max(part.cells for part in parts) > MOST_CELLS:
        return None  # one table is the joint design, single attributes are the sampled one
    questions = [Question(part.names, channel_for(part, purpose.epsilon, purpose.channel)) for part in parts]
    return Design(purpose.asked, questions, [[index] for index in range(len(questions))])
