"""What a plan is made for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.aims.aim import Wanted
    from deniable.aims.assumed_truth import Guess, Population
    from deniable.channels.best_channel import Choice, Chooser
    from deniable.core.domain import Domain
    from deniable.core.table import Table

MOST_CELLS = 4096  # a joint question with more possible answers is not proposed


@dataclass(frozen=True)
class Purpose:
    """What a plan is made for.

    Attributes:
        domain: all attributes.
        epsilon: what each respondent may spend in total.
        wanted: the wanted numbers.
        n: the number of respondents.
        guess: the assumed truth; None for even shares.
        truth: the population of the guess at which a design is judged.
        channel: the kind of channel that questions go through, or what chooses it.
    """

    domain: Domain
    epsilon: float
    wanted: tuple[Wanted, ...]
    n: int
    guess: Guess | None = None
    truth: Table | Population | None = None
    channel: Choice | Chooser = "krr"

    @cached_property
    def tables(self) -> tuple[tuple[str, ...], ...]:
        """The sets of attributes that some wanted number is about: asked together, they tell it."""
        return tuple(dict.fromkeys(one.attributes for one in self.wanted))

    @cached_property
    def asked(self) -> Domain:
        """The attributes that some table needs, in the domain's order: nobody is asked about others."""
        needed = {name for table in self.tables for name in table}
        return self.domain.project([name for name in self.domain if name in needed])
