"""Section: a table of the calibration report, and whether what stands in it is as it must be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.benchmark import number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FALSE_ALARM = 1e-4  # the chance that any of all sections' cells is judged wrongly
CELLS = 1200  # of all sections together, at most


@dataclass
class Section:
    """A table of the report: a title, a sentence, columns and rows, and whether every row is within its bounds."""

    title: str
    told: str
    columns: Sequence[str]
    rows: list[list[object]]
    met: bool = True
    judged: int = 0

    def add(self, row: list[object], value: float, bounds: tuple[float, float] | None = None) -> None:
        """Append a row that ends with a value, and whether it lies within its bounds."""
        if bounds is None:
            self.rows.append([*row, value])
            return
        inside = bounds[0] <= value <= bounds[1]
        self.met &= inside
        self.rows.append([*row, value, f"{bounds[0]:g} - {bounds[1]:g}", "yes" if inside else "NO"])

    def judge(self, row: list[object], hits: int | Sequence[int], surveys: int, bounds: tuple[float, float]) -> None:
        """Append a row that ends with a share of surveys, met unless it lies outside its bounds for certain.

        By exact binomial tests: in all cells of all sections together, one that is within its bounds fails with a
        chance of 1e-4. Of several shares, as of a table's cells, the least and the largest are shown, and all are
        judged.
        """
        from scipy.stats import binom

        each = [hits] if isinstance(hits, int) else list(hits)
        self.judged += len(each)
        chances = [min(binom.cdf(h, surveys, bounds[0]), binom.sf(h - 1, surveys, bounds[1])) for h in each]
        met = bool(min(chances) >= FALSE_ALARM / (2 * CELLS))
        self.met &= met
        shares = sorted({min(each) / surveys, max(each) / surveys})
        shown = number(shares[0]) if isinstance(hits, int) else " - ".join(map(number, shares))
        self.rows.append([*row, shown, f"{bounds[0]:g} - {bounds[1]:g}", "yes" if met else "NO"])

    def markdown(self) -> str:
        """The section as Markdown."""
        lines = [f"### {self.title}", "", self.told, "", "| " + " | ".join(self.columns) + " |"]
        lines.append("|" + "---|" * len(self.columns))
        lines += ["| " + " | ".join(number(cell) for cell in row) + " |" for row in self.rows]
        return "\n".join(lines)


def write(page: Path, sections: Sequence[Section], marks: tuple[str, str]) -> None:
    """Put sections between the marks of a page, in the place of those of the same titles, or behind them."""
    start, end = marks
    before, _, rest = page.read_text(encoding="utf-8").partition(start)
    old, _, after = rest.partition(end)
    kept = {text.partition("\n")[0]: text.strip() for text in old.split("### ")[1:]}
    kept |= {section.title: section.markdown().removeprefix("### ") for section in sections}
    text = "\n\n".join(f"### {part}" for part in kept.values())
    page.write_text(f"{before}{start}\n\n{text}\n\n{end}{after}", encoding="utf-8")
