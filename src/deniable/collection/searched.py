"""A survey as it was first served from a folder or database, where its file leaves the integers to a search.

What was found first is kept beside the reports, under the hash of what was searched for. Whoever reads the file again
for this folder or database, on another machine or with other versions of the libraries, gets the same design.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from deniable.collection.storage.places import open_store
from deniable.designs.files import write_whole
from deniable.designs.integers import with_integers
from deniable.errors import DesignError, InputError
from deniable.surveys.asking import everything
from deniable.surveys.pilot import pilot_of
from deniable.surveys.survey import read_survey

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.surveys.survey import Survey

_NAME = "integers"


def read_kept(path: Path, data: Path, database: str | None = None, *, pilot: bool = False, new: bool = True) -> Survey:
    """Read a survey file for a folder or database; `new`: keep what was searched for, if nothing was so far.

    Raises:
        InputError: what is kept is not what the file asks for.
    """
    survey = pilot_of(read_survey(path)) if pilot else read_survey(path)
    if survey.searched is None:
        return survey
    found = survey.design.canonical()
    if database is not None:
        place = f"{_NAME} {survey.searched}"
        with closing(open_store(data, database)) as store:
            kept = store.save(place, found) if new else store.saved(place)
    else:
        file = kept_in(data, survey)
        place, kept = str(file), _first(file, found) if new else _bytes(file)
    if kept is None:
        return survey
    wanted = everything(survey.domain, survey.tables, survey.wanted)
    try:
        return replace(survey, design=with_integers(survey.design, kept, wanted, survey.epsilon))
    except DesignError as error:
        raise InputError(
            f"{place}: {error.message}. Delete it to begin with another design; to go on with this one, put its text "
            f"into the survey file, as `made` under [design]",
            place=place,
        ) from error


def kept_in(data: Path, survey: Survey) -> Path:
    """The file in which a folder keeps what was found for a survey."""
    return data / f"{_NAME}-{survey.name}-{(survey.searched or '')[:16]}.json"


def _bytes(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


def _first(file: Path, found: bytes) -> bytes:
    """What lies in a file, once it holds something."""
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, lambda place: place.write_bytes(found))
    return file.read_bytes()
