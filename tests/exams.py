"""A small survey in two languages with a public attribute, and reports to it: for tests of words, groups, exports."""

from __future__ import annotations

import pyarrow as pa

import deniable as dn
from deniable.core.provenance import PEOPLE
from deniable.surveys.survey import parse_survey
from small_survey import public, question, survey_file

EXAMS = survey_file(
    "exams",
    "DESIGN\n",
    question("cheated", {"en": "Have you cheated in an exam?", "de": "Haben Sie in einer Prüfung betrogen?"}, "yes-no"),
    question("stress", {"en": "How stressed are you?", "de": "Wie gestresst sind Sie?"}, "scale", first=1, last=3),
    public(
        "faculty",
        [
            {"value": "law", "text": {"en": "Law", "de": "Jura"}},
            {"value": "arts", "text": {"en": "Arts", "de": "Kunst"}},
        ],
        {"en": "Your faculty", "de": "Ihre Fakultät"},
    ),
    title={"en": "Exams", "de": "Prüfungen"},
    epsilon=2.0,
    languages=["en", "de"],
)


def exams(design=""):
    """The survey; `design` are lines of its `[design]` table."""
    return parse_survey(EXAMS.replace("DESIGN", design))


def answered(design="", n=600, seed=7, **words):
    """Reports of n made-up people, as if they had answered: a third cheated, the arts' more often."""
    survey = exams(design)
    people = pa.table(
        {
            "cheated": [("yes", "no", "no")[i % 3] for i in range(n)],
            "stress": [str(1 + i % 3) for i in range(n)],
            "faculty": ["arts" if i % 3 == 0 and i % 2 else "law" for i in range(n)],
        }
    )
    reports = survey.design.randomize(people, keep=["faculty"], source=dn.Seeded(seed)).with_origin(PEOPLE)
    labels = survey.labels
    return reports.with_labels(labels.speaking(words["language"]) if words else labels)


TOGETHER = '[design]\nkind = "independent"'
