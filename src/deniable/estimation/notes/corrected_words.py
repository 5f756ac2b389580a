"""Corrected words: what must be said of an estimate of reports that were made under different words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs.reports.reports import Reports
from deniable.files.reserved_columns import WORDS, words_names
from deniable.text import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deniable.core.labels import Correction


def before_and_after(reports: Reports, place: int) -> tuple[list[Reports], list[Reports]]:
    """The reports that were made before a correction, by its place from 0 on, and after it."""
    groups = dict(reports.groups(WORDS)) if WORDS in reports.public_names else {}
    names = words_names(len(reports.labels.corrections))
    before, after = names[: place + 1], names[place + 1 :]
    return [groups[name] for name in before if name in groups], [groups[name] for name in after if name in groups]


def about(correction: Correction, names: Iterable[str]) -> list[str]:
    """Which of some attributes a correction is about: those that it names, or all of them."""
    named = {change.about for change in correction.changes}
    return [name for name in names if name in named or "" in named or not named]


def declared(correction: Correction) -> str:
    """Why words were changed, behind a colon or a comma.

    >>> from deniable.core.labels import Correction
    >>> declared(Correction("a misprint", ()))
    'declared as "a misprint"'
    """
    return f'declared as "{in_a_line(correction.why)}"' if correction.why else "which nobody declared"


def in_a_line(text: str) -> str:
    """A text without its line breaks, for a sentence that quotes it."""
    return " ".join(text.split())


def knows_words(reports: Reports) -> bool:
    """Whether these reports say under which words they were made."""
    return WORDS in reports.public_names


def correction_notes(sources: Iterable[object], names: Sequence[str]) -> tuple[str, ...]:
    """That reports about these attributes were made under different words, a sentence a correction or a source."""
    known = [reports for reports in sources if isinstance(reports, Reports)]
    found = _differing(known, names)
    for reports in known:
        if not reports.labels.corrections or not knows_words(reports):
            continue
        asked = reports.among_asked(names)
        for place, correction in enumerate(reports.labels.corrections):
            before, after = (sum(part.people for part in side) for side in before_and_after(asked, place))
            if before and after and (concerned := about(correction, names)):
                found.append(
                    f"The words of {listed(concerned)} were changed while people answered, {declared(correction)}: "
                    f"{counted(before, 'report')} before, {after} after. What changed and whether answers did, "
                    f"corrected_words tells."
                )
    return tuple(dict.fromkeys(found))


def _differing(sources: Sequence[Reports], names: Sequence[str]) -> list[str]:
    """That people were not asked in the same words everywhere: of two sources, which questions or answers differ."""
    worded = [reports.labels for reports in sources if reports.labels.texts]
    asked = [
        name
        for name in names
        if any(
            (one.texts.get(name), one.answers.get(name)) != (worded[0].texts.get(name), worded[0].answers.get(name))
            for one in worded[1:]
        )
    ]
    return [f"The sources did not ask about {listed(asked)} in the same words."] if asked else []
