"""What a script computes with: for each table the counts of the reports, their probabilities, and what we found.

It is the evidence of `estimation.fit` written out: for every different report, how often it came, and with which
probability each cell of the table makes it. Attributes that ride along are summed out at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import InputError
from deniable.estimation.estimator import estimate
from deniable.estimation.fit.said import Counted
from deniable.estimation.refused import Refused, shown
from deniable.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.designs.reports import Reports
    from deniable.estimation.estimate import Estimate

    Array = NDArray[np.float64]

LEVEL = 0.95
_ENTRIES = 500_000  # of a table's matrix: a script is a text that people look into
_GAP = 1e-9  # nats that the likelihood may be short: much less than a printed digit shows


@dataclass(frozen=True, eq=False)
class ScriptTable(Frozen):
    """One table of a script.

    Attributes:
        attributes: whose joint table it is.
        asked: what was asked, in words.
        cells: the cells' names, in words.
        counts: how often each different report came, all groups of reports behind each other.
        chances: the probability of each of these reports given each cell of the fitted table.
        group: to which group each of them belongs, from 1 on.
        listed: for each group, whether only reports that came are listed; else every possible one is.
        owner: to which cell of the asked table each cell of the fitted table belongs, from 1 on.
        found: our own numbers, a row a cell: estimate, efficient, standard error, low, high.
    """

    attributes: tuple[str, ...]
    asked: str
    cells: tuple[str, ...]
    counts: Array
    chances: Array
    group: NDArray[np.int64]
    listed: tuple[bool, ...]
    owner: NDArray[np.int64]
    found: Array

    @property
    def name(self) -> str:
        """A name for it."""
        return " x ".join(self.attributes)


def script_tables(reports: Reports, tables: Sequence[Sequence[str]] = ()) -> tuple[list[ScriptTable], list[Refused]]:
    """Every attribute by itself and the asked tables; and those that too few have answered."""
    single = [[name] for name in reports.design.domain]
    wanted = [*single, *(list(table) for table in tables if len(table) > 1)]
    made = [shown(reports, names, partial(estimate, reports, names, "mle", gap=_GAP)) for names in wanted]
    refused = [one for one in made if isinstance(one, Refused)]
    return [_table(one) for one in made if not isinstance(one, Refused)], refused


def _table(found: Estimate) -> ScriptTable:
    names = found.attributes
    if found.pooled is None or not found.pooled.weighed.has_likelihood:
        raise InputError(
            f"{' and '.join(names)} cannot be written as a script: their errors need more than counts and matrices "
            f"(respondents in pairs, more sets than can be listed, or too many cells). `deniable estimate` "
            f"and `deniable report` state them",
            attributes=names,
        )
    evidence = found.pooled.evidence
    counts = evidence.counts[:, 0]
    if counts.size * evidence.cells > _ENTRIES:
        raise InputError(
            f"{' and '.join(names)}: {counts.size} different reports and {evidence.cells} cells are too many for a "
            f"script; write a notebook (.ipynb), which computes with deniable itself",
            attributes=names,
        )
    group = np.zeros(counts.size, dtype=np.int64)
    for number, here in enumerate(evidence.places, start=1):
        group[here] = number
    rows = found.rows(LEVEL)
    columns = [rows[name] for name in ("estimate", "efficient", "std_error", "low", "high")]
    cells = zip(*found.labels.cells(found.table.cells()).values(), strict=True)
    return ScriptTable(
        attributes=names,
        asked=found.labels.asked(names) or " and ".join(names),
        cells=tuple(", ".join(cell) for cell in cells),
        counts=counts,
        chances=evidence.matrix(),
        group=group,
        listed=tuple(not isinstance(each.said, Counted) for each in evidence.likely),
        owner=evidence.margin.argmax(axis=0).astype(np.int64) + 1,
        found=np.stack([np.ravel(column) for column in columns], axis=1),
    )
