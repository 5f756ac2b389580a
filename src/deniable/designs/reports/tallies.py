"""Tallies: what a simulation draws, reports that were counted already.

Like `Reports` they can count what a ballot says about some attributes, which is all that estimation asks of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from deniable.channels.sets.possible_sets import draw_sets
from deniable.core.provenance import Origin
from deniable.designs.observation import Observation, merge
from deniable.designs.reports.set_reports import Sets
from deniable.errors import UnknownAttributeError
from deniable.frozen import Frozen, readonly
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from deniable.core.domain import Domain
    from deniable.designs.marginal_channel import Told


class Planned(Protocol):
    """What is asked of the design that drew them, which knows tallies and need not be known here."""

    @property
    def domain(self) -> Domain:
        """The attributes."""
        ...


@dataclass(frozen=True, eq=False)
class Tallies(Frozen):
    """What `Design.simulate` draws: for every ballot, the counts of its reports about the simulated attributes."""

    design: Planned
    attributes: tuple[str, ...]
    observations: tuple[Observation, ...]
    n: int
    backend: str | None = None

    def tabulate(self, attributes: Sequence[str] | None = None) -> list[Observation]:
        """Sum down to observations of some attributes: counts alone, as `Reports.tabulate` gives them."""
        return [each.without_sets() for each in self.told(attributes)]

    def told(self, attributes: Sequence[str] | None = None) -> list[Observation]:
        """The same, and beside the counts of sets these themselves, where they were drawn."""
        names = self.attributes if attributes is None else tuple(attributes)
        strangers = [name for name in names if name not in self.attributes]
        if strangers:
            raise UnknownAttributeError(
                f"{listed(strangers)} were not simulated, only {listed(self.attributes)} were; simulate a table "
                "that has them",
                attribute=strangers[0],
            )
        found = [narrowed for o in self.observations if (narrowed := o.narrow(names)) is not None]
        return [observation.coming_from(self.origin) for observation in merge(found) if observation.n > 0]

    @property
    def origin(self) -> Origin:
        """All of them are simulated."""
        return Origin(self.n, self.n)

    def __repr__(self) -> str:
        return f"<Tallies of {self.n} simulated respondents; {self.design!r}>"


def drawn_observation(
    told: Told, truth: NDArray[np.float64], n: int, rng: np.random.Generator, *, population: int
) -> Observation:
    """What n people, independent draws from `truth`, report on one ballot.

    Sets are kept wherever reports one by one would be looked at as such, so that both lead to the same likelihood.
    """
    sets = draw_sets(told.channel, truth, n, rng) if told.channel.is_support else None
    if sets is None:
        counts = told.channel.draw(truth, n, rng, 1)[..., 0]
        return Observation(told.domain, told.channel, counts, population=population)
    codes, times = sets
    return Observation.of_sets(told.domain, told.channel, Sets(readonly(codes), readonly(times)), population=population)
