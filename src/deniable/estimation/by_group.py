"""The same for every public group: whoever is refused because of one group is told which; and all behind each other."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any, TypeVar

from deniable.errors import TooFewReportsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from deniable.estimation.estimate import Estimate
    from deniable.estimation.totals import Totals

    Part = TypeVar("Part")
    Found = TypeVar("Found")


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
    by: str, found: Mapping[Any, Estimate] | Mapping[Any, Totals], level: float, refused: Mapping[Any, str]
) -> tuple[dict[str, list[Any]], dict[str, list[float]]]:
    """The cells of all groups, the group first, and what is told of each.

    A group that is refused has what is said of it in the place of its first category, one row, without numbers; where
    nothing is to be said, a row for each cell, so that categories stay what they are.
    """
    every: dict[Any, Estimate | Totals] = {}
    every.update(found)
    first = next(iter(every.values()))
    names = list(first.table.cells())
    cells: dict[str, list[Any]] = {name: [] for name in (by, *names)}
    numbers: dict[str, list[float]] = {name: [] for name in first.rows(level)}
    for group in in_order(found, refused):
        if group in every:
            columns = every[group].table.cells()
            told = {name: values.tolist() for name, values in every[group].rows(level).items()}
        else:
            reason = refused[group]
            columns = {name: ["" if place else reason] for place, name in enumerate(names)}
            columns = columns if reason else first.table.cells()
            told = dict.fromkeys(numbers, [nan] * len(columns[names[0]]))
        cells[by] += [group] * len(columns[names[0]])
        for name in names:
            cells[name].extend(columns[name])
        for name, values in told.items():
            numbers[name].extend(values)
    return cells, numbers


def in_order(*groups: Iterable[Any]) -> list[Any]:
    """Groups in the order of their values, which is that of `Reports.groups`."""
    return sorted(group for some in groups for group in some)
