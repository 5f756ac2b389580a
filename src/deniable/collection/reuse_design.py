"""A survey as it was first served from a folder or database, where its file leaves the integers to a search.

What was found first is kept beside the reports, under the hash of what was searched for. Whoever reads the file again
for this folder or database, on another machine or with other versions of the libraries, gets the same design.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from deniable.channels.patterns import Patterns
from deniable.collection.load_reports import design_of
from deniable.collection.survey_messages import verified_design
from deniable.designs.reuse_integers import with_integers
from deniable.errors import DesignError, InputError
from deniable.files.write_files import write_whole
from deniable.storage.open_store import find_store, open_store
from deniable.surveys.survey import pilot_of, read_survey

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.channels.channel import Channel
    from deniable.designs.design import Design
    from deniable.storage.store import Store
    from deniable.surveys.survey import Survey

_NAME = "integers"


def read_kept(
    path: Path,
    data: Path,
    database: str | None = None,
    *,
    pilot: bool = False,
    new: bool = True,
    text: str | None = None,
) -> Survey:
    """Read a survey file for a folder or database; `new`: keep what was searched for, if nothing was so far.

    `text` is what was read from the file before, for whoever must read the same as others.

    Raises:
        InputError: what is kept is not what the file asks for.
    """
    survey = pilot_of(read_survey(path, text)) if pilot else read_survey(path, text)
    if survey.searched is None:
        return survey
    if database is not None:
        place = f"{_NAME} {survey.searched}"
        store = open_store(data, database) if new else find_store(database)
        if store is None:
            return survey
        with closing(store):
            kept = store.saved(place) or _served(store, survey)
            if new:
                kept = store.save(place, kept or survey.design.canonical())
    else:
        file = kept_in(data, survey)
        place, kept = str(file), file.read_bytes() if file.is_file() else _served_from(data, survey)
        if new and not file.is_file():
            kept = kept or survey.design.canonical()
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, lambda draft: draft.write_bytes(kept))
    if kept is None:
        return survey
    try:
        return replace(survey, design=_checked(survey, kept))
    except DesignError as error:
        raise InputError(
            f"{place}: {error.message}. Delete it to begin with another design; to go on with this one, put its text "
            f"into the survey file, as `made` under [design]",
            place=place,
        ) from error


def kept_in(data: Path, survey: Survey) -> Path:
    """The file in which a folder keeps what was found for a survey."""
    return data / f"{_NAME}-{survey.name}-{(survey.searched or '')[:16]}.json"


def _checked(survey: Survey, kept: bytes) -> Design:
    return with_integers(survey.design, kept, survey.aims, survey.epsilon)


def _served_from(data: Path, survey: Survey) -> bytes | None:
    store = find_store(data)
    if store is None:
        return None
    with closing(store):
        return _served(store, survey)


def _served(store: Store, survey: Survey) -> bytes | None:
    """The design last served from a store that answers the same wish: a copy of a store comes without the file."""
    for name, (_, body) in reversed(store.designs().items()):
        verified = verified_design(body, name)
        if verified.message.survey != survey.name:
            continue
        try:
            served = design_of(verified).to_dict() | {"kind": verified.message.plan.kind}
            text = msgspec.json.encode(served, order="deterministic")
            if _given(_checked(survey, text)) == _given(survey.design):
                return text
        except DesignError:
            continue
    return None


def _given(design: Design) -> set[tuple[tuple[str, ...], Channel]]:
    """The questions whose channels are none that were searched for: these follow from the file."""
    return {(one.attributes, one.channel) for one in design.questions if one.channel.kind != Patterns.kind}
