"""Wordings: under which words the reports to a plan were made, and what was changed between them.

Told from the words that the store has kept of each design, and not from what a correction says of itself: a change that
nobody declared is found too. Which words a report was made under follows from its design, so that it is told whether
it was disguised before or after a correction, and nothing else of when it came.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deniable.collection.survey_messages import served_from
from deniable.core.labels import Changed, Correction
from deniable.device.protocol.word_corrections import changes_between, texts_of
from deniable.files.reserved_columns import words_names

if TYPE_CHECKING:
    from collections.abc import Collection

    from deniable.collection.report_cells import Cells
    from deniable.collection.survey_messages import Amendment
    from deniable.storage.store import Readable


class Wordings(NamedTuple):
    """By the number of a design, under which words its reports were made, counted from 0; and what lies between.

    `newest` is the design whose words are in force.
    """

    newest: str
    of: dict[int, int]
    corrections: tuple[Correction, ...]

    @property
    def names(self) -> list[str]:
        """What the words are called in reports."""
        return words_names(len(self.corrections))

    def told(self, cells: Cells, which: int) -> Cells:
        """Cells that say so as well, behind what is public, wherever words were corrected."""
        if not self.corrections:
            return cells
        column = np.full((len(cells.times), 1), which, dtype=np.int64)
        return cells._replace(public=np.concatenate([cells.public, column], axis=1))


def wordings(store: Readable, designs: Collection[str]) -> Wordings:
    """The words of designs that differ in them alone."""
    family = [each for each in served_from(store) if each.verified.id in designs]
    read = sorted(
        (each for each in family if each.reports or each.corrections),
        key=lambda each: (len(each.corrections), each.number),
    )
    of = {each.number: 0 for each in read[:1]}
    found: list[Correction] = []
    for before, after in pairwise(read):
        if before.message.texts != after.message.texts and (correction := _between(before, after)) is not None:
            found.append(correction)
        of[after.number] = len(found)
    last = max(family, key=lambda each: (len(each.corrections), each.reports > 0, each.number))
    return Wordings(last.verified.id, of, tuple(found))


def _between(before: Amendment, after: Amendment) -> Correction | None:
    """What differs; None where words are the same, and nothing but a correction of others was declared."""
    why = "; ".join(each.why for each in after.corrections if each not in before.corrections)
    if before.form is None or after.form is None:
        return Correction(why, ())
    asked = {**before.verified.domain, **{each.name: each for each in before.verified.public}}
    changes = tuple(
        Changed(
            change.part,
            change.name,
            "" if change.place is None else str(asked[change.name].categories[change.place]),
            change.language,
            change.before,
            change.after,
        )
        for change in changes_between(texts_of(before.form), texts_of(after.form))
    )
    return Correction(why, changes) if changes else None
