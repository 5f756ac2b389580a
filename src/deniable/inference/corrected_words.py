"""Corrected words: what changed in a survey's words while people answered, and whether their answers changed with them.

Everything that shows results (reports, methods paragraphs, exports, scripts, the dashboard) takes it from here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.results import TestResult
from deniable.core.summary import Shown, Summary
from deniable.errors import DeniableError
from deniable.estimation.notes.corrected_words import about, before_and_after, declared, in_a_line, knows_words
from deniable.estimation.notes.refused import too_few, unanswered
from deniable.estimation.notes.stamped import stamped
from deniable.files.reserved_columns import WORDS
from deniable.frozen import Frozen
from deniable.inference.hypothesis_tests.goodness_of_fit import homogeneity
from deniable.inference.hypothesis_tests.pearson_and_wald import chi_square

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deniable.core.labels import Changed, Correction
    from deniable.designs.reports.reports import Reports

_PARTS = {"question": "question {name}", "choice": 'answer "{category}" to {name}', "entry": "hint for {name}"}
_PARTS |= {"title": "title", "text": "text {name}", "languages": "languages"}


@dataclass(frozen=True)
class BeforeAfter(Frozen):
    """Answers to one question before and after its words were corrected.

    Attributes:
        attribute: what was asked.
        test: whether they are alike (`homogeneity`); None where it was not made.
        reason: why it was not.
    """

    attribute: str
    test: TestResult | None
    reason: str = ""

    def __str__(self) -> str:
        """The test in a few words."""
        if self.test is None:
            return f"{self.attribute}: not tested ({self.reason})"
        return f"{self.attribute}: p = {self.test.pvalue:.2g} ({self.test.method})"


@dataclass(frozen=True)
class Corrected(Frozen):
    """One correction, how many reports were made before and after it, and whether the answers differ.

    Attributes:
        number: which correction it was, from 1 on.
        correction: why, and every text before and after.
        before: how many reports were made under the words before it; None where the reports do not say.
        after: how many under those since.
        tests: for each question that it is about, whether answers before and after are alike.
    """

    number: int
    correction: Correction
    before: int | None
    after: int | None
    tests: tuple[BeforeAfter, ...]

    @property
    def said(self) -> str:
        """The counts and tests in one sentence."""
        told = f"Words were changed while people answered, {declared(self.correction)}: "
        if self.before is None:
            return (
                f"{told}which reports were made before and which after is not known, for they have no column {WORDS}."
            )
        told += f"{self.before} reports were made before, {self.after} after."
        return f"{told} Are answers before and after alike? {'; '.join(map(str, self.tests))}." if self.tests else told

    @property
    def changes(self) -> list[str]:
        """Every text before and after, a sentence each without a full stop."""
        if not self.correction.changes:
            return ["which words these were is not known any more"]
        said = ((where(each), in_a_line(each.before), in_a_line(each.after)) for each in self.correction.changes)
        return [f'{place}: "{before}" became "{after}"' for place, before, after in said]

    @property
    def told(self) -> dict[str, Any]:
        """For programs."""
        names = ("part", "name", "category", "language", "before", "after")
        return {
            "why": self.correction.why or None,
            "before": self.before,
            "after": self.after,
            "changes": [{name: getattr(each, name) for name in names} for each in self.correction.changes],
            "tests": [
                {"attribute": each.attribute, "p": each.test.pvalue, "statistic": each.test.statistic}
                | {"df": each.test.df, "method": each.test.method}
                if each.test is not None
                else {"attribute": each.attribute, "p": None, "reason": each.reason}
                for each in self.tests
            ],
        }


@dataclass(frozen=True)
class CorrectedWords(Shown, Frozen):
    """Every correction of a survey's words, in their order; with notes on the reports that they were tested with."""

    corrections: tuple[Corrected, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.corrections)

    def __iter__(self) -> Iterator[Corrected]:
        return iter(self.corrections)

    def __getitem__(self, place: int) -> Corrected:
        return self.corrections[place]

    def summary(self) -> Summary:
        """A row a text, before and after; how many reports came before and after, and the tests."""
        rows = [(one.number, change) for one in self.corrections for change in one.correction.changes]
        columns: dict[str, Sequence[Any]] = {
            "correction": [number for number, _ in rows],
            "where": [where(change) for _, change in rows],
            "before": [change.before for _, change in rows],
            "after": [change.after for _, change in rows],
        }
        told = [f"{one.number}. {one.said}" for one in self.corrections]
        return Summary(columns, [*told, *(self.notes if told else ())])

    @property
    def lines(self) -> list[str]:
        """All of it as sentences, for whoever has no table."""
        return [f"{one.said} {'; '.join(one.changes)}." for one in self.corrections]


def where(change: Changed) -> str:
    """Where a text stood."""
    place = _PARTS[change.part].format(name=change.name, category=change.category)
    return f"{place} ({change.language})" if change.language else place


@stamped
def corrected_words(reports: Reports) -> CorrectedWords:
    """What changed in the words of a survey while people answered, and whether their answers changed with them.

    A collector knows under which words each report was made, and its reports have a public column, `dn_words`, that
    says so. For each correction the answers to the questions that it is about (all of them where it is about none) are
    compared before and after it by `homogeneity`; where fewer than 30 are on either side, that is said instead.

    >>> import deniable as dn
    >>> reports = dn.Joint({"smokes": ["no", "yes"]}, 2.0).randomize({"smokes": ["no", "yes"]}, source=dn.Seeded(1))
    >>> len(corrected_words(reports))
    0
    """
    known = [name for name in reports.design.domain if reports.design.covers([name])]
    in_clear = [name for name in reports.public_names if name in reports.labels.public]
    found = []
    for place, correction in enumerate(reports.labels.corrections):
        if not knows_words(reports):
            found.append(Corrected(place + 1, correction, None, None, ()))
            continue
        before, after = before_and_after(reports, place)
        tests = tuple(
            _test(name, before, after) if name in known else _test_in_clear(name, before, after)
            for name in about(correction, [*known, *in_clear])
        )
        numbers = [sum(part.n for part in side) for side in (before, after)]
        found.append(Corrected(place + 1, correction, numbers[0], numbers[1], tests))
    return CorrectedWords(tuple(found))


def _test(name: str, before: list[Reports], after: list[Reports]) -> BeforeAfter:
    for when, side in (("before", before), ("after", after)):
        if told := unanswered(side, [name]):
            return BeforeAfter(name, None, f"{told} {when}")
    sides = {"before": before, "after": after}
    try:
        return BeforeAfter(name, homogeneity({k: v[0] if len(v) == 1 else v for k, v in sides.items()}, name))
    except DeniableError as refused:
        return BeforeAfter(name, None, refused.message.rstrip("."))


def _test_in_clear(name: str, before: list[Reports], after: list[Reports]) -> BeforeAfter:
    """What travels in clear is compared as it is."""
    counts = [Counter(value for part in side for value in part.public[name].to_list()) for side in (before, after)]
    if told := next((too_few(n) for each in counts if too_few(n := each.total())), ""):
        return BeforeAfter(name, None, told)
    values = [*(counts[0] | counts[1])]
    from scipy.special import chdtrc  # a collector starts a quarter sooner without it

    statistic, df = chi_square(np.array([[each[value] for value in values] for each in counts]))
    pvalue = float(chdtrc(df, statistic)) if df else 1.0
    return BeforeAfter(name, TestResult(statistic, pvalue, df, "Pearson's chi-square of what travels in clear"))
