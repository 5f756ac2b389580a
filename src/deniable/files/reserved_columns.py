"""The columns that a table of reports has of its own, and the names that are theirs alone.

They all begin alike, so that no attribute and no public column can be taken for one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from deniable.core.provenance import PEOPLE, Origin
from deniable.core.reserved_names import RESERVED, is_reserved
from deniable.errors import InputError
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import narwhals as nw
    from narwhals.typing import IntoDataFrame
    from numpy.typing import NDArray

    from deniable.channels.channel import Channel
    from deniable.core.domain import Domain


BALLOT = f"{RESERVED}ballot"
BLOCK = f"{RESERVED}block"
WORDS = f"{RESERVED}words"  # under which words a report was made, where these were corrected; public like any other
ORIGIN = f"{RESERVED}origin"  # where reports come from, in frames that leave without us: simulated, or a pilot's
_ANSWER = f"{RESERVED}answer_"
SHARE = f"{RESERVED}share_"  # scores, which are made of the answers again: readers leave them out


def words_names(corrections: int) -> list[str]:
    """What the words are called that reports were made under, the first ones first.

    >>> words_names(1)
    ['words 1', 'words 2']
    """
    return [f"words {number}" for number in range(1, corrections + 2)]


class Named(Protocol):
    """A question: all that is asked of it here is its name and how many reports there are to it."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def channel(self) -> Channel: ...  # noqa: D102


class Asking(Protocol):
    """A design, of which only the questions and ballots are looked at."""

    @property
    def domain(self) -> Domain: ...  # noqa: D102
    @property
    def questions(self) -> Sequence[Named]: ...  # noqa: D102
    @property
    def ballots(self) -> Sequence[Sequence[int]]: ...  # noqa: D102
    @property
    def width(self) -> int: ...  # noqa: D102


def answer_columns(design: Asking) -> list[str]:
    """Names of the answer columns: after the questions where everybody answers the same ones, else after the places."""
    if len(design.ballots) == 1:
        names = [_ANSWER + design.questions[index].name for index in design.ballots[0]]
        if len(set(names)) == len(names):  # an attribute may be called a*b, as a question about a and b is
            return names
    return [f"{_ANSWER}{place}" for place in range(design.width)]


def without_nan(public: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Public columns in which NaN is missing, as it is in pandas: nobody is in a group of that name."""
    import narwhals as nw

    decimals = [name for name, kind in public.schema.items() if kind.is_float()]
    return public.with_columns(nw.col(*decimals).fill_nan(None)) if decimals else public


def refuse_taken(public: Iterable[str], design: Asking, *, collected: bool = True) -> None:
    """Refuse public columns that are named like what is disguised, or like a column of the reports themselves.

    Those that a collector has written besides, under which words a report was made, come with `collected` reports.
    """
    names = list(public)
    both = [name for name in names if name in design.domain]
    if both:
        raise InputError(
            f"{listed(both)} would travel both in clear and disguised; a public column is none of the domain's "
            f"attributes. Leave it out, or drop it from the domain if it is not sensitive",
            attributes=both,
        )
    questions = {question.name for question in design.questions}
    taken = [name for name in names if (is_reserved(name) and not (collected and name == WORDS)) or name in questions]
    if taken:
        raise InputError(
            f"a public column cannot be named {listed(taken)}: so is a question, or names that begin with {RESERVED!r} "
            f"are kept for the reports' own columns. Rename it",
            columns=taken,
        )


def public_columns(frame: IntoDataFrame, keep: Sequence[str], design: Asking) -> nw.DataFrame[Any] | None:
    """Take the public columns out of a frame, refusing to publish an attribute that is to be disguised."""
    import narwhals as nw

    refuse_taken(keep, design, collected=False)
    known = nw.from_native(frame, eager_only=True)
    absent = [name for name in keep if name not in known.columns]
    if absent:
        raise InputError(f"the frame has no column {listed(absent)} to keep; it has {listed(known.columns)}")
    return without_nan(known.select(*dict.fromkeys(keep))) if keep else None


def origin_of_rows(counted: Mapping[str | None, int]) -> Origin:
    """Where reports come from, by the texts of the column that says it, and how many rows have each.

    >>> origin_of_rows({"Simulated": 3, None: 2}).stamp, origin_of_rows({None: 2}) == PEOPLE
    ('Simulated in part', True)
    """
    each = (Origin.from_column(text, n) if text else Origin(reports=n) for text, n in counted.items())
    return sum(each, PEOPLE) or PEOPLE


def whole_numbers(series: Any, name: str) -> NDArray[np.integer]:
    """A column of codes; refused where it holds anything else."""
    codes = series.to_numpy()
    if codes.dtype.kind not in "iu":
        raise InputError(
            f"column {name!r} must hold whole-number codes without gaps, as Reports.to_frame writes them; it holds "
            f"{codes.dtype}",
            column=name,
        )
    return codes


def check_codes(
    design: Asking, ballots: NDArray[np.integer], codes: NDArray[np.integer], place: int, name: str
) -> None:
    """Refuse codes that no answer at that place of a ballot can have."""
    limits = np.array(
        [design.questions[ballot[place]].channel.reports if place < len(ballot) else 1 for ballot in design.ballots]
    )
    bad = (codes < 0) | (codes >= limits[ballots])
    if bad.any():
        raise InputError(
            f"column {name!r} has {int(bad.sum())} codes that no answer of this design can have, the first is "
            f"{int(codes[bad][0])}. Is it the design these reports were made by?",
            column=name,
            rows=int(bad.sum()),
        )
