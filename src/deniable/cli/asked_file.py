"""What a file asks: a survey, with its epsilon, aims and design, or a list of categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.aims.aim import Wanted
    from deniable.core.domain import Domain
    from deniable.surveys.survey import Survey


class Asked(NamedTuple):
    """The attributes, what is wanted of them (nothing, where nobody said), and the survey, if the file is one."""

    domain: Domain
    aims: tuple[Wanted, ...]
    survey: Survey | None


def read_asked(path: Path) -> Asked:
    """Read a survey file, or a list of categories."""
    from deniable.engines.domain_file import read_domain
    from deniable.surveys.survey import is_survey, read_survey

    if not is_survey(path):
        return Asked(read_domain(path), (), None)
    survey = read_survey(path)
    return Asked(survey.domain, survey.aims, survey)
