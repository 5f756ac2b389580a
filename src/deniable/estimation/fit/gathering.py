"""Gathering evidence: from what respondents sent, or what was counted of it, to groups of reports over one table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.designs.observation import Observation, merge
from deniable.designs.reports import Reports, Tallies
from deniable.domain import Domain
from deniable.errors import DeniableError, DesignError, EstimationError, UnknownAttributeError, UnknownCategoryError
from deniable.estimation.fit.evidence import Evidence
from deniable.estimation.fit.group import Group
from deniable.estimation.fit.respondents import Respondents, how_listed, place_of
from deniable.estimation.fit.said import (
    MOST_LISTED,
    Counted,
    Listed,
    Moments,
    Said,
    narrowed,
    of_observation,
)
from deniable.frozen import readonly
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.designs.base import Design
    from deniable.designs.told import Told
    from deniable.domain import Variable
    from deniable.estimation.sampling.sampling import Sampling

    Array = NDArray[np.float64]

Reported = Reports | Tallies | Observation
NO_LIKELIHOOD = (
    "their reports are not independent of each other and have no likelihood one by one. Tables and their errors stay "
    "right: use estimate(). Use an Independent design where more is wanted"
)
MOST_RIDING = 4096  # cells of a table up to which attributes ride along


def gather(
    reports: Reported | Sequence[Reported],
    attributes: str | Iterable[str],
    *,
    sampling: Sampling | None = None,
) -> Evidence:
    """Everything that reports say about some attributes.

    Args:
        reports: what respondents sent, a simulation's tallies, observations, or a list of these.
        attributes: what is asked about.
        sampling: how respondents were drawn, in the order of the reports. Weights are scaled to a mean of one, so that
            the number of reports stays what it is. Counts have no respondents to weight.

    >>> import deniable as dn, pyarrow as pa
    >>> design = dn.Views({name: [0, 1] for name in "abc"}, k=2, epsilon=1.0)
    >>> reports = design.randomize(pa.table({name: [0, 1] * 60 for name in "abc"}), source=dn.Seeded(1))
    >>> evidence = gather(reports, ["a", "b"])
    >>> sorted(tuple(group.said.part) for group in evidence.groups), evidence.n
    ([('a',), ('a', 'b'), ('b',)], 120)
    """
    sources = [reports] if isinstance(reports, Reported) else list(reports)
    refuse_pairs(sources)
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    if len(set(names)) < len(names):
        raise DesignError(f"an attribute is named twice in {listed(names)}")
    found = Finding(names, _room(sources, names))
    done = 0
    for source in sources:
        if isinstance(source, Reports):
            found.reports(source, None if sampling is None else _Weighed(sampling, done))
            done += source.n
        else:
            found.tabulated(source)
    return found.evidence(sources, sampling)


def _room(sources: Sequence[Reported], names: Sequence[str]) -> set[str]:
    """The attributes that the table may have: those that questions bring along, if the table stays small."""
    known: dict[str, Variable] = {}
    for source in sources:
        if isinstance(source, Reports):
            for domain in {asked.domain for asked in told_by(source.design, names)}:
                known |= domain.items()
        else:
            for o in [source] if isinstance(source, Observation) else source.observations:
                narrow = o.narrow(names) if set(o.domain) & set(names) else None
                known |= {} if narrow is None else narrow.domain.items()
    return room_for(known, names)


def room_for(known: Mapping[str, Variable], names: Sequence[str]) -> set[str]:
    """All of some attributes if their table is small enough, else the asked ones."""
    cells = prod(len(variable) for variable in known.values())
    return set(known) if cells <= MOST_RIDING else set(names)


def told_by(design: Design, names: Sequence[str]) -> Iterator[Told]:
    """What the ballots of a design tell about some attributes."""
    asked = [name for name in names if name in design.domain]
    for ballot in design.asking(asked):
        told = design.told(ballot, asked)
        if told is not None:
            yield told


class Finding:
    """Evidence in the making: groups that share attributes and channel are one."""

    def __init__(self, names: Sequence[str], room: set[str]) -> None:
        """Take the asked attributes, and all that the table may have."""
        self.names, self.room = names, room
        self.said: dict[tuple[object, ...], list[Said]] = {}
        self.silent = 0
        self.origins: dict[tuple[int, int], tuple[tuple[object, ...], int]] = {}
        self._source = -1

    def tabulated(self, source: Tallies | Observation) -> None:
        """Take counts."""
        self._source += 1
        if isinstance(source, Observation):
            smaller = source.narrow(self.names) if set(source.domain) & set(self.names) else None
            observations = [] if smaller is None else [smaller]
            asked = source.n
        else:
            observations, asked = source.tabulate([name for name in self.names if name in source.attributes]), source.n
        self.silent += max(0, asked - sum(o.n for o in observations))
        for observation in merge(observations):
            self.add(of_observation(observation))

    def reports(self, source: Reports, weighed: _Weighed | None) -> None:
        """Take what respondents sent, ballot by ballot."""
        self._source += 1
        known, spoken = [name for name in self.names if name in source.design.domain], 0
        for ballot in source.design.asking(known):
            told = source.told(ballot, known)
            if told is None:
                continue
            said = self._of_ballot(source, ballot, told, weighed)
            spoken += round(said.n)
            if said.n:
                self.origins[self._source, ballot] = self.add(said)
        self.silent += (source.n if weighed is None else weighed.n(slice(0, source.n))) - spoken

    def _of_ballot(self, source: Reports, ballot: int, told: Told, weighed: _Weighed | None) -> Said:
        inside = [v for v in told.domain.values() if v.name in self.room]
        if weighed is None and (len(inside) < len(told.domain) or not source.weighs_singly(told)):
            # It will count by its moments: no need to list its reports.
            counts = Observation(told.domain, told.channel, source.count(ballot, told), population=source.n)
            return Moments(Domain(inside), counts)
        return _of_ballot(source, ballot, told, weighed)

    def add(self, said: Said) -> tuple[tuple[object, ...], int]:
        """Add to what is alike; returns the group's key and where the new reports begin in it."""
        spoken = said.source.domain if isinstance(said, Moments) else said.part
        key = (said.part, spoken, said.channel, type(said))
        alike = self.said.setdefault(key, [])
        begins = sum(len(each.counts) for each in alike if isinstance(each, Listed))
        alike.append(said)
        return key, begins

    def evidence(self, sources: Sequence[Reported], sampling: Sampling | None) -> Evidence:
        """Lay all of it out over one table."""
        heard = [_joined(alike) for alike in self.said.values()]
        same_categories(said.part for said in heard)
        known = {v.name: v for said in heard for v in said.part.values()}
        missing = [name for name in self.names if name not in known]
        if missing:
            raise UnknownAttributeError(
                f"no attribute {listed(missing)} among those that reports speak of: {listed(known) or 'none'}",
                attribute=missing[0],
            )
        asked = Domain([known[name] for name in self.names])
        alone = Domain([*asked.values(), *(v for n, v in known.items() if n not in asked and n in self.room)])
        groups = []
        for said in heard:
            inside = [v for v in said.part.values() if v.name in alone]
            groups.append(Group(said if len(inside) == len(said.part) else narrowed(said, Domain(inside)), alone))
        people = [source for source in sources if isinstance(source, Reports)]
        numbers = {key: number for number, key in enumerate(self.said)}
        where = {origin: (numbers[key], first) for origin, (key, first) in self.origins.items()}
        everybody = people and len(people) == len(sources)
        respondents = Respondents(people, self.names, where, sampling) if everybody else None
        return Evidence(asked, alone, tuple(groups), self.silent, respondents)


def _joined(alike: Sequence[Said]) -> Said:
    """What was said through one channel about the same attributes, as one."""
    first = alike[0]
    if len(alike) == 1:
        return first
    if isinstance(first, Moments):
        return Moments(first.part, merge([said.observation() for said in alike])[0])
    plain = [said for said in alike if not isinstance(said, Moments)]
    n, most = sum(said.n for said in plain), max(said.population or 0 for said in plain)
    if isinstance(first, Counted):
        return replace(first, counts=readonly(np.add.reduce([s.counts for s in plain])), n=n, population=most)
    lists = [said for said in plain if isinstance(said, Listed)]
    counts, codes = (np.concatenate(parts) for parts in zip(*((s.counts, s.codes) for s in lists), strict=True))
    return replace(first, counts=counts, codes=codes, n=n, population=most)


@dataclass(frozen=True)
class _Weighed:
    """The weights of one source's respondents, the first of whom stands at `first` among those of all sources."""

    sampling: Sampling
    first: int

    def weights(self, rows: NDArray[np.int64]) -> Array:
        """With a mean of one among all who are looked at, zero for the others."""
        return self.sampling.scaled[self.first + rows]

    def n(self, rows: slice | NDArray[np.int64]) -> int:
        """How many of them are looked at."""
        return int(self.sampling.within[self.first :][rows].sum())


def _of_ballot(source: Reports, ballot: int, told: Told, weighed: _Weighed | None) -> Counted | Listed:
    """What the respondents of one ballot say."""
    how = how_listed(told)
    if weighed is None and how == "cells":
        counts: Array = readonly(source.count(ballot, told).astype(np.float64).ravel())
        return Counted(told.domain, told.channel, counts, float(counts.sum()), population=source.n)
    if weighed is None:
        codes, often = source.distinct(ballot, told)
        places, times = place_of(told, codes), often.astype(np.float64)
        n = float(times.sum())
    else:
        codes, rows = source.codes(ballot, told), source.rows_of(ballot)
        places, times = place_of(told, codes), weighed.weights(rows)
        n = float(weighed.n(rows)) if times.any() else 0.0  # without any weight they say nothing
        codes = np.unique(codes, axis=0)
    if how == "seen":
        return Listed(told.domain, told.channel, _sums(places, times, len(codes)), n, codes, source.n)
    if how == "cells":
        return Counted(told.domain, told.channel, _sums(places, times, told.channel.outputs), n, None, source.n)
    every = told.channel.every_report(MOST_LISTED)
    assert every is not None
    rows = every.reshape(len(every), -1)
    return Counted(told.domain, told.channel, _sums(places, times, len(every)), n, rows, source.n)


def _sums(places: NDArray[np.int64], times: Array, size: int) -> Array:
    return np.bincount(places, times, size).astype(np.float64)


def refuse_pairs(sources: Iterable[Any], error: type[DeniableError] = EstimationError, so: str = NO_LIKELIHOOD) -> None:
    """Refuse reports of respondents with correlated coins: they are not independent, and it says what follows."""
    for source in sources:
        design = getattr(source, "design", None)
        if getattr(design, "pairs_reports", False):
            told = f"{type(design).__name__} pairs respondents whose coins are correlated, so"
            raise error(f"{told} {so}", alternative="Independent")


def same_categories(domains: Iterable[Domain]) -> None:
    """Refuse reports that mean different things by the same name."""
    known: dict[str, Variable] = {}
    for variable in (v for domain in domains for v in domain.values()):
        other = known.setdefault(variable.name, variable)
        if other != variable:
            raise UnknownCategoryError(
                f"{variable.name!r} has the categories {listed(other.categories)} in some reports and "
                f"{listed(variable.categories)} in others; bring them to the same categories in the same order",
                attribute=variable.name,
            )
