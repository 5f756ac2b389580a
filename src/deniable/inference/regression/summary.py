"""The table that a fitted regression prints."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from deniable.frozen import Frozen
from deniable.results import html_table, intervals_by_row, number, text_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Frozen):
    """Facts, the table of coefficients, and a table of the parameters beside them (which may be empty)."""

    facts: Mapping[str, object]
    table: Mapping[str, list[Any]]
    beside: Mapping[str, list[Any]]
    notes: tuple[str, ...] = ()
    level: float = 0.95  # of the intervals in the table's last two columns

    def _tables(self) -> list[Mapping[str, list[Any]]]:
        return [table for table in (self.table, self.beside) if next(iter(table.values()))]

    def __str__(self) -> str:
        width = max(map(len, self.facts))
        facts = "\n".join(f"{name:<{width}}  {number(value)}" for name, value in self.facts.items())
        parts = [facts, *(text_table(table) for table in self._tables())]
        line = "-" * max(len(row) for part in parts[1:] for row in part.splitlines())
        return "\n".join([f"\n{line}\n".join(parts), *self.notes])

    __repr__ = __str__

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw every coefficient with its interval; the intercept says nothing about a predictor and is left out."""
        terms, values, *_, low, high = self.table.values()
        kept = [i for i, term in enumerate(terms) if not str(term).endswith("Intercept")] or list(range(len(terms)))
        some = [[column[i] for i in kept] for column in (terms, values, low, high)]
        return intervals_by_row(
            some[0], some[1], (some[2], some[3]), ax, of="coefficient", level=self.level, title=str(self.facts["model"])
        )

    def _repr_html_(self) -> str:
        facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(number(v))}</dd>" for name, v in self.facts.items())
        return f"<dl>{facts}</dl>" + "".join(
            [*(html_table(table) for table in self._tables()), *(f"<p>{escape(note)}</p>" for note in self.notes)]
        )
