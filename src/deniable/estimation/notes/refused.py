"""Refused: what stands in the place of a table that too few have answered, and stops nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from deniable.core.domain import Domain
from deniable.designs.reports.reports import Reports
from deniable.errors import EstimationError, TooFewReportsError
from deniable.frozen import Frozen
from deniable.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


T = TypeVar("T")
FEWEST_SHOWN = 30  # answers about a table before it is shown: below that, errors say more than estimates


@dataclass(frozen=True)
class Refused(Frozen):
    """A table that is not shown, and why.

    Attributes:
        attributes: whose table it would be.
        n: how many have answered about all of them together.
        reason: what stands in its place: what is wrong, and what would be needed.
        kind: of which kind the error is that it would be.
    """

    attributes: tuple[str, ...]
    n: int
    reason: str
    kind: type[EstimationError] = TooFewReportsError

    @property
    def error(self) -> EstimationError:
        """What is raised where nothing else can be shown."""
        return self.kind(self.reason, n=self.n)

    def __str__(self) -> str:
        return self.reason


def too_few(n: int) -> str:
    """What is said in the place of a table about which n have answered; nothing where they are enough.

    >>> too_few(24), too_few(30)
    ('24 of 30 answers needed', '')
    """
    return "" if n >= FEWEST_SHOWN else f"{n} of {FEWEST_SHOWN} answers needed"


def small_groups(by: str, sizes: Mapping[Any, int]) -> list[str]:
    """What must be known where groups of which few have answered are compared with others, a sentence each."""
    return [
        f"{by} = {group}: only {counted(n, 'report')}, so its errors say more than its shares."
        for group, n in sizes.items()
        if n < FEWEST_SHOWN
    ]


def answers_about(reports: Reports, names: Sequence[str]) -> int:
    """How many have answered about all of these together, whatever of them their reports tell.

    Whoever was not asked, because of a condition, has not answered.

    Where no question asks them together, a model puts their table together: then as many as about the one that fewest
    have answered.
    """
    design, asked_ones = reports.design, reports.among_asked(names).among
    inside = slice(None) if asked_ones is None else asked_ones.inside
    drawn = np.bincount(reports.ballots[inside], minlength=len(design.ballots)).tolist()
    asked = [{name for index in ballot for name in design.questions[index].attributes} for ballot in design.ballots]
    together = sum(n for n, ballot in zip(drawn, asked, strict=True) if ballot.issuperset(names))
    if together or len(names) == 1 or reports.design.covers(names):
        return together
    return min(answers_about(reports, [name]) for name in names)


def unanswered(sources: Sequence[Reports], names: Sequence[str]) -> str:
    """What is said in the place of a table that nobody was asked about, or few; nothing where they are enough."""
    if not any(source.among_asked(names).people for source in sources) and any(source.n for source in sources):
        return "not asked"
    return too_few(sum(answers_about(source, names) for source in sources))


def shown(reports: Reports | Sequence[Reports], names: Sequence[str], make: Callable[[], T]) -> T | Refused:
    """A table or number as it is made of reports; or what stands there: too few answered, or it cannot be made."""
    sources = [reports] if isinstance(reports, Reports) else reports
    known = {name: variable for source in sources for name, variable in source.design.domain.items()}
    Domain([*known.values()]).project(names)  # of a name that there is not, nobody has to answer more
    n = sum(answers_about(source, names) for source in sources)
    if told := unanswered(sources, names):
        return Refused(tuple(names), n, told)
    try:
        return make()
    except EstimationError as refusal:
        return Refused(tuple(names), n, refusal.message, type(refusal))
