"""Grouped: one estimate for each value of a public attribute, which is the cross table of the two.

A public attribute travels in clear, so who belongs to which group is known, and only the other attribute is disguised.
The shares of a group are shares of its own members.

The same for every public group: whoever is refused because of one group is told which; and all behind each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from deniable.core.rows import Row, cells_of, frame, of_shares
from deniable.core.summary import Shown
from deniable.errors import InputError, TooFewReportsError
from deniable.estimation.notes.refused import Refused, shown
from deniable.frozen import Frozen
from deniable.plotting import intervals_by_row
from deniable.sampling.read_sampling import sampling_by
from deniable.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deniable.estimation.estimate import Estimate
    from deniable.estimation.totals import Totals

    Part = TypeVar("Part")
    Found = TypeVar("Found")
    from matplotlib.axes import Axes

    from deniable.core.provenance import Origin
    from deniable.core.results import Frame
    from deniable.core.summary import Summary
    from deniable.designs.reports.reports import Reports
    from deniable.estimation.totals import GroupedTotals
    from deniable.sampling.sampling import Sampling


def by_group(by: str, parts: Iterable[tuple[Any, Part]], what: Callable[[Part], Found]) -> dict[Any, Found]:
    """What is made of each group's part, by group; a group of which too few are left is named.

    >>> by_group("region", [("north", 3), ("south", 4)], lambda part: part + 1)
    {'north': 4, 'south': 5}
    """
    found = {}
    for group, part in parts:
        try:
            found[group] = what(part)
        except TooFewReportsError as few:
            raise TooFewReportsError(
                f"{by} = {group}: {few.message}. Join this group with another one, or drop it",
                **{**few.details, "by": by, "group": group},
            ) from None
    return found


def in_place(
    parts: Iterable[tuple[Any, Part]], what: Callable[[Part], Found]
) -> tuple[dict[Any, Found], dict[Any, str]]:
    """What is made of each group's part, by group; and of the groups of which too few are left, why.

    >>> in_place([("north", 3), ("south", 4)], lambda part: part + 1)
    ({'north': 4, 'south': 5}, {})
    """
    found: dict[Any, Found] = {}
    refused: dict[Any, str] = {}
    for group, part in parts:
        try:
            found[group] = what(part)
        except TooFewReportsError as few:
            refused[group] = few.message
    return found, refused


def notes_by_group(notes: Mapping[str, Sequence[str]]) -> list[str]:
    """What must be known of groups: once what is true of all of them, else with the names of those it is true of.

    >>> notes_by_group({"north": ["Few clusters.", "Few yes."], "south": ["Few clusters."]})
    ['Few clusters.', 'north: Few yes.']
    """
    of: dict[str, list[str]] = {}
    for group, told in notes.items():
        for note in told:
            of.setdefault(note, []).append(group)
    return [note if len(groups) == len(notes) else f"{', '.join(groups)}: {note}" for note, groups in of.items()]


def rows_by_group(
    found: Mapping[Any, Estimate] | Mapping[Any, Totals], refused: Mapping[Any, Refused], level: float
) -> tuple[Row, ...]:
    """The rows of all groups, the group before the categories; of one that is refused, all cells without numbers."""
    every: dict[Any, tuple[Row, ...]] = {group: one.rows(level) for group, one in found.items()}
    first = next(iter(every.values()))
    for group, one in refused.items():
        every[group] = tuple(Row(row.cell, one.n, reason=one.reason, stamp=row.stamp) for row in first)
    return tuple(row._replace(cell=(group, *row.cell)) for group in in_order(every) for row in every[group])


def one_refusal_each(rows: Sequence[Row]) -> list[Row]:
    """The rows for a reader: of a group that is refused one, with the reason in the place of its first category."""
    read: list[Row] = []
    for row in rows:
        if not row.is_refused:
            read.append(row)
        elif not (read and read[-1].is_refused and read[-1].cell[0] == row.cell[0]):
            read.append(row._replace(cell=(row.cell[0], row.reason, *[""] * (len(row.cell) - 2))))
    return read


def in_order(*groups: Iterable[Any]) -> list[Any]:
    """Groups in the order of their values, which is that of `Reports.groups`."""
    return sorted(group for some in groups for group in some)


@dataclass(frozen=True, eq=False)
class Grouped(Shown, Frozen, Mapping[Any, "Estimate"]):
    """An estimate for each group: a mapping from a group to its estimate.

    Attributes:
        by: the public attribute.
        estimates: the groups' estimates, in the order of the groups.
        unknown: how many reports do not say to which group they belong; they are in none.
        refused: the groups of which too few have answered, and what stands in their place.
    """

    by: str
    estimates: Mapping[Any, Estimate]
    unknown: int = 0
    refused: Mapping[Any, Refused] = field(default_factory=dict)

    def __getitem__(self, group: Any) -> Estimate:
        if group in self.refused:
            refused = self.refused[group]
            raise refused.kind(f"{self.by} = {group}: {refused.reason}", n=refused.n, by=self.by, group=group)
        return self.estimates[group]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __contains__(self, group: object) -> bool:
        return group in self.estimates

    @property
    def every(self) -> dict[Any, Estimate | Refused]:
        """All groups in their order: the estimate of each, or what stands in its place."""
        known: dict[Any, Estimate | Refused] = {**self.estimates, **self.refused}
        return {group: known[group] for group in in_order(known)}

    @property
    def attributes(self) -> tuple[str, ...]:
        """The disguised attributes."""
        return next(iter(self.values())).attributes

    @property
    def origin(self) -> Origin:
        """Whether the reports are simulated, or a pilot's."""
        return next(iter(self.values())).origin

    def warnings(self, level: float = 0.95) -> list[str]:
        """What must be known besides what stands in the groups' places, a sentence each."""
        shown = {
            found.labels.shown(self.by, group): found.notes(level, looked_at=len(self))[1:]
            for group, found in self.items()
        }
        told = notes_by_group(shown)
        silent = sum(found.pooled.evidence.silent for found in self.values() if found.pooled is not None)
        if silent:
            told.append(f"{counted(silent, 'report')} of these groups are about other questions.")
        if self.unknown:
            told.append(f"{counted(self.unknown, 'report')} without a value of {self.by} are in no group.")
        return told

    def _details(self) -> list[str]:
        """How the estimates were made: once for all groups that were made alike."""
        alike: dict[str, list[str]] = {}
        for group, found in self.items():
            alike.setdefault(found.details, []).append(found.labels.shown(self.by, group))
        if len(alike) == 1:
            return [f"Details: {next(iter(alike))}."]
        return [f"Details of {', '.join(groups)}: {how}." for how, groups in alike.items()]

    def rows(self, level: float = 0.95) -> tuple[Row, ...]:
        """The rows of all groups, the group before the categories."""
        return rows_by_group(self, self.refused, level)

    def summary(self, level: float = 0.95) -> Summary:
        """All groups behind each other, a row a cell."""
        first = next(iter(self.values()))
        rows = one_refusal_each(self.rows(level))
        sizes = ", ".join(f"{first.labels.shown(self.by, group)} {found.n}" for group, found in self.every.items())
        told = [
            f"Shares of each group's own members. {f'{self.origin.kind}reports'.capitalize()}: {sizes}.",
            *self.warnings(level),
            *self._details(),
        ]
        asked = first.labels.asked([*self.attributes, self.by])
        cells = cells_of([self.by, *self.attributes], rows)
        return of_shares(first.labels.cells(cells), rows, level, told, asked)

    def totals(self, population: Mapping[Any, float] | None = None) -> GroupedTotals:
        """How many people there are in each cell of each group, with their errors.

        Args:
            population: how many there are in each group; by default the sums of the survey weights, with their errors.
        """
        from deniable.estimation.totals import grouped_totals

        return grouped_totals(self, population)

    def to_frame(self, level: float = 0.95) -> Frame:
        """Write all groups as one data frame, the group in the first column: a row a cell, NaN where it is refused."""
        return frame([self.by, *self.attributes], self.rows(level), next(iter(self.values())).table.backend)

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw every cell of every group with its interval."""
        labels = next(iter(self.values())).labels
        rows = one_refusal_each(self.rows(level))
        refused = {place: row.reason for place, row in enumerate(rows) if row.is_refused}
        cells = zip(*labels.cells(cells_of([self.by, *self.attributes], rows)).values(), strict=True)
        names = [cell[0] if place in refused else ", ".join(cell) for place, cell in enumerate(cells)]
        return intervals_by_row(
            names,
            [row.estimate for row in rows],
            ([row.low for row in rows], [row.high for row in rows]),
            ax,
            of=f"share of each group of {self.by}",
            level=level,
            bars=True,
            instead=refused,
            title=labels.asked([*self.attributes, self.by]),
        )

    def __repr__(self) -> str:
        return f"<Grouped estimates of {' x '.join(self.attributes)} by {self.by}: {counted(len(self), 'group')}>"


def grouped(
    reports: Reports, names: Sequence[str], by: str, sampling: Sampling | None, one: Callable[..., Estimate]
) -> Grouped:
    """An estimate for each value of a public column; what is wrong with one group stands in its place alone.

    Args:
        reports: what respondents sent.
        names: whose joint table is wanted.
        by: the public column.
        sampling: how respondents were drawn, if it is known; a group is then a part of it.
        one: estimates the table of some reports, or of that part.
    """
    drawn = {} if sampling is None else dict(sampling_by(reports, by, sampling))
    found: dict[Any, Estimate] = {}
    refused: dict[Any, Refused] = {}
    inside = 0
    for group, part in reports.groups(by):
        make = partial(one, part) if sampling is None else partial(one, reports, sampling=drawn[group])
        made = shown(part, names, make)
        inside += part.n
        if isinstance(made, Refused):
            refused[group] = made
        else:
            found[group] = made
    if not found and not refused:
        raise InputError(f"column {by!r} has no values, so there is nothing to estimate by it", column=by)
    if not found:
        first = next(iter(refused.values()))
        told = "; ".join(f"{group}: {each.reason}" for group, each in refused.items())
        raise first.kind(f"no group of {by!r} can be shown: {told}. Join groups, or estimate without by={by!r}", by=by)
    return Grouped(by, found, reports.n - inside, refused)
