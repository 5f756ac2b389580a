"""Tallies: what a simulation draws, reports that were counted already.

Like `Reports` they can count what a ballot says about some attributes, which is all that estimation asks of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from deniable.designs.observation import Observation, merge
from deniable.errors import UnknownAttributeError
from deniable.frozen import Frozen
from deniable.origin import Origin
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.domain import Domain


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
        """Sum down to observations of some attributes; see `Reports.tabulate`."""
        names = self.attributes if attributes is None else tuple(attributes)
        strangers = [name for name in names if name not in self.attributes]
        if strangers:
            raise UnknownAttributeError(
                f"{listed(strangers)} were not simulated, only {listed(self.attributes)} were; simulate a table "
                "that has them",
                attribute=strangers[0],
            )
        found = [narrowed for o in self.observations if (narrowed := o.narrow(names)) is not None]
        return [observation for observation in merge(found) if observation.n > 0]

    @property
    def origin(self) -> Origin:
        """All of them are simulated."""
        return Origin(self.n, self.n)

    def __repr__(self) -> str:
        return f"<Tallies of {self.n} simulated respondents; {self.design!r}>"
