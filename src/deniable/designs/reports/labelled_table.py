"""Labelled: the disguised table with categories, or a survey's words, instead of codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from deniable.errors import InputError
from deniable.files.write_batches import Batches

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from deniable.core.domain import Domain
    from deniable.core.labels import Labels
    from deniable.designs.question import Question


class Asking(Protocol):
    """A design, of which questions and ballots are looked at."""

    @property
    def domain(self) -> Domain: ...  # noqa: D102
    @property
    def questions(self) -> Sequence[Question]: ...  # noqa: D102
    @property
    def ballots(self) -> Sequence[Sequence[int]]: ...  # noqa: D102


class Coded(Protocol):
    """Reports, of which these are looked at."""

    @property
    def design(self) -> Asking: ...  # noqa: D102
    @property
    def n(self) -> int: ...  # noqa: D102
    @property
    def answers(self) -> NDArray[Any]: ...  # noqa: D102
    @property
    def public(self) -> Any: ...  # noqa: D102
    @property
    def labels(self) -> Labels: ...  # noqa: D102
    def rows_of(self, ballot: int) -> NDArray[np.int64]: ...  # noqa: D102
    def between(self, start: int, stop: int) -> Coded: ...  # noqa: D102


def labelled(reports: Coded, *, in_words: bool) -> dict[str, Any]:
    """The columns of the table, see `Reports.labelled`."""
    columns: dict[str, Any] = {}
    alone = len(reports.design.ballots) == 1
    for index, question in enumerate(reports.design.questions):
        domain = reports.design.domain.project(question.attributes)
        if question.channel.outputs != domain.cells:
            raise InputError(f"the reports to {question.name!r} are not categories of the attribute")
        rows, codes = _asked(reports, index)
        found = domain.decode(np.stack(np.unravel_index(codes, domain.shape), axis=1))
        if in_words:
            found = {name: _worded(reports.labels, name, column.to_pylist()) for name, column in found.items()}
        if not alone:
            cells = zip(*(column.to_pylist() for column in found.values()), strict=True)
            named = [cell[0] if len(cell) == 1 else ", ".join(map(str, cell)) for cell in cells]
            spread: list[Any] = columns.get(question.name, [None] * reports.n)  # it may be asked in two ways
            for row, name in zip(rows.tolist(), named, strict=True):
                spread[row] = name
            found = {question.name: spread}
        columns |= found
    if reports.public is not None:
        public = {name: reports.public[name].to_arrow() for name in reports.public.columns}
        columns |= {n: _worded(reports.labels, n, c.to_pylist()) if in_words else c for n, c in public.items()}
    first = [name for name in reports.design.domain if name in columns]
    return {name: columns[name] for name in dict.fromkeys([*first, *columns])}


def labelled_batches(reports: Coded, *, in_words: bool) -> Batches:
    """The same to be written, of which a part at a time is made."""
    import pyarrow as pa

    def make(start: int, stop: int) -> pa.Table:
        return pa.table(labelled(reports.between(start, stop), in_words=in_words))

    return Batches(reports.n, make).alike()


def _asked(reports: Coded, index: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Who was asked a question, and what they reported."""
    held = [(b, ballot.index(index)) for b, ballot in enumerate(reports.design.ballots) if index in ballot]
    rows = [reports.rows_of(ballot) for ballot, _ in held]
    codes = [reports.answers[reports.rows_of(ballot), place] for ballot, place in held]
    return np.concatenate(rows), np.concatenate(codes)


def _worded(labels: Labels, name: str, values: Sequence[Any]) -> pa.Array:
    import pyarrow as pa

    known = labels.answers.get(name)
    return pa.array([labels.answer(name, v) if known and v is not None else v for v in values])
