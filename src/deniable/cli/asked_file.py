"""What a file asks: a survey, with its epsilon, aims and design, or a list of categories."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from deniable.core.labels import Labels
from deniable.designs.request import Request
from deniable.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
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


def request_of(
    asked: Asked, attributes: Sequence[str], epsilon: float | None, wanted: Sequence[str | list[str]]
) -> Request:
    """What is asked of a design: what the file says, as far as nothing else is said."""
    from deniable.aims.parse import gathered
    from deniable.surveys.build_design import everything

    domain = asked.domain.project(attributes) if attributes else asked.domain
    aims = gathered(wanted) if wanted else tuple(one for one in asked.aims if set(one.attributes) <= set(domain))
    for one in aims:
        one.rows(domain)
    promised = asked.survey.epsilon if epsilon is None and asked.survey is not None else epsilon
    if promised is None:
        raise InputError("say how much a person's whole report may tell, as --epsilon 2")
    return Request(domain, promised, everything(domain, (), aims))


def words_of(asked: Asked, request: Request, keep: Sequence[str]) -> Labels:
    """What the header of a table's reports says beside the design: its aims, and a survey's words.

    Words without the public answers that they speak of would send an analysis to columns that are not there.
    """
    aims = tuple(map(str, request.aims))
    known = None if asked.survey is None else asked.survey.labels
    if known is None or not set(known.public) <= set(keep) or set(request.domain) != set(asked.domain):
        return Labels(aims=aims)
    return replace(known, aims=aims)
