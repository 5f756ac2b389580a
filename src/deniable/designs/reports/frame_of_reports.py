"""A frame as `Reports.to_frame` writes it, read: every code is checked against the design."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from deniable.core.data_frames import as_frame
from deniable.core.input_coercion import row_labels
from deniable.core.labels import UNKNOWN
from deniable.core.results import backend_of
from deniable.errors import InputError, MissingColumnError
from deniable.files.reserved_columns import (
    BALLOT,
    BLOCK,
    ORIGIN,
    SHARE,
    Asking,
    answer_columns,
    check_codes,
    origin_of_rows,
    refuse_taken,
    whole_numbers,
    without_nan,
)
from deniable.frozen import readonly
from deniable.text import listed

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


class Answered(Asking, Protocol):
    """A design, of which the type of its answers is looked at besides."""

    @property
    def answer_dtype(self) -> DTypeLike: ...  # noqa: D102


def parts_of_frame(frame: Any, design: Answered) -> dict[str, Any]:
    """What reports are made of, out of a frame."""
    import narwhals as nw

    wanted, index = answer_columns(design), row_labels(frame)
    frame = as_frame(frame, wanted)
    known = nw.from_native(frame, eager_only=True)
    ballot_column = [BALLOT] if len(design.ballots) > 1 else []
    missing = [name for name in [*ballot_column, *wanted] if name not in known.columns]
    if missing:
        raise MissingColumnError(
            f"reports of this design need the columns {listed([*ballot_column, *wanted])}; {listed(missing)} "
            f"is missing among {listed(known.columns)}. Is it the design these reports were made by?",
            columns=missing,
        )
    ballots = whole_numbers(known[BALLOT], BALLOT) if ballot_column else np.zeros(len(known), dtype=np.uint8)
    if len(ballots) and (ballots.min() < 0 or ballots.max() >= len(design.ballots)):
        raise InputError(f"ballots must be 0 .. {len(design.ballots) - 1}; found {ballots.min()} .. {ballots.max()}")
    answers = np.zeros((len(known), design.width), dtype=design.answer_dtype, order="F")
    for place, name in enumerate(wanted):
        codes = whole_numbers(known[name], name)
        check_codes(design, ballots, codes, place, name)
        answers[:, place] = codes
    own = [*ballot_column, *wanted, ORIGIN]
    rest = [name for name in known.columns if name not in own and not name.startswith(SHARE)]
    if BLOCK in rest:
        raise InputError(
            f"the column {BLOCK!r} says that these reports were made in blocks, and what was published for each is "
            f"in no frame: write them with reports.write, and read them with read_reports",
            column=BLOCK,
        )
    refuse_taken(rest, design)
    public = without_nan(known.select(*rest)) if rest else None
    held = {"public": public, "backend": backend_of(frame), "notes": (), "labels": UNKNOWN, "among": None}
    said = Counter(text or None for text in known[ORIGIN].cast(nw.String).to_list()) if ORIGIN in known.columns else {}
    drawn = {"design": design, "ballots": ballots, "answers": readonly(answers), "index": index}
    return {**drawn, **held, "origin": origin_of_rows(said)}
