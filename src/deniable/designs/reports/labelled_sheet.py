"""Sheet: reports as a colleague's statistics program wants them, one named and labelled column a question.

Where a respondent was not asked, the value is missing. Codes have their meanings, columns their question as a label,
which says that the answers in it are disguised: no program can tell by itself, and none of its tables would be right.
Names are made to be such that SPSS and Stata take them; what they were is kept in the header, so that nothing is lost.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.reserved_names import RESERVED
from deniable.errors import InputError
from deniable.files.labelled_columns import Column, file_names
from deniable.files.reserved_columns import BALLOT, BLOCK, WORDS, words_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from deniable.designs.reports.debiased_columns import Score
    from deniable.designs.reports.reports import Reports

DISGUISED = "[disguised]"
_EXACT = 1 << 53  # whole numbers below this are exact as decimals, the only numbers that SPSS has


def sheet(reports: Reports, scores: Sequence[Score] = ()) -> list[Column]:
    """The reports as columns: which block and ballot, the questions, their scores, what is public."""
    named = [*_drawn(reports), *_questions(reports), *(_scored(reports, each) for each in scores), *_public(reports)]
    files = file_names([column.file for column in named])
    return [replace(column, file=file) for file, column in zip(files, named, strict=True)]


def question_column(index: int) -> str:
    """What the column of a question is called in the header: questions of the same attributes are told apart."""
    return f"{RESERVED}question_{index}"


def _drawn(reports: Reports) -> list[Column]:
    """Which block a report was made in, and which ballot the device drew, where there are several."""
    found: list[Column] = []
    blocks = getattr(reports, "blocks", None)
    if blocks is not None:
        found.append(Column("block", BLOCK, "Which block of fakes the answers were disguised with", _exact(blocks), {}))
    if len(reports.design.ballots) > 1:
        design = reports.design
        asked = [" + ".join(design.questions[index].name for index in ballot) for ballot in design.ballots]
        label = "Which questions the device drew, whatever the answers were"
        found.append(Column("ballot", BALLOT, label, _exact(reports.ballots), dict(enumerate(asked))))
    return found


def _questions(reports: Reports) -> list[Column]:
    design, labels = reports.design, reports.labels
    columns = np.full((len(design.questions), reports.n), np.nan)
    for number, ballot in enumerate(design.ballots):
        rows = reports.rows_of(number)
        for place, index in enumerate(ballot):
            columns[index, rows] = _exact(reports.answers[rows, place])
    found: list[Column] = []
    for index, (question, numbers) in enumerate(zip(design.questions, columns, strict=True)):
        domain = design.domain.project(question.attributes)
        meanings: dict[int, str] = {}
        if question.channel.reports == question.channel.outputs == domain.cells:
            places = np.stack(np.unravel_index(np.arange(domain.cells), domain.shape), axis=1)
            named = {name: column.to_pylist() for name, column in domain.decode(places).items()}
            answers = ([labels.answer(name, value) for value in column] for name, column in named.items())
            meanings = dict(enumerate(", ".join(cell) for cell in zip(*answers, strict=True)))
        asked = " / ".join(labels.question(name) for name in question.attributes)
        kind = DISGUISED if meanings else "[disguised as a set of answers]"
        found.append(Column(question.name, question_column(index), f"{kind} {asked}", numbers, meanings))
    return found


def _scored(reports: Reports, score: Score) -> Column:
    """Scores, of which the mean alone says something: the label begins with that."""
    labels = reports.labels
    said = ", ".join(f"{labels.question(name)} = {labels.answer(name, category)}" for name, category in score.cell)
    return Column(score.name, score.name, f"[its mean is the share of] {said}{score.among}", score.values, {})


def _public(reports: Reports) -> list[Column]:
    if reports.public is None:
        return []
    import pyarrow as pa

    found: list[Column] = []
    for name in reports.public.columns:
        column = reports.public[name].to_arrow()
        label = _since(reports) if name == WORDS else reports.labels.question(name)
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            found.append(Column(name, name, label, _as_decimals(name, column), {}, kind=column.type))
            continue
        texts = (column if pa.types.is_boolean(column.type) else column.cast(pa.string())).to_pylist()
        listed = [value for value in reports.labels.answers.get(name, {}) if name in reports.labels.public]
        strangers = sorted({text for text in texts if text is not None} - set(listed), key=str)
        values = [*listed, *strangers]
        place = {value: float(code) for code, value in enumerate(values)}
        codes = np.array([np.nan if text is None else place[text] for text in texts], dtype=np.float64)
        meanings = {code: reports.labels.answer(name, value) for code, value in enumerate(values)}
        found.append(Column(name, name, label, codes, meanings, values, column.type))
    return found


def _since(reports: Reports) -> str:
    """What the column means that says under which words a report was made."""
    labels = reports.labels
    names = words_names(len(labels.corrections))[1:]
    since = [f"{name} since: {one.why or 'not declared'}" for name, one in zip(names, labels.corrections, strict=True)]
    return f"{labels.question(WORDS)}; {'; '.join(since)}"


def _as_decimals(name: str, column: pa.ChunkedArray) -> NDArray[np.float64]:
    import pyarrow as pa

    try:
        numbers: NDArray[np.float64] = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        return numbers if len(column) else np.empty(0)
    except pa.ArrowInvalid:
        raise InputError(
            f"the public column {name!r} holds numbers beyond 2^53, which SPSS and Stata cannot hold; write Parquet or "
            f"CSV",
            column=name,
        ) from None


def _exact(codes: NDArray[Any]) -> NDArray[np.float64]:
    if len(codes) and int(codes.max()) >= _EXACT:
        raise InputError(
            "these reports are numbers beyond 2^53, which SPSS and Stata cannot hold; write Parquet or CSV"
        )
    return codes.astype(np.float64)
