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
from deniable.errors import InputError, UnknownAttributeError
from deniable.frozen import Frozen, readonly
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from deniable.core.domain import Domain
    from deniable.core.randomness import Source
    from deniable.core.table import Table
    from deniable.designs.marginal_channel import Told


class Planned(Protocol):
    """What is asked of the design that drew them, which knows tallies and need not be known here."""

    @property
    def domain(self) -> Domain:
        """The attributes."""
        ...

    @property
    def chances(self) -> NDArray[np.float64]:
        """The probability of each ballot."""
        ...

    def told(self, ballot: int, attributes: Sequence[str]) -> Told | None:
        """What a ballot tells about some attributes."""
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


def drawn_tallies(design: Planned, share: Table, n: int, source: Source) -> Tallies:
    """What n people, independent draws from a population, report to a design: a multinomial for each ballot."""
    rng = source.stream().generator()
    drawn = []
    for ballot, respondents in enumerate(rng.multinomial(n, design.chances).tolist()):
        told = design.told(ballot, share.domain.names)
        if told is None:
            continue
        if not set(told.domain) <= set(share.domain):
            raise InputError(
                f"question {told.columns[0].attributes} cannot be simulated from a table over "
                f"{listed(share.domain)}: its channel has no form of its own for part of the attributes. Give a "
                f"table over all of them"
            )
        truth = share.project(told.domain.names).values.reshape(told.channel.input_shape)
        drawn.append(drawn_observation(told, truth, respondents, rng, population=n))
    return Tallies(design, share.domain.names, tuple(drawn), n)
