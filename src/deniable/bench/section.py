"""Section: a table of the calibration report, and whether what stands in it is as it must be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.summary import number

if TYPE_CHECKING:
    from collections.abc import Sequence

FALSE_ALARM = 1e-4  # the chance that any of a section's cells is judged wrongly


@dataclass
class Section:
    """A table of the report: a title, a sentence, columns and rows, and whether every row is within its bounds."""

    title: str
    told: str
    columns: Sequence[str]
    rows: list[list[object]]
    met: bool = True

    def add(self, row: list[object], value: float, bounds: tuple[float, float] | None = None) -> None:
        """Append a row that ends with a value, and whether it lies within its bounds."""
        if bounds is None:
            self.rows.append([*row, value])
            return
        inside = bounds[0] <= value <= bounds[1]
        self.met &= inside
        self.rows.append([*row, value, f"{bounds[0]:g} - {bounds[1]:g}", "yes" if inside else "NO"])

    def judge(self, row: list[object], hits: int, surveys: int, bounds: tuple[float, float], cells: int) -> None:
        """Append a row that ends with a share of surveys, met unless it lies outside its bounds for certain.

        By an exact binomial test: in as many cells together, one within its bounds fails with a chance of 1e-4.
        """
        from scipy.stats import binom

        below, above = binom.cdf(hits, surveys, bounds[0]), binom.sf(hits - 1, surveys, bounds[1])
        met = bool(min(below, above) >= FALSE_ALARM / (2 * cells))
        self.met &= met
        self.rows.append([*row, hits / surveys, f"{bounds[0]:g} - {bounds[1]:g}", "yes" if met else "NO"])

    def markdown(self) -> str:
        """The section as Markdown."""
        lines = [f"### {self.title}", "", self.told, "", "| " + " | ".join(self.columns) + " |"]
        lines.append("|" + "---|" * len(self.columns))
        lines += ["| " + " | ".join(number(cell) for cell in row) + " |" for row in self.rows]
        return "\n".join(lines)
