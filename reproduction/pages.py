"""The two pages made from records: every number side by side, and the list of claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.references import references
from reproduction.registry import papers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reproduction.item import Item
    from reproduction.record import Line, Record

START, END = "<!-- made by make reproduce -->", "<!-- end -->"
_HEAD = """# The papers, computed anew

Four papers stand behind this library. Below is every table and figure of theirs, computed from a seed by one command
each, beside what was printed. `make reproduce` makes this page; `.venv/bin/python -m reproduction` lists the
items, and each of them also writes its columns as CSV and a picture as SVG.

A number counts as **reproduced** when ours lies within the tolerance of the printed one: its rounding, and the Monte
Carlo errors of both. What a paper says in words counts as reproduced when it holds. **Differs** comes with the reason;
what is wrong in the papers themselves is derived on the page [errata](errata.md). **New** lines have no counterpart in
the paper: other readings, sampling noise where none was added, the true epsilon where another was claimed. The
number behind +- is the standard error of ours over fresh seeds.
"""


def reproduction(records: Mapping[tuple[str, str], Record]) -> str:
    """The page with every number, from records by (paper, item); items without one are left out."""
    parts = [_HEAD]
    for paper in papers():
        parts.append(f"## {paper.title}\n\n{paper.reference}\n")
        for item in paper.items:
            record = records.get((paper.name, item.name))
            if record is not None:
                parts.append(_section(item, record))
    return "\n".join(parts)


def _section(item: Item, record: Record) -> str:
    lines = [f"### {item.title}", "", f"{item.claim} ({item.where}.) Verdict: **{record.verdict}**."]
    if item.why:
        lines.append(item.why)
    lines += ["", f"    {item.command}", "", "| | paper | ours | tolerance | verdict |", "|---|---|---|---|---|"]
    lines += [_row(line) for line in record.lines]
    lines += ["", *(f"{note}\n" for note in record.notes)]
    return "\n".join(lines)


def _row(line: Line) -> str:
    paper = figure(line.paper) if line.paper is not None else ("holds" if line.says else "")
    ours = figure(line.ours) + (f" +- {line.error:.1g}" if line.error else "")
    tolerance = f"{line.tolerance:.2g}" if line.paper is not None else ""
    verdict = f"{line.verdict}: {line.note}" if line.note else line.verdict
    return _cells(line.what, paper, ours, tolerance, verdict)


def _cells(*texts: str) -> str:
    """A row of a table; a bar inside a cell is no border."""
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def figure(value: float) -> str:
    """A number with four significant digits, without an exponent where it reads better.

    >>> figure(0.21598), figure(6085.2), figure(2.93e-33), figure(12.0)
    ('0.216', '6085', '2.93e-33', '12')
    """
    if value and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.3g}"
    return f"{value:.4g}"


def claims(records: Mapping[tuple[str, str], Record]) -> str:
    """The list of claims: what, where, command, minutes, verdict, reason."""
    parts = []
    for paper in papers():
        rows = [
            _cells(item.claim, item.where, f"`{item.command}`", _minutes(record.seconds), _told(item, record))
            for item in paper.items
            if (record := records.get((paper.name, item.name))) is not None
        ]
        head = ["| claim | where | command | minutes | verdict |", "|---|---|---|---|---|"]
        parts.append("\n".join([f"## {paper.title}", "", paper.reference, "", *head, *rows, ""]))
    return "\n".join([*parts, checklist(records)])


_CHECKED = """## Beside an independent recomputation

The papers were recomputed once before, with other programs, other seeds and partly other readings. Every number found
there stands beside ours: the same within its rounding and Monte Carlo error and three standard errors of ours, or with
what the difference comes from. Powers of tests are compared by `make bench BENCH=power`, sizes and coverages by `make
calibrate`, times by `make bench`.
"""


def checklist(records: Mapping[tuple[str, str], Record]) -> str:
    """Every number of the independent recomputation: where, theirs, ours, the same or why not."""
    rows = []
    for one in references():
        paper, _, name = one.item.partition(" ")
        record = records.get((paper, name))
        ours = next((line for line in record.lines if line.what == one.line), None) if record else None
        if ours is not None:
            found = figure(ours.ours) + (f" +- {ours.error:.1g}" if ours.error else "")
            verdict = "the same" if one.agrees(ours) else f"differs: {one.why}"
            rows.append(_cells(f"`{one.item}`", one.line, figure(one.value), found, verdict))
    head = ["| item | number | theirs | ours | verdict |", "|---|---|---|---|---|"]
    return "\n".join([_CHECKED, *head, *rows, ""])


def _told(item: Item, record: Record) -> str:
    return f"{record.verdict}. {item.why}" if item.why else record.verdict


def _minutes(seconds: float) -> str:
    return "< 1" if seconds < 50 else str(round(seconds / 60) or 1)


_POPULATIONS = ("survey", "child", "alarm", "adult")
_TABLES = (("pairs", "Pair tables"), ("margins", "One attribute at a time"))


def choosing(records: Mapping[tuple[str, str], Record]) -> str:
    """Tables of every method (rows) on every population (columns), from the records of `choose`."""
    found = {
        name: {line.what: line.ours for line in records["choose", name].lines}
        for name in _POPULATIONS
        if ("choose", name) in records
    }
    parts = []
    for what, title in _TABLES:
        for epsilon in (1, 4):
            start = f"{what}, epsilon {epsilon}: "
            methods = [key.removeprefix(start) for key in next(iter(found.values())) if key.startswith(start)]
            parts += [
                f"**{title}, epsilon {epsilon}**",
                "",
                f"| method | {' | '.join(name.title() for name in found)} |",
            ]
            parts += ["|" + "---|" * (len(found) + 1)]
            best = {name: min(lines[start + method] for method in methods) for name, lines in found.items()}
            for method in methods:
                cells = [_cell(lines[start + method], best[name]) for name, lines in found.items()]
                parts.append(f"| {method} | {' | '.join(cells)} |")
            parts.append("")
    return "\n".join(parts)


def _cell(value: float, best: float) -> str:
    return f"**{value:.3f}**" if value == best else f"{value:.3f}"


def filled(page: str, tables: str) -> str:
    """A page with the part between its marks replaced.

    >>> filled(f"a {START} old {END} b", "new").split()
    ['a', '<!--', 'made', 'by', 'make', 'reproduce', '-->', 'new', '<!--', 'end', '-->', 'b']
    """
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n\n{tables}\n{END}{after}"
