"""Disguising a table whose respondents are not independent of each other: all of it is read, then disguised in one go.

Fakes of a later block follow from the blocks before it, and partners are drawn among everybody, so there are no pieces.
Nothing is written before everything is disguised: a run that was interrupted has shown nothing, and is begun anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from deniable.designs.objects import place_of
from deniable.errors import InputError
from deniable.frames.arrow import HELD
from deniable.frames.job import open_typed, refuse_second
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from deniable.designs.base import Design
    from deniable.designs.objects import Object


def randomize_whole(
    table: str | Path | Object,
    target: str | Path | Object,
    design: Design,
    keep: Sequence[str] = (),
    *,
    notes: Sequence[str] = (),
    progress: Callable[[int, int | None], object] | None = None,
) -> int:
    """Disguise a Parquet or CSV table into a Parquet file of reports; the arguments are those of `randomize_table`.

    Memory use grows with the table.
    """
    goal = place_of(target)
    if goal.suffix.lower() != ".parquet":
        raise InputError(f"reports of a table are written to a .parquet file, not to {goal.name!r}", file=str(goal))
    refuse_second(goal)
    source = open_typed(place_of(table), design)
    wanted = [name for name in dict.fromkeys((*design.domain, *keep)) if name in source.schema.names]
    absent = [name for name in keep if name not in wanted]
    if absent:
        raise InputError(f"the table has no column {listed(absent)} to keep", columns=absent)
    batches = [batch for piece in source.pieces(wanted, 0) for batch in piece]
    frame = pa.Table.from_batches(batches).unify_dictionaries() if batches else source.schema.empty_table()
    if progress is not None:
        progress(0, frame.num_rows)
    reports = design.randomize(frame, list(keep)).with_notes(HELD, *notes)
    reports.write(goal)
    return reports.n
