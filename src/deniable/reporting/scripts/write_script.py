"""Writing a script whose file name says the language.

What a script computes with: for each table the counts of the reports, their probabilities, and what we found.

It is the evidence of `likelihood.em` written out: for every different report, how often it came, and with which
probability each cell of the table makes it. Attributes that ride along are summed out at the end. Where that would be
too long, it is the sums of the scores whose mean estimates each share (`debiased_columns`), which anybody can take from
an exported file of reports.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.rows import LEVEL
from deniable.designs.distance_to_best import nearness_of
from deniable.designs.reports.debiased_columns import scores
from deniable.device.privacy_statement import rounded_up
from deniable.errors import InputError
from deniable.estimation.estimator import estimate
from deniable.estimation.notes.refused import Refused, shown
from deniable.files.write_files import write_whole
from deniable.frozen import Frozen, readonly
from deniable.inference.corrected_words import corrected_words
from deniable.inference.numbers.aim_estimates import told_aims
from deniable.likelihood.report_likelihoods import Counted
from deniable.reporting.describe_disguise import disguised
from deniable.reporting.scripts.python_scripts import notebook, python_script
from deniable.reporting.scripts.r_script import r_script

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.designs.reports.reports import Reports
    from deniable.estimation.estimate import Estimate

    Array = NDArray[np.float64]
    from pathlib import Path

_ENTRIES = 3500  # numbers of a script, of about 20 letters each: a text that people look into
_A_CELL = 8  # numbers of a table that is there by its sums
_GAP = 1e-9  # nats that the likelihood may be short: much less than a printed digit shows


@dataclass(frozen=True, eq=False)
class ScriptTable(Frozen):
    """One table of a script.

    Attributes:
        attributes: whose joint table it is.
        notes: what must be known of it, a sentence each.
        asked: what was asked, in words.
        cells: the cells' names, in words.
        counts: how often each different report came, all groups of reports behind each other.
        chances: the probability of each of these reports given each cell of the fitted table.
        group: to which group each of them belongs, from 1 on.
        listed: for each group, whether only reports that came are listed; else every possible one is.
        owner: to which cell of the asked table each cell of the fitted table belongs, from 1 on.
        found: our own numbers, a row a cell: estimate, efficient, standard error, low, high.
        sums: instead of counts and their chances, a row a cell: how many have a score of it, and the sums of these and
            of their squares; empty where counts are there.
    """

    attributes: tuple[str, ...]
    notes: tuple[str, ...]
    asked: str
    cells: tuple[str, ...]
    found: Array
    counts: Array = field(default_factory=lambda: readonly(np.zeros(0)))
    chances: Array = field(default_factory=lambda: readonly(np.zeros((0, 0))))
    group: NDArray[np.int64] = field(default_factory=lambda: readonly(np.zeros(0, dtype=np.int64)))
    listed: tuple[bool, ...] = ()
    owner: NDArray[np.int64] = field(default_factory=lambda: readonly(np.zeros(0, dtype=np.int64)))
    sums: Array = field(default_factory=lambda: readonly(np.zeros((0, 3))))

    @property
    def is_summed(self) -> bool:
        """Whether it is there by its scores alone."""
        return bool(self.sums.size)

    @property
    def entries(self) -> int:
        """How many numbers it takes."""
        return sum(each.size for each in (self.found, self.counts, self.chances, self.group, self.owner, self.sums))

    @property
    def name(self) -> str:
        """A name for it."""
        return " x ".join(self.attributes)


def script_tables(reports: Reports, tables: Sequence[Sequence[str]] = ()) -> tuple[list[ScriptTable], list[Refused]]:
    """Every attribute by itself and the asked tables; and those that too few have answered.

    A script stays a text that people look into: the tables that would make it longer than that, and those whose errors
    need more than counts and matrices, are there by the sums of their scores.
    """
    wanted = [*([name] for name in reports.design.domain), *(list(table) for table in tables if len(table) > 1)]
    made = [_whole(reports, names) for names in wanted]
    whole = {place: one.entries for place, one in enumerate(made) if one is not None}
    sums = [_A_CELL * reports.design.domain.project(names).cells for names in wanted]
    while whole and sum(whole.get(place, each) for place, each in enumerate(sums)) > _ENTRIES:
        largest = max(whole, key=lambda place: whole[place])
        del whole[largest]
        made[largest] = None
    done = [_summed(reports, names) if one is None else one for names, one in zip(wanted, made, strict=True)]
    return [one for one in done if isinstance(one, ScriptTable)], [one for one in done if isinstance(one, Refused)]


def _whole(reports: Reports, names: list[str]) -> ScriptTable | None:
    """A table with all that its estimate is computed from; None where that is too much, or not to be had."""
    found = shown(reports, names, partial(estimate, reports, names, gap=_GAP))
    if isinstance(found, Refused) or found.pooled is None or found.method != "mle":
        return None
    evidence = found.pooled.evidence
    counts = evidence.counts[:, 0]
    if counts.size * evidence.cells > _ENTRIES:
        return None
    group = np.zeros(counts.size, dtype=np.int64)
    for number, here in enumerate(evidence.places, start=1):
        group[here] = number
    return ScriptTable(
        **_told(found),
        counts=counts,
        chances=evidence.matrix(),
        group=group,
        listed=tuple(not isinstance(each.said, Counted) for each in evidence.likely),
        owner=evidence.margin.argmax(axis=0).astype(np.int64) + 1,
    )


def _summed(reports: Reports, names: list[str]) -> ScriptTable | Refused:
    """A table by how many have a score of each cell, and by the sums of these and of their squares."""
    found = shown(reports, names, partial(estimate, reports, names))
    if isinstance(found, Refused):
        return found
    made = scores(reports, [names])
    if len(made) < found.values.size:
        raise InputError(
            f"{' and '.join(names)} cannot be written as a script: no report by itself tells its cells. `deniable "
            f"estimate` and `deniable report` state them",
            attributes=names,
        )
    sums = np.array([[np.isfinite(s.values).sum(), np.nansum(s.values), np.nansum(s.values**2)] for s in made])
    if reports.design.correlated:
        sums[:, 2] = np.nan  # the error of a mean is not that of independent respondents
    return ScriptTable(**_told(found), sums=sums)


def _told(found: Estimate) -> dict[str, Any]:
    """What a table is about, and our own numbers."""
    rows = [(row.estimate, row.efficient, row.std_error, row.low, row.high) for row in found.rows(LEVEL)]
    cells = zip(*found.labels.cells(found.table.cells()).values(), strict=True)
    return {
        "attributes": found.attributes,
        "notes": tuple(found.notes(LEVEL)[1:]),
        "asked": found.origin.titled(found.labels.asked(found.attributes) or " and ".join(found.attributes)),
        "cells": tuple(", ".join(cell) for cell in cells),
        "found": np.array(rows),
    }


_LANGUAGES = {".r": r_script, ".py": python_script}
SCRIPTS = (*_LANGUAGES, ".ipynb")


def write_script(reports: Reports, path: Path, tables: Sequence[Sequence[str]] = ()) -> list[Path]:
    """Write a script of every attribute's estimate and of the asked tables; returns the files that were made.

    A notebook computes with deniable itself, so it gets the reports in a Parquet file beside it.
    """
    for table in tables:
        reports.design.domain.project(table)
    kind = path.suffix.lower()
    if kind != ".ipynb":
        made, refused = script_tables(reports, tables)
        if not made:
            raise refused[0].error
        without = [f"Without {' and '.join(one.attributes)}: {one.reason}." for one in refused]
        known = [f"{one.name}: {note}" for one in made for note in one.notes]
        text = _LANGUAGES[kind]([*_about(reports), *without, *known], made)
        write_whole(path, lambda place: place.write_text(text, encoding="utf-8"))
        return [path]
    beside = path.with_suffix(".parquet")
    if beside.exists():
        raise InputError(f"the notebook's reports would be {beside}, which is already there", file=str(beside))
    reports.write(beside, remarks=remarks_on(reports))
    text = notebook(_about(reports), reports, beside.name, tables)
    write_whole(path, lambda place: place.write_text(text, encoding="utf-8"))
    return [path, beside]


def _about(reports: Reports) -> list[str]:
    """What a reader must know before the numbers."""
    named = reports.labels.design or reports.design.id
    return [
        *reports.origin.note,
        f"{reports.labels.heading('A survey')}: {reports.n} disguised reports, written by deniable.",
        f"Every answer was disguised before it came here: epsilon {rounded_up(reports.design.epsilon)} a respondent.",
        *disguised(reports.design, reports.labels),
        "Counts of reports are not counts of answers; the estimates below take the disguise out.",
        f"Design {named}.",
        *remarks_on(reports),
        *told_aims(reports).lines,
    ]


def remarks_on(reports: Reports) -> tuple[str, ...]:
    """What every file of reports says besides: how near the design is to the best, and what was corrected meanwhile."""
    return (*filter(None, [nearness_of(reports)]), *corrected_words(reports).lines)
