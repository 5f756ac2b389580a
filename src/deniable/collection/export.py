"""From a store back to `Reports`: what was collected, ready to be estimated from or written to a file.

Rows come out sorted by what they say, so that an export tells nothing about who came when.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from deniable.collection.acceptor import decode_cell
from deniable.collection.blocks import ServedBlocks, kept_blocks, positions
from deniable.collection.verify import VerifiedDesign, verify
from deniable.designs.base import Design, Question
from deniable.designs.block_reports import BlockReports
from deniable.designs.paired import Paired
from deniable.designs.reports import Reports
from deniable.errors import InputError, SmallCellWarning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deniable.collection.storage.base import Store
    from deniable.designs.block import Block


def stored_reports(store: Store, design_id: str) -> Reports:
    """Everything that was reported to a design."""
    known = store.designs()
    if design_id not in known:
        raise InputError(f"this store has no design {design_id}; it has {sorted(known)}", design=design_id)
    number, body = known[design_id]
    verified = verify(body, design_id)
    counts = store.counts(number)  # before the blocks: every counted report's block is then among them
    if not verified.is_adaptive:
        return reports_of_counts(verified, counts)
    design = ServedBlocks(verified)
    return _in_blocks(reports_of_counts(verified, counts, design), design, counts, kept_blocks(store, design))


def _in_blocks(reports: Reports, design: ServedBlocks, counts: Mapping[str, int], blocks: list[Block]) -> BlockReports:
    at = positions(blocks)
    cells = sorted((*decode_cell(cell)[1:], at[str(decode_cell(cell)[0])], number) for cell, number in counts.items())
    index = np.repeat([position for *_, position, _ in cells], [number for *_, number in cells])
    return BlockReports.of_blocks(
        design, reports.ballots, reports.answers, index.astype(np.int64), blocks, public=reports.public
    )


def reports_of_counts(verified: VerifiedDesign, counts: Mapping[str, int], known: Design | None = None) -> Reports:
    """Make reports of counted cells: a cell that came n times becomes n rows."""
    import narwhals as nw
    import pyarrow as pa

    design = design_of(verified) if known is None else known
    cells = sorted((*decode_cell(cell)[1:], number) for cell, number in counts.items())
    times = [number for *_, number in cells]
    ballots = np.zeros(len(cells), dtype=np.min_scalar_type(len(design.ballots) - 1))
    answers = np.zeros((len(cells), design.width), dtype=design.answer_dtype, order="F")
    codes = np.zeros((len(cells), len(verified.public)), dtype=np.int64)
    for row, (ballot, given, public, _) in enumerate(cells):
        ballots[row], answers[row, : len(given)], codes[row] = ballot, given, public
    clear = None
    if verified.public:
        columns = {
            variable.name: pa.array(variable.categories).take(pa.array(np.repeat(codes[:, place], times)))
            for place, variable in enumerate(verified.public)
        }
        clear = nw.from_native(pa.table(columns), eager_only=True)
    with warnings.catch_warnings():
        # Respondents saw what travels in clear; the warning is for whoever chooses the columns.
        warnings.simplefilter("ignore", SmallCellWarning)
        return Reports.of_codes(design, np.repeat(ballots, times), np.repeat(answers, times, axis=0), clear, "pyarrow")


def design_of(verified: VerifiedDesign) -> Design:
    """The design to estimate by: its questions and ballots.

    Of paired respondents nobody knows who the pairs were, nor how many were completed. Their reports get the errors of
    independent respondents, which are the larger ones, and stay marked as paired for the tests that must refuse them.
    """
    if verified.is_paired:
        coins = {q.name: q.coins for q in verified.questions if q.coins is not None}
        return Paired(verified.domain, coins=coins)
    questions = [Question(question.domain.names, question.channel) for question in verified.questions]
    return Design(verified.domain, questions, verified.ballots)
