"""A pilot: the same survey, tried out under a name, a design and a folder of its own, and never counted.

Its design's hash is another one: devices take it for another survey, and no store counts reports to both together. It
needs no invitation and knows no dates, because it is for those who are shown the link before the survey begins.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.surveys.survey import Survey

FOLDER = "pilot"  # in the folder of the survey itself
_NAME = "-pilot"
_TITLE = "Pilot: "  # the same word in every language that there are words for


def is_pilot(name: str) -> bool:
    """Whether a survey of this name is one that is tried out.

    >>> is_pilot("exams-pilot"), is_pilot("exams")
    (True, False)
    """
    return name.endswith(_NAME)


def pilot_of(survey: Survey) -> Survey:
    """The survey as it is tried out."""
    return replace(
        survey,
        name=survey.name + _NAME,
        title={language: _TITLE + text for language, text in survey.title.items()},
        admission="open",
        opens=None,
        closes=None,
    )
