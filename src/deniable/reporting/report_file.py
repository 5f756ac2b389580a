"""The report: what was asked, what was promised, what was found and how to check it, in one file."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.core.labels import UNKNOWN, Labels
from deniable.core.provenance import PEOPLE, Origin
from deniable.core.summary import share
from deniable.estimation.notes.refused import Refused
from deniable.inference.numbers.aim_estimates import NONE_TOLD, ToldAims
from deniable.reporting.charts import chart, strengths
from deniable.reporting.describe_disguise import disguised
from deniable.reporting.document import (
    Block,
    Card,
    Cards,
    Details,
    Document,
    Drawing,
    Grid,
    Items,
    Quote,
    Section,
    Text,
)
from deniable.reporting.html import html
from deniable.reporting.markdown import markdown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deniable.core.summary import Summary
    from deniable.core.table import Table
    from deniable.designs.design import Design
    from deniable.device.privacy_statement import Statement
    from deniable.estimation.by_group import Grouped
    from deniable.estimation.estimate import Estimate
    from deniable.inference.corrected_words import CorrectedWords
    from deniable.inference.hypothesis_tests.all_pairs import Pairs
    from deniable.reporting.document import Column

    Shares = Estimate | Refused

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
_CORRECTED = (
    "Correction for the number of tests: S. Holm (1979), A simple sequentially rejective multiple test procedure, "
    "Scandinavian Journal of Statistics 6, 65-70; Y. Benjamini and Y. Hochberg (1995), Journal of the Royal "
    "Statistical Society B 57, 289-300."
)


def write_report(path: str | Path, title: str, design: Design, estimates: Sequence[Shares], **about: Any) -> Path:
    """Write the report to a file, making its folder where needed; see `document`. Markdown if the name ends in .md."""
    target = Path(path)
    made = document(title, design, estimates, **about)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(markdown(made) if target.suffix == ".md" else html(made), encoding="utf-8")
    return target


def report(title: str, design: Design, estimates: Sequence[Shares], **about: Any) -> str:
    """Lay estimates out as an HTML page; see `document`."""
    return html(document(title, design, estimates, **about))


def document(
    title: str,
    design: Design,
    estimates: Sequence[Shares],
    *,
    truth: Table | None = None,
    lead: str = "",
    level: float = 0.95,
    citations: Iterable[str] = (),
    crossed: Sequence[Shares] = (),
    associations: Pairs | None = None,
    statement: Statement | None = None,
    quality: Sequence[str] = (),
    facts: Sequence[tuple[str, str]] = (),
    labels: Labels = UNKNOWN,
    groups: Sequence[Grouped | Refused] = (),
    aims: ToldAims = NONE_TOLD,
    origin: Origin = PEOPLE,
    corrected: CorrectedWords | None = None,
) -> Document:
    """Compose the report.

    Args:
        title: the heading.
        design: what the respondents were asked, and through which channels.
        estimates: tables estimated from their reports, each drawn, or what stands in the place of one.
        truth: a table over all attributes, where it is known (in a demonstration); shown beside the estimates.
        lead: a sentence or two under the heading.
        level: the coverage of the intervals.
        citations: where the data comes from, before the citations of the methods.
        crossed: two-way tables, laid out across, or what stands in the place of one.
        associations: tests of pairs of attributes.
        statement: the privacy statement, if it says more than the design's own.
        quality: what stood out about the data, a sentence each.
        facts: what else belongs to checking the report, such as the files' hashes.
        labels: the survey's words.
        groups: estimates by public attributes, or what stands in the place of one.
        aims: what the survey was made for: numbers that are no tables, and how near the design is to the best.
        origin: whether the reports are simulated, or a pilot's; estimates know it too.
        corrected: what changed in the survey's words while people answered.
    """
    cards = [_card(each, truth, level, f"chart-{number}", labels) for number, each in enumerate(estimates, start=1)]
    told = [each for each in estimates if not isinstance(each, Refused)]
    every = [*told, *(each for each in crossed if not isinstance(each, Refused))]
    origin = next((each.origin for each in every if each.origin), origin)
    sections = [
        Section("What was asked", tuple(_asked(design, labels))),
        Section("What a report can tell about a person", tuple(_privacy(statement or design.describe()))),
        Section("How answers were disguised", _disguise(design, labels)),
        Section("Estimates", (_reading(told, truth, level), Cards(tuple(cards)))),
    ]
    if corrected is not None and len(corrected):
        sections.insert(1, Section("Words that were corrected", tuple(_corrected(corrected))))
    if aims.numbers is not None or aims.nearness:
        grids = [] if aims.numbers is None else [Grid("Wanted numbers", _columns(aims.numbers.summary()))]
        notes = [Text(note, "note") for note in aims.notes]
        near = [Text(aims.nearness)] if aims.nearness else []
        sections.append(Section("What the survey was made for", (*grids, *notes, *near)))
    if crossed:
        sections.append(Section("Cross tables", (_crossing(level), *(_cross(one, level, labels) for one in crossed))))
    if groups:
        sections.append(Section("By group", tuple(block for one in groups for block in _grouped(one, level, labels))))
    if associations is not None:
        sections.append(Section("Associations", tuple(_associations(associations, origin))))
    sources = (*citations, *CITATIONS, *((_CORRECTED,) if associations is not None else ()))
    sections += [
        Section("Data quality", (_quality(every, quality),)),
        Section("Method", tuple(_method(every))),
        Section("Sources", (Items(sources),)),
        Section("To check or repeat this", tuple(_reproduce(design, facts, labels.design, origin))),
    ]
    return Document(origin.titled(title), lead, tuple(sections), "".join(origin.note))


# -- the sections ------------------------------------------------------------------------------------------------------


def _asked(design: Design, labels: Labels) -> list[Block]:
    listed = [
        ", ".join(labels.shown(name, category) for category in variable.categories)
        for name, variable in design.domain.items()
    ]
    worded = [labels.question(name) for name in design.domain]
    columns: tuple[Column, ...] = (
        ("attribute", list(design.domain), False),
        *([("question", worded, False)] if labels.texts else []),
        ("categories", listed, False),
    )
    questions = [" with ".join(question.attributes) for question in design.questions]
    if len(design.ballots) == 1:
        told = f"Every respondent answered: {'; '.join(questions)}."
    else:
        told = (
            f"Every respondent's own device drew one of {len(design.ballots)} ballots, whatever the answers were. The "
            f"questions on them: {'; '.join(questions)}."
        )
    return [
        Grid("The attributes and their categories", columns),
        Text(f"{told} Attributes named together are answered together, as one combination."),
    ]


def _corrected(corrected: CorrectedWords) -> list[Block]:
    """Old beside new, and whether answers before and after are alike."""
    summary = corrected.summary()
    return [Grid("What respondents were shown before and after", _columns(summary)), *map(Text, summary.notes)]


def _privacy(statement: Statement) -> list[Block]:
    lines = tuple(Text(line, "note" if line in statement.notes else "") for line in statement.lines())
    return [
        Text(
            "Each answer was disguised before it was collected here. The numbers below bound what anybody who gets the "
            "reports can learn about one person from everything that person sent, whatever else they know."
        ),
        Quote(lines),
    ]


def _disguise(design: Design, labels: Labels) -> tuple[Block, ...]:
    whole, *questions, where = disguised(design, labels)
    return Text(whole), Items(tuple(questions)), Text(where, "note")


def _reading(estimates: Sequence[Estimate], truth: Table | None, level: float) -> Text:
    told = (
        f"Shares of the respondents, recovered from the disguised answers. About {level:.0%} of such intervals hold "
        f"the true share; the noise of the disguise is accounted for."
    )
    if truth is None or not estimates:
        return Text(told)
    held, cells = map(sum, zip(*(held_by(estimate, truth, level) for estimate in estimates), strict=True))
    return Text(
        f"{told} Here the truth is known, which in a real survey it is not: {held} of the {cells} "
        f"intervals below hold it."
    )


def _card(estimate: Shares, truth: Table | None, level: float, name: str, labels: Labels) -> Card:
    if isinstance(estimate, Refused):
        return Card(_named(estimate.attributes, labels), _in_place(estimate))
    columns = _columns(estimate.summary(level))
    if truth is not None:
        known = zip(estimate.rows(level), estimate.true_shares(truth).ravel().tolist(), strict=True)
        texts = [f"{share(true)}{'' if row.holds(true) else ' (outside)'}" for row, true in known]
        columns = (*columns, ("truth", texts, True))
    grid = Grid(estimate.stands_on, columns)
    svg = chart(estimate, truth=truth, level=level, name=name)
    return Card(_named(estimate.attributes, estimate.labels), grid, Drawing(svg), estimate.values.size >= _WIDE)


def _columns(summary: Summary) -> tuple[Column, ...]:
    return tuple((heading, texts, summary.is_number(heading)) for heading, texts in summary.texts().items())


def _crossing(level: float) -> Text:
    return Text(f"Shares of all respondents in each combination, with {level:.0%} intervals.")


# Laid out across, not as a summary is: a row a cell, which is right for every other medium, hides how two attributes go
# together. The values are written as there.


def _cross(estimate: Shares, level: float, labels: Labels) -> Block:
    """Two attributes across: a row a category of the first, a column a category of the second."""
    if isinstance(estimate, Refused):
        return _in_place(estimate, _named(estimate.attributes, labels))
    down, across = estimate.table.domain.values()
    labels, shown = estimate.labels, _shares(estimate, level)
    names = [labels.shown(down.name, category) for category in down.categories]
    columns: list[Column] = [(f"{down.name} \\ {across.name}", names, False)]
    for place, category in enumerate(across.categories):
        columns.append((labels.shown(across.name, category), shown[place :: len(across.categories)], True))
    return Grid(f"{_named(estimate.attributes, labels)}: {estimate.stands_on}", tuple(columns))


def _grouped(found: Grouped | Refused, level: float, labels: Labels) -> list[Block]:
    """A disguised attribute by a public one: a row a category, a column a group, with what stands in its place."""
    if isinstance(found, Refused):
        return [_in_place(found, _named(found.attributes, labels))]
    first = next(iter(found.values()))
    labels, cells = first.labels, first.table.cells()
    names = [", ".join(row) for row in zip(*labels.cells(cells).values(), strict=True)]
    columns: list[Column] = [(f"{_and(found.attributes)} \\ {found.by}", names, False)]
    for group, one in found.every.items():
        refused = isinstance(one, Refused)
        told = [one.reason, *[""] * (len(names) - 1)] if isinstance(one, Refused) else _shares(one, level)
        columns.append((f"{labels.shown(found.by, group)}, {one.n} reports", told, not refused))
    asked = labels.asked([*found.attributes, found.by]) or f"{_and(found.attributes)} by {found.by}"
    caption = f"{asked}: shares of each group's own members, with {level:.0%} intervals"
    return [Grid(caption, tuple(columns)), *(Text(note, "note") for note in found.warnings(level))]


def _shares(estimate: Estimate, level: float) -> list[str]:
    """Every cell's share with its interval."""
    return [f"{share(row.estimate)} ({row.interval})" for row in estimate.rows(level)]


def _associations(pairs: Pairs, origin: Origin) -> list[Block]:
    told = (
        "A small p says that the two go together by more than chance and disguise would make them; Cramer's V says how "
        "strongly, from 0 to 1. The tests are those that hold their level on disguised answers."
    )
    return [
        Text(told),
        Grid("Pairs of attributes, tested for independence", _columns(pairs.summary())),
        Drawing(strengths(pairs, name="pairs", origin=origin)),
        *map(Text, pairs.notes()),
    ]


def _quality(estimates: Sequence[Estimate], alarms: Sequence[str]) -> Block:
    notes = [
        f"{_and(estimate.attributes)}: {note}"
        for estimate in estimates
        for note in estimate.notes(looked_at=len(estimates))[1:]
    ]
    if notes or alarms:
        return Items((*alarms, *notes))
    return Text(
        "Nothing to report: no share is smaller than chance explains, and no estimate carries a warning. Fewer than "
        "that would hint at respondents who did not follow the instructions."
    )


def _method(estimates: Sequence[Estimate]) -> list[Block]:
    details = [f"{_and(estimate.attributes)}: {estimate.n} reports, {estimate.details}." for estimate in estimates]
    return [
        Text(
            "A channel turns the truth into a report with known probabilities, so the shares among the reports are a "
            "known linear function of the true shares. Inverting it gives the unbiased estimate, from which all "
            "intervals come; shares and intervals are shown as far as they lie between 0% and 100%."
        ),
        Details("How each table was made, in detail", "\n".join(details), "text"),
    ]


def _reproduce(design: Design, facts: Sequence[tuple[str, str]], served: str, origin: Origin) -> list[Block]:
    """What made the report. A survey that was served has the hash that its server printed: it is of the words too."""
    rows = [
        *facts,
        ("noise", "drawn from a seed: no secret" if origin.seeded else "secure source, no seed"),
        *([("design, as its server printed it", served), ("its channels alone", design.id)] if served else []),
        *([] if served else [("design", design.id)]),
        ("ratio, exactly", str(design.ratio)),
        ("epsilon", repr(design.epsilon)),
        ("Python", platform.python_version()),
        *((package, _version(package)) for package in ("deniable", "numpy", "scipy", "matplotlib")),
    ]
    names, values = zip(*rows, strict=True)
    named = "hash of the channels" if served else "design's name"
    return [
        Grid("What made this report", (("what", names, False), ("value", values, False)), "code"),
        Text(
            "The design below is what ran: its integers are the draws behind every probability, out of 2 to the power "
            f"of `bits`. Its SHA-256 is the {named} above; ratio and epsilon can be recomputed from it."
        ),
        Details("The design in full", design.canonical().decode()),
    ]


def _in_place(refused: Refused, of: str = "") -> Text:
    """What stands where a table would."""
    reason = refused.reason.rstrip(".")
    return Text(f"{of}: {reason}." if of else f"{reason}.", "note")


# -- their parts -------------------------------------------------------------------------------------------------------


def held_by(estimate: Estimate, truth: Table, level: float = 0.95) -> tuple[int, int]:
    """How many of an estimate's intervals hold the true share, and out of how many."""
    shares = estimate.true_shares(truth).ravel().tolist()
    return sum(row.holds(true) for row, true in zip(estimate.rows(level), shares, strict=True)), len(shares)


def _named(names: Sequence[str], labels: Labels) -> str:
    return labels.asked(names) or _and(names)


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
