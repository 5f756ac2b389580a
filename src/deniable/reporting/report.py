"""The report: one HTML file that explains itself, needs no network and runs no script."""

from __future__ import annotations

import platform
from html import escape
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deniable.reporting.charts import chart

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deniable.designs.base import Design
    from deniable.estimation.estimate import Estimate
    from deniable.tables.table import Table

    Column = tuple[str, Sequence[str], bool]  # a heading, its cells, and whether they are numbers

_WIDE = 4  # an estimate with at least this many cells gets a row of the page to itself

CITATIONS = (
    (
        "Randomized response: S. L. Warner (1965), Randomized response: a survey technique for eliminating evasive "
        "answer bias, Journal of the American Statistical Association 60, 63-69."
    ),
    (
        "Its probabilities for a given epsilon, and the unbiased estimate: Y. Wang, X. Wu and D. Hu (2016), Using "
        "randomized response for differential privacy preserving data collection, EDBT/ICDT Workshops."
    ),
    (
        "Asking combinations of attributes: F. Imran and R. Meo (2024), Collection and analysis of sensitive data "
        "with privacy protection by a distributed randomized response protocol, ACM Symposium on Applied Computing."
    ),
    (
        "The intervals: E. B. Wilson (1927), Probable inference, the law of succession, and statistical inference, "
        "Journal of the American Statistical Association 22, 209-212; here mapped through the channel."
    ),
    (
        "Maximum likelihood: A. P. Dempster, N. M. Laird and D. B. Rubin (1977), Journal of the Royal Statistical "
        "Society B 39, 1-38; accelerated as in R. Varadhan and C. Roland (2008), Scandinavian Journal of Statistics "
        "35, 335-353."
    ),
)


def write_report(
    path: str | Path,
    title: str,
    design: Design,
    estimates: Sequence[Estimate],
    *,
    truth: Table | None = None,
    lead: str = "",
    level: float = 0.95,
    citations: Iterable[str] = (),
) -> Path:
    """Write the report to a file, making its folder where needed; see `report`."""
    target = Path(path)
    page = report(title, design, estimates, truth=truth, lead=lead, level=level, citations=citations)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page, encoding="utf-8")
    return target


def report(
    title: str,
    design: Design,
    estimates: Sequence[Estimate],
    *,
    truth: Table | None = None,
    lead: str = "",
    level: float = 0.95,
    citations: Iterable[str] = (),
) -> str:
    """Lay estimates out as a page.

    Args:
        title: the page's heading.
        design: what the respondents were asked, and through which channels.
        estimates: tables estimated from their reports.
        truth: a table over all attributes, where it is known (in a demonstration); shown beside the estimates.
        lead: a sentence or two under the heading.
        level: the coverage of the intervals.
        citations: where the data comes from, before the citations of the methods.
    """
    shown = [
        _estimate(estimate, truth, level, name=f"chart-{number}") for number, estimate in enumerate(estimates, start=1)
    ]
    sections = [
        _section("What was asked", _asked(design)),
        _section("What a report can tell about a person", _privacy(design)),
        _section("Estimates", _reading(estimates, truth, level), f'<div class="estimates">{"".join(shown)}</div>'),
        _section("Data quality", _quality(estimates)),
        _section("Method", _method(estimates)),
        _section("Sources", _list([*citations, *CITATIONS])),
        _section("To check or repeat this", _reproduce(design)),
    ]
    style = files("deniable.reporting").joinpath("report.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        f"<header>\n<h1>{escape(title)}</h1>\n{_paragraph(lead, 'lead')}</header>\n"
        f"{''.join(sections)}</main>\n</body>\n</html>\n"
    )


# -- the sections ------------------------------------------------------------------------------------------------------


def _asked(design: Design) -> str:
    listed = [", ".join(str(category) for category in variable.categories) for variable in design.domain.values()]
    columns = [("attribute", list(design.domain), False), ("categories", listed, False)]
    table = _table("The attributes and their categories", columns)
    questions = [" with ".join(question.attributes) for question in design.questions]
    if len(design.ballots) == 1:
        told = f"Every respondent answered: {'; '.join(questions)}."
    else:
        told = (
            f"Every respondent's own device drew one of {len(design.ballots)} ballots, whatever the answers were. The "
            f"questions on them: {'; '.join(questions)}."
        )
    return table + _paragraph(f"{told} Attributes named together are answered together, as one combination.")


def _privacy(design: Design) -> str:
    statement = design.describe()
    lines = [_paragraph(line, "note" if line in statement.notes else "") for line in statement.lines()]
    return (
        _paragraph(
            "Each answer was disguised on the respondent's own device before it left. The numbers below bound what "
            "anybody can learn about one person from everything that person sent, whatever else they know."
        )
        + f'<div class="statement">{"".join(lines)}</div>\n'
    )


def _reading(estimates: Sequence[Estimate], truth: Table | None, level: float) -> str:
    told = (
        f"Shares of the respondents, recovered from the disguised answers. About {level:.0%} of such intervals hold "
        f"the true share; the noise of the disguise is accounted for."
    )
    if truth is None:
        return _paragraph(told)
    held, cells = map(sum, zip(*(held_by(estimate, truth, level) for estimate in estimates), strict=True))
    return _paragraph(
        f"{told} Here the truth is known, which in a real survey it is not: {held} of the {cells} "
        f"intervals below hold it."
    )


def _estimate(estimate: Estimate, truth: Table | None, level: float, name: str) -> str:
    interval = estimate.interval(level)
    columns = [(name, [str(c) for c in cells], False) for name, cells in estimate.table.cells().items()]
    columns.append(("estimate", _percents(estimate.values), True))
    if (estimate.unbiased.values < 0).any():
        columns.append(("unbiased", _percents(estimate.unbiased.values), True))
    ends = zip(_percents(interval.low), _percents(interval.high), strict=True)
    columns.append((f"{level:.0%} interval", [f"{low[:-1]} to {high}" for low, high in ends], True))
    if truth is not None:
        shares = truth.project(estimate.attributes).normalize().values
        held = interval.contains(shares).ravel()
        marks = ["" if inside else " (outside)" for inside in held]
        columns.append(("truth", [share + mark for share, mark in zip(_percents(shares), marks, strict=True)], True))
    table = _table(f"{estimate.n} reports cover {_and(estimate.attributes)}", columns)
    drawing = f"<figure>{chart(estimate, truth=truth, level=level, name=name)}</figure>\n"
    wide = " wide" if estimate.values.size >= _WIDE else ""
    heading = f"<h3>{escape(_and(estimate.attributes))}</h3>\n"
    return f'<article class="estimate{wide}">\n{heading}<div>{table}</div>\n{drawing}</article>\n'


def _quality(estimates: Sequence[Estimate]) -> str:
    notes = [f"{_and(estimate.attributes)}: {note}" for estimate in estimates for note in estimate.notes()[1:]]
    if notes:
        return _list(notes)
    return _paragraph(
        "Nothing to report: no unbiased estimate is negative, and no estimate carries a warning. A strongly negative "
        "one would hint at respondents who did not follow the instructions."
    )


def _method(estimates: Sequence[Estimate]) -> str:
    notes = [f"{_and(estimate.attributes)}: {estimate.notes()[0]}" for estimate in estimates]
    return _paragraph(
        "A channel turns the truth into a report with known probabilities, so the shares among the reports are a known "
        "linear function of the true shares. Inverting it gives the unbiased estimate, from which all intervals come."
    ) + _list(notes)


def _reproduce(design: Design) -> str:
    rows = [
        ("design", design.id),
        ("ratio, exactly", str(design.ratio)),
        ("epsilon", repr(design.epsilon)),
        ("Python", platform.python_version()),
        *((package, _version(package)) for package in ("deniable", "numpy", "scipy", "matplotlib")),
    ]
    names, values = zip(*rows, strict=True)
    return (
        _table("What made this report", [("what", names, False), ("value", values, False)], kind="code")
        + _paragraph(
            "The design below is what ran: its integers are the draws behind every probability, out of 2 to the power "
            "of `bits`. Its SHA-256 is the design's name above; ratio and epsilon can be recomputed from it."
        )
        + f"<details><summary>The design in full</summary><pre>{escape(design.canonical().decode())}</pre></details>\n"
    )


# -- their parts -------------------------------------------------------------------------------------------------------


def held_by(estimate: Estimate, truth: Table, level: float = 0.95) -> tuple[int, int]:
    """How many of an estimate's intervals hold the true share, and out of how many."""
    shares = truth.project(estimate.attributes).normalize().values
    return int(estimate.interval(level).contains(shares).sum()), shares.size


def _section(heading: str, *parts: str) -> str:
    return f"<section>\n<h2>{escape(heading)}</h2>\n{''.join(parts)}</section>\n"


def _paragraph(text: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f"<p{named}>{escape(text)}</p>\n" if text else ""


def _list(items: Iterable[str]) -> str:
    listed = "".join(f"<li>{escape(item)}</li>\n" for item in items)
    return f"<ul>\n{listed}</ul>\n"


def _table(caption: str, columns: Sequence[Column], kind: str = "") -> str:
    kinds = [' class="number"' if numeric else "" for _, _, numeric in columns]
    head = "".join(
        f'<th scope="col"{align}>{escape(name)}</th>' for (name, _, _), align in zip(columns, kinds, strict=True)
    )
    body = "".join(
        "<tr>" + "".join(f"<td{align}>{escape(text)}</td>" for text, align in zip(row, kinds, strict=True)) + "</tr>\n"
        for row in zip(*(cells for _, cells, _ in columns), strict=True)
    )
    named = f' class="{kind}"' if kind else ""
    return (
        f'<div class="scroll"><table{named}>\n<caption>{escape(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}</tbody>\n</table></div>\n"
    )


def _percents(values: object) -> list[str]:
    return [f"{share:.1%}" for share in np.asarray(values, dtype=np.float64).ravel()]


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
