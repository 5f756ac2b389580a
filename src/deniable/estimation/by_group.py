"""The same for every public group: whoever is refused because of one group is told which; and all behind each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from deniable.errors import TooFewReportsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

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


def rows_by_group(
    by: str, found: Mapping[Any, Estimate] | Mapping[Any, Totals], level: float
) -> tuple[dict[str, list[Any]], dict[str, list[float]]]:
    """The cells of all groups, the group first, and what is told of each."""
    cells: dict[str, list[Any]] = {by: []}
    numbers: dict[str, list[float]] = {}
    for group, one in found.items():
        cells[by] += [group] * one.values.size
        for name, column in one.table.cells().items():
            cells.setdefault(name, []).extend(column)
        for name, values in one._numbers(level).items():
            numbers.setdefault(name, []).extend(values.tolist())
    return cells, numbers
