"""Gathering evidence: from what respondents sent, or what was counted of it, to groups of reports over one table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.sets.possible_sets import holds_sets, possible_sets
from deniable.core.category_order import refuse_other_order
from deniable.core.domain import Domain, Variable
from deniable.designs.observation import Observation, merge
from deniable.designs.reports.reordered import in_one_order
from deniable.designs.reports.reports import Reports
from deniable.designs.reports.tallies import Tallies
from deniable.errors import (
    DeniableError,
    DesignError,
    EstimationError,
    InputError,
    TooFewReportsError,
    UnknownAttributeError,
)
from deniable.frozen import readonly
from deniable.likelihood.evidence import Evidence, of_counts
from deniable.likelihood.report_group import Group
from deniable.likelihood.report_likelihoods import (
    Counted,
    Listed,
    Moments,
    Said,
    narrowed,
    of_observation,
)
from deniable.likelihood.respondents import Respondents, how_listed, place_of
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.designs.design import Design
    from deniable.designs.marginal_channel import Told
    from deniable.sampling.sampling import Sampling

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
    everybody: bool = False,
    singly: bool = False,
) -> Evidence:
    """Everything that reports say about some attributes, of those who were asked all of them.

    Args:
        reports: what respondents sent, a simulation's tallies, observations, or a list of these.
        attributes: what is asked about.
        sampling: how respondents were drawn, in the order of the reports. Weights are scaled to a mean of one, so that
            the number of reports stays what it is. Counts have no respondents to weight.
        everybody: of all respondents instead, "does not apply" being one of the answers.
        singly: weigh sets one by one however many they are, for what needs their likelihood.

    >>> import deniable as dn, pyarrow as pa
    >>> design = dn.Views({name: [0, 1] for name in "abc"}, k=2, epsilon=1.0)
    >>> reports = design.randomize(pa.table({name: [0, 1] * 60 for name in "abc"}), source=dn.Seeded(1))
    >>> evidence = gather(reports, ["a", "b"])
    >>> sorted(tuple(group.said.part) for group in evidence.groups), evidence.n
    ([('a',), ('a', 'b'), ('b',)], 120)
    """
    given = _sources(reports)
    refuse_correlated(given)
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    if len(set(names)) < len(names):
        raise DesignError(f"an attribute is named twice in {listed(names)}")
    sources = given if everybody else [among_asked(source, names) for source in given]
    found = Finding(names, _room(sources, names), singly=singly)
    done = 0
    for source in sources:
        if isinstance(source, Reports):
            found.reports(source, None if sampling is None else _Weighed(sampling, done))
            done += source.n
        else:
            found.tabulated(source)
    return found.evidence(sources, sampling)


def tabulated(
    reports: Reported | Sequence[Reported], attributes: str | Iterable[str], *, everybody: bool = False
) -> Evidence:
    """The same as counts alone, whatever the reports are: for what goes through them many times, and for pairs."""
    given = _sources(reports)
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    sources = given if everybody else [among_asked(source, names) for source in given]
    found: list[Observation] = []
    for source in sources:
        if isinstance(source, Observation):
            found += [source] if set(source.domain) & set(names) else []
        else:
            found += source.tabulate(names)
    refuse_other_order(observation.domain for observation in found)
    known = {v.name: v for observation in found for v in observation.domain.values()}
    missing = [name for name in names if name not in known]
    if missing:
        raise unheard(missing, known, sources)
    told = of_counts(merge(found), Domain([known[name] for name in names]))
    return replace(told, independent=not any(map(correlated, sources)))


def among_asked(source: Reported, names: Sequence[str]) -> Reported:
    """What was sent by those who were asked; of counts nobody knows who was."""
    return source.among_asked(names) if isinstance(source, Reports) else source


def _room(sources: Sequence[Reported], names: Sequence[str]) -> set[str]:
    """The attributes that the table may have: those that questions bring along, if the table stays small."""
    known: dict[str, Variable] = {}
    for domain in _spoken_of(sources, names):
        known |= domain.items()
        if _too_many(known):
            break
    return room_for(known, names)


def _spoken_of(sources: Sequence[Reported], names: Sequence[str]) -> Iterator[Domain]:
    """What reports about some attributes speak of."""
    for source in sources:
        if isinstance(source, Reports):
            for told in told_by(source.design, names):
                yield told.domain
        else:
            for o in [source] if isinstance(source, Observation) else source.observations:
                narrow = o.without_sets().narrow(names) if set(o.domain) & set(names) else None
                if narrow is not None:
                    yield narrow.domain


def _too_many(known: Mapping[str, Variable]) -> bool:
    return prod(len(variable) for variable in known.values()) > MOST_RIDING


def room_for(known: Mapping[str, Variable], names: Sequence[str]) -> set[str]:
    """All of some attributes if their table is small enough, else the asked ones."""
    return set(names) if _too_many(known) else set(known)


def told_by(design: Design, names: Sequence[str]) -> Iterator[Told]:
    """What the ballots of a design tell about some attributes."""
    asked = [name for name in names if name in design.domain]
    for ballot in design.asking(asked):
        told = design.told(ballot, asked)
        if told is not None:
            yield told


class Finding:
    """Evidence in the making: groups that share attributes and channel are one."""

    def __init__(self, names: Sequence[str], room: set[str], *, singly: bool = False) -> None:
        """Take the asked attributes, and all that the table may have."""
        self.names, self.room, self.singly = names, room, singly
        self.said: dict[tuple[object, ...], tuple[int, list[Said]]] = {}
        self.silent = self.unasked = 0
        self.origins: list[tuple[int, int, int, int]] = []  # as `Respondents` has them
        self._source = -1

    def tabulated(self, source: Tallies | Observation) -> None:
        """Take counts."""
        self._source += 1
        if isinstance(source, Observation):
            smaller = source.narrow(self.names) if set(source.domain) & set(self.names) else None
            observations = [] if smaller is None else [smaller]
            asked = source.n
        else:
            observations, asked = source.told([name for name in self.names if name in source.attributes]), source.n
        self.silent += max(0, asked - sum(o.n for o in observations))
        for observation in merge(observations):
            self.add(self._of_counts(observation))

    def _of_counts(self, observation: Observation) -> Said:
        """What counts say; sets about more than the table may have by their moments, as those in reports are."""
        o = observation
        inside = [name in self.room for name in o.domain]
        if all(inside) or not holds_sets(o.channel):
            return of_observation(o)
        part = Domain([v for v in o.domain.values() if v.name in self.room])
        return Moments(part, _without_names(o, part) if o.channel.treats_alike else o)

    def reports(self, source: Reports, weighed: _Weighed | None) -> None:
        """Take what respondents sent; what several ballots tell alike and can be counted is added up at once."""
        self._source += 1
        known, spoken = [name for name in self.names if name in source.design.domain], 0
        alike: dict[object, _Alike] = {}
        for ballot in source.design.asking(known):
            told = source.told(ballot, known)
            if told is not None:
                how = None if weighed is not None else self._counted_as(source, told)
                alike.setdefault(how or ballot, _Alike(how, {})).ballots[ballot] = told
        for ballots in alike.values():
            said = ballots.said(source, self.room, weighed)
            spoken += round(said.n)
            if said.n:
                group = self.add(said)
                self.origins += [(self._source, ballot, *group) for ballot in ballots.ballots]
        everybody = np.ones(source.n, dtype=bool) if source.among is None else source.among.inside
        asked = int(everybody.sum()) if weighed is None else weighed.n(np.flatnonzero(everybody))
        self.unasked += (source.n if weighed is None else weighed.n(slice(0, source.n))) - asked
        self.silent += asked - spoken

    def _counted_as(self, source: Reports, told: Told) -> tuple[object, ...] | None:
        """What ballots share whose counts can be added up; None where their reports are listed one by one.

        A design has one object for what its ballots tell alike, so that nothing is compared number by number.
        """
        inside = [name in self.room for name in told.domain]
        if all(inside) and (self.singly or source.weighs_singly(told)):
            return ("cells", id(told.channel), id(told.domain)) if how_listed(told) == "cells" else None
        if not all(inside) and told.channel.is_support and told.channel.treats_alike:
            names = tuple(name for name, here in zip(told.domain, inside, strict=True) if here)
            return "nameless", id(told.channel), names, told.domain.shape, tuple(inside)
        return "moments", id(told.channel), id(told.domain)

    def add(self, said: Said) -> tuple[int, int]:
        """Add to what is alike; returns the group's number and where the new reports begin in it."""
        spoken = said.source.domain if isinstance(said, Moments) else said.part
        key = (said.part, spoken, said.channel, type(said))
        number, alike = self.said.setdefault(key, (len(self.said), []))
        begins = sum(len(each.counts) for each in alike if isinstance(each, Listed))
        alike.append(said)
        return number, begins

    def evidence(self, sources: Sequence[Reported], sampling: Sampling | None) -> Evidence:
        """Lay all of it out over one table."""
        heard = [_joined(alike) for _, alike in self.said.values()]
        refuse_other_order(said.part for said in heard)
        known = {v.name: v for said in heard for v in said.part.values()}
        missing = [name for name in self.names if name not in known]
        if missing:
            raise unheard(missing, known, sources)
        asked = Domain([known[name] for name in self.names])
        alone = Domain([*asked.values(), *(v for n, v in known.items() if n not in asked and n in self.room)])
        groups = []
        for said in heard:
            inside = [v for v in said.part.values() if v.name in alone]
            groups.append(Group(said if len(inside) == len(said.part) else narrowed(said, Domain(inside)), alone))
        people = [source for source in sources if isinstance(source, Reports)]
        everybody = people and len(people) == len(sources)
        origins = np.array(self.origins, dtype=np.int64).reshape(-1, 4)
        respondents = Respondents(people, self.names, origins, sampling) if everybody else None
        return Evidence(asked, alone, tuple(groups), self.silent, respondents, self.unasked)


@dataclass(frozen=True)
class _Alike:
    """Ballots whose reports are added up; one ballot where they are listed one by one."""

    how: tuple[object, ...] | None  # as `Finding` says it
    ballots: dict[int, Told]

    def said(self, source: Reports, room: set[str], weighed: _Weighed | None) -> Said:
        """What they say together about attributes in the room."""
        ballot, told = next(iter(self.ballots.items()))
        if self.how is None:
            return _of_ballot(source, ballot, told, weighed)
        counts = np.add.reduce([source.count(each, own) for each, own in self.ballots.items()])
        if self.how[0] == "cells":
            flat: Array = readonly(counts.astype(np.float64).ravel())
            return Counted(told.domain, told.channel, flat, float(flat.sum()), population=source.people)
        part = Domain([v for v in told.domain.values() if v.name in room])
        seen = Observation(told.domain, told.channel, counts, population=source.people)
        return Moments(part, _without_names(seen, part) if self.how[0] == "nameless" else seen)


def _without_names(seen: Observation, part: Domain) -> Observation:
    """Counts of sets about more attributes than `part`, the others taken together as one without a name.

    A channel that treats all cells alike does not mind which is which, and ballots are drawn at random: reports about
    a with x and y, and about a with z, are reports about a and something else, which is (x, y) for some respondents and
    z for others. So whoever asks about a alone, of thousands of questions, has as many groups as there are channels.
    """
    domain, counts = seen.domain, seen.counts.ravel()
    axes = domain.axes(part)
    others = [axis for axis in range(len(domain)) if axis not in axes]
    cells = counts[: domain.cells].reshape(domain.shape).transpose(*axes, *others)
    rest = Variable(f"other than {' and '.join(part)}", tuple(range(domain.cells // part.cells)))
    moved = np.append(cells.ravel(), counts[domain.cells :])
    return Observation(Domain([*part.values(), rest]), seen.channel, moved, population=seen.population)


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
        return Counted(told.domain, told.channel, counts, float(counts.sum()), population=source.people)
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
        return Listed(told.domain, told.channel, _sums(places, times, len(codes)), n, codes, source.people)
    if how == "cells":
        return Counted(told.domain, told.channel, _sums(places, times, told.channel.outputs), n, None, source.people)
    every = possible_sets(told.channel)
    assert every is not None
    return Counted(told.domain, told.channel, _sums(places, times, len(every)), n, every, source.people)


def _sources(reports: Reported | Sequence[Reported]) -> list[Any]:
    """One source after the other, in one order of categories; what holds no reports is refused."""
    if isinstance(reports, Reported):
        return [reports]
    given: list[Any] = list(reports)
    strangers = [type(each).__name__ for each in given if not isinstance(each, Reported)]
    if strangers:
        raise InputError(
            f"reports (or several of them) were expected, not {type(reports).__name__} of {strangers[0]}; counts go "
            f"with their channel, as in Observation(domain, channel, counts)"
        )
    return in_one_order(given)


def _sums(places: NDArray[np.int64], times: Array, size: int) -> Array:
    return np.bincount(places, times, size).astype(np.float64)


def unheard(missing: Sequence[str], known: Iterable[str], sources: Iterable[Reported]) -> DeniableError:
    """Why nothing can be said of some attributes: nobody happened to be asked about them, or there are none such."""
    there = listed(known)
    designed = [s.design.domain for s in sources if isinstance(s, Reports | Tallies)]
    chance = [name for name in missing if any(name in domain for domain in designed)]
    if len(chance) < len(missing):
        return UnknownAttributeError(
            f"no attribute {listed(missing)} among those that reports speak of: "
            f"{there or listed(dict.fromkeys(chain.from_iterable(designed))) or 'none'}",
            attribute=missing[0],
        )
    if not there:
        return TooFewReportsError(
            f"there are no reports about {listed(missing)} here; an estimate with an error needs at least 2",
            attribute=missing[0],
            n=0,
        )
    return TooFewReportsError(
        f"nobody (with any weight) happened to be asked about {listed(missing)}. Collect more reports, or leave "
        f"{listed(missing)} out; these reports speak of {there}",
        attribute=missing[0],
        n=0,
    )


def refuse_correlated(
    sources: Iterable[Any], error: type[DeniableError] = EstimationError, so: str = NO_LIKELIHOOD
) -> None:
    """Refuse reports that are not independent of each other, and say what follows."""
    for source in sources:
        if told := correlated(source):
            raise error(f"{type(source.design).__name__} {told}, so {so}", alternative="Independent")


def correlated(source: Any) -> str:
    """How the reports of a source hang together, as its design says it; nothing: they are independent."""
    return getattr(getattr(source, "design", None), "correlated", "")
