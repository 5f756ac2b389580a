"""What the dashboard shows, as plain numbers and texts: so that it can be kept as it was when a survey was closed.

How exact an estimate is by now, and how many reports would make it how much more exact, in one sentence.
"""

from __future__ import annotations

import threading
from functools import partial
from hashlib import sha256
from math import ceil, log10
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
import numpy as np

from deniable.collection.load_reports import stored_reports
from deniable.core.rows import LEVEL, SHOWN
from deniable.core.table import Table
from deniable.device.epsilon import epsilon_of
from deniable.device.origins import fingerprint
from deniable.device.panel import panel_sentence
from deniable.device.protocol.answer_encoding import NOT_ASKED
from deniable.errors import DeniableError, EstimationError, InputError, NotCoveredError
from deniable.estimation.by_group import Grouped
from deniable.estimation.estimator import estimate
from deniable.estimation.notes.refused import Refused, answers_about, shown, too_few
from deniable.inference.corrected_words import corrected_words
from deniable.inference.hypothesis_tests.all_pairs import all_pairs, stars
from deniable.inference.hypothesis_tests.independence import independence
from deniable.reporting.charts import chart, chart_png
from deniable.reporting.data_quality import alarms, fewest_published
from deniable.reporting.describe_disguise import disguised
from deniable.reporting.scripts.write_script import SCRIPTS, write_script
from deniable.web.api.results_endpoint import Aims
from deniable.web.dashboard.page_views import (
    Amendment,
    Associations,
    Ballot,
    Cell,
    CellTable,
    Change,
    Corrections,
    Cross,
    Influence,
    Overview,
    Pair,
    Privacy,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.collection.collector import Collector
    from deniable.designs.reports.reports import Reports
    from deniable.estimation.estimate import Estimate
    from deniable.web.dashboard.worker_process import Surveyed

_POINTS = (20.0, 10.0, 5.0, 3.0, 2.0, 1.0, 0.5, 0.2, 0.1)


def precision(half_width: float, reports: int) -> str:
    """Say how wide the widest interval is, and what the next step would take.

    A half width shrinks with the root of the number of reports: from h to g takes n (h^2 / g^2 - 1) more.

    >>> precision(0.042, 1000)
    'Within ±4.2 points. About 960 more reports for ±3 points.'
    >>> precision(0.0004, 10**9)
    'Within ±0.04 points.'
    """
    points = 100 * half_width
    told = f"Within ±{points:.2g} points." if points < 1 else f"Within ±{points:.1f} points."
    wanted = next((each for each in _POINTS if each < 0.9 * points), None)
    if wanted is None:
        return told
    more = reports * ((points / wanted) ** 2 - 1)
    return f"{told} About {_rounded(more):,} more reports for ±{wanted:g} points."


def _rounded(number: float) -> int:
    """Up, to two digits.

    >>> [_rounded(each) for each in (0.2, 7.1, 96.4, 961, 12345)]
    [1, 8, 97, 970, 13000]
    """
    unit = int(10 ** max(0, int(log10(max(number, 1))) - 1))
    return max(1, ceil(number / unit - 1e-9)) * unit


MOST_PAIRS = 45
MOST_CELLS = 400  # of a table on a page
_DRAWING = threading.Lock()  # matplotlib's settings are global
Shares = TypeVar("Shares", bound="Estimate | Grouped")
MOST_TESTED = 60  # categories of an attribute whose pairs are tested for a page


def overview(surveyed: Surveyed) -> Overview:
    """Everything the pages show about all reports together."""
    reports = stored_reports(surveyed.shown, surveyed.design_id, to_keep=False)
    domain = surveyed.survey.domain
    small = [name for name, variable in domain.items() if len(variable) <= MOST_CELLS]
    singles = [_shown(reports, [name]) for name in small]
    wanted = [_shown(reports, names) for names in surveyed.survey.tables]
    return Overview(
        reports=reports.n,
        level=LEVEL,
        ballots=_ballots(reports),
        tables=tuple(table_of(reports, found) for found in singles),
        large=tuple(name for name in domain if name not in small),
        privacy=_privacy(surveyed, reports),
        **msgspec.structs.asdict(Aims.of(reports)),
        corrected=tuple(
            Corrections(each.said, msgspec.convert(each.told["changes"], tuple[Change, ...]))
            for each in corrected_words(reports)
        ),
        alarms=tuple(alarms(reports, [each for each in (*singles, *wanted) if not isinstance(each, Refused)])),
    )


def _shown(reports: Reports, names: Sequence[str]) -> Estimate | Refused:
    """A table for a page, or what stands in its place."""
    return shown(reports, names, partial(estimate, reports, names))


def whole(surveyed: Surveyed) -> Overview:
    """The same with its associations: what is kept of a survey that is closed."""
    return msgspec.structs.replace(overview(surveyed), associations=associations(surveyed))


def end_of(collector: Collector) -> str:
    """What the store keeps it under: made once for each end, then kept as it is.

    A survey whose date was moved goes on, and has another end. What it is made for may be said anew after it.
    """
    closes = collector.survey.closes
    end = "ended" if collector.opening.is_ended or closes is None else closes.isoformat()
    labels = collector.survey.labels
    aims = sha256(msgspec.json.encode([labels.aims, dict(labels.guess)], order="sorted")).hexdigest()
    return f"results {collector.design_id} {end} {aims}"


def table_of(reports: Reports, found: Estimate | Refused) -> CellTable:
    """An estimate beside what the reports say as they came, a row a cell; or what stands in its place."""
    if isinstance(found, Refused):
        return CellTable(tuple(found.attributes), found.n, found.reason)
    rows = found.rows(LEVEL)
    widths = [row.high - row.low for row in rows]
    raw, away = _raw(reports, found)
    return CellTable(
        attributes=tuple(found.attributes),
        reports=found.n,
        shape=tuple(found.values.shape),
        precision="" if np.isnan(widths).all() else precision(float(np.nanmax(widths)) / 2, reports.n),
        notes=(*map(str, found.summary(LEVEL).notes), *away),
        rows=tuple(Cell(row.cell, share, **row.numbers(SHOWN)) for share, row in zip(raw, rows, strict=True)),
    )


def _raw(reports: Reports, found: Estimate) -> tuple[list[float | None], list[str]]:
    """Shares among the disguised answers as they came; none where reports are not answers.

    Whoever was asked may report that a question does not apply, by chance: no cell has that share, so a note does.
    """
    design, cells = reports.design.domain, found.table.domain
    total = np.zeros(design.project(found.attributes).shape)
    for seen in reports.among_asked(found.attributes).tabulate(found.attributes):
        whole = design.project(seen.domain.names)
        if set(found.attributes) <= set(whole) and not seen.is_support and seen.counts.size == whole.cells:
            total += Table(whole, seen.counts.reshape(whole.shape)).project(found.attributes).values
    if not total.sum():
        return [None] * cells.cells, []
    kept = np.ix_(*([design[one.name].code(category) for category in one.categories] for one in cells.values()))
    shares = total[kept] / total.sum()
    if shares.size == total.size:
        return shares.ravel().tolist(), []
    away = f'{1 - shares.sum():.1%} of the reports of those who were asked say "{NOT_ASKED}", which is the disguise.'
    return shares.ravel().tolist(), [away]


def _ballots(reports: Reports) -> tuple[Ballot, ...]:
    design, drawn = reports.design, reports.ballot_counts().tolist()
    return tuple(
        Ballot(
            questions=tuple(" with ".join(design.questions[index].attributes) for index in ballot),
            epsilons=tuple(epsilon_of(design.questions[index].channel.ratio) for index in ballot),
            epsilon=epsilon_of(design.ballot_ratio(number)),
            reports=drawn[number],
        )
        for number, ballot in enumerate(design.ballots)
    )


def _privacy(surveyed: Surveyed, reports: Reports) -> Privacy:
    design = reports.design
    asked = dict.fromkeys(index for ballot in design.ballots for index in ballot)
    drawn = reports.ballot_counts()
    influence = []
    for index in asked:
        question = design.questions[index]
        n = int(sum(drawn[number] for number, ballot in enumerate(design.ballots) if index in ballot))
        most = question.channel.largest_weight()
        influence.append(Influence(" with ".join(question.attributes), n, most))
    public = tuple(item.name for item in surveyed.survey.public)  # tables show the groups of any of them
    return Privacy(
        promised=surveyed.survey.epsilon,
        epsilon=design.epsilon,
        statement=tuple(reports.describe(published=fewest_published(reports, public)).lines()),
        influence=tuple(influence),
        disguise=tuple(disguised(design, surveyed.survey.labels)),
        panel=_panel(surveyed),
        amendments=_amendments(surveyed),
        public=public,
    )


def _panel(surveyed: Surveyed) -> str | None:
    """What the served design says of a panel, as devices tell it; nothing for what is no panel."""
    panel, found = surveyed.survey.panel, surveyed.survey.found_again
    return None if panel is None or found is None else panel_sentence(panel, found)


def _amendments(surveyed: Surveyed) -> tuple[Amendment, ...]:
    """The designs whose reports are counted together, oldest first: each corrects the words of the one before."""
    designs = surveyed.shown.designs()
    return tuple(
        Amendment(name, fingerprint(name), surveyed.shown.total(designs[name][0])) for name in surveyed.amendments
    )


def associations(surveyed: Surveyed) -> Associations | None:
    """Tests of every pair of questions; None where none can be made. They draw many samples, so they take a moment."""
    reports = stored_reports(surveyed.shown, surveyed.design_id, to_keep=False)
    names = [
        name
        for name, variable in reports.design.domain.items()
        if len(variable) <= MOST_TESTED
        and reports.design.covers([name])
        and not too_few(answers_about(reports, [name]))
    ]
    if not 1 <= len(names) * (len(names) - 1) / 2 <= MOST_PAIRS:
        return None
    try:
        found = all_pairs(reports, names)
    except (NotCoveredError, EstimationError):
        return None
    pairs = zip(found.pairs, found.v, found.tests, found.adjusted, strict=True)
    return Associations(
        tuple(Pair(pair, float(v), float(test.pvalue), float(p), stars(p), test.method) for pair, v, test, p in pairs),
        tuple(map(str, found.notes())),  # a plain text is what can be kept
    )


def table(surveyed: Surveyed, names: Sequence[str]) -> Cross:
    """Any table, or why there is none, and a test where it has two sides."""
    reports = stored_reports(surveyed.shown, surveyed.design_id, to_keep=False)
    _refuse_uncovered(reports, names)
    found = _shown(reports, names)
    if isinstance(found, Refused):
        return Cross(problem=f"{found.reason.rstrip('.')}.")
    if found.values.size > MOST_CELLS:
        return Cross(problem=f"This table has {found.values.size} cells; more than {MOST_CELLS} are not shown.")
    test = None
    if len(names) == 2:
        try:
            made = independence(reports, *names)
            test = f"p = {made.pvalue:.2g} ({made.method}, statistic {made.statistic:.4g})."
        except DeniableError as error:
            test = error.message
    return Cross(table_of(reports, found), test)


def groups(surveyed: Surveyed, names: Sequence[str], by: str, language: str) -> Cross:
    """A table for each group of a public attribute, in the survey's words."""
    reports = _spoken(surveyed, language)
    _refuse_uncovered(reports, names)
    found = _small_enough(estimate(reports, names, by=by))
    return Cross(groups=found.summary(LEVEL), warnings=tuple(found.warnings(LEVEL)))


def drawing(surveyed: Surveyed, names: Sequence[str], by: str, language: str, kind: str) -> str | bytes:
    """An estimate with its intervals, or one for each group, as a picture in the survey's words."""
    reports = _spoken(surveyed, language)
    _refuse_uncovered(reports, names)
    shares: Estimate | Grouped = estimate(reports, names, by=by) if by else estimate(reports, names)
    found = _small_enough(shares)
    with _DRAWING:
        return chart_png(found) if kind == "png" else chart(found)


def _refuse_uncovered(reports: Reports, names: Sequence[str]) -> None:
    """Refuse what no question asks together: a picture has no room for what it would have to assume."""
    if set(names) <= set(reports.design.domain) and not reports.design.covers(names):
        raise InputError("Nobody has reported about these together, and under this design nobody will.")


def _spoken(surveyed: Surveyed, language: str) -> Reports:
    labels = surveyed.survey.labels.speaking(language)
    return stored_reports(surveyed.shown, surveyed.design_id, to_keep=False).with_labels(labels)


def _small_enough(found: Shares) -> Shares:
    cells = sum(each.values.size for each in found.values()) if isinstance(found, Grouped) else found.values.size
    if cells > MOST_CELLS:
        raise InputError(f"a page shows at most {MOST_CELLS} cells, not {cells}; choose fewer attributes")
    return found


def write(surveyed: Surveyed, path: str, language: str) -> None:
    """Write the disguised reports to a file, or a script that analyses them; words in a language of the survey."""
    reports, place = stored_reports(surveyed.shown, surveyed.design_id), Path(path)
    reports = reports.with_labels(reports.labels.speaking(language)) if reports.labels.languages else reports
    if place.suffix.lower() in SCRIPTS:
        write_script(reports, place)
    else:
        reports.write(place, remarks=corrected_words(reports).lines)
