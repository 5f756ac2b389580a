"""The table that a fitted regression prints."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from deniable.results import html_table, number, text_table

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, repr=False)
class Summary:
    """Facts, the table of coefficients, and a table of the parameters beside them (which may be empty)."""

    facts: Mapping[str, object]
    table: Mapping[str, list[Any]]
    beside: Mapping[str, list[Any]]
    notes: tuple[str, ...] = ()

    def _tables(self) -> list[Mapping[str, list[Any]]]:
        return [table for table in (self.table, self.beside) if next(iter(table.values()))]

    def __str__(self) -> str:
        width = max(map(len, self.facts))
        facts = "\n".join(f"{name:<{width}}  {number(value)}" for name, value in self.facts.items())
        parts = [facts, *(text_table(table) for table in self._tables())]
        line = "-" * max(len(row) for part in parts[1:] for row in part.splitlines())
        return "\n".join([f"\n{line}\n".join(parts), *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(number(v))}</dd>" for name, v in self.facts.items())
        return f"<dl>{facts}</dl>" + "".join(
            [*(html_table(table) for table in self._tables()), *(f"<p>{escape(note)}</p>" for note in self.notes)]
        )
