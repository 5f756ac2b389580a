"""Tally: what the reports of a chain of blocks add up to, so that the next block can be learned without all of them.

The next block's fakes follow from two sums over all reports: how often each cell of each question was reported, and the
weights of the fakes that the reports were drawn with. So of a block that is past, only its part in these sums is kept.
The last few blocks, in which reports still arrive, are kept apart and counted anew when it matters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.collection.report_cells import decode_cell
from deniable.extensions.blocks.aggregator import following, learned, limits_of, weights_of
from deniable.extensions.blocks.fake_distribution import fake_weights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from deniable.device.protocol.fake_blocks import Block
    from deniable.extensions.blocks.block_views import Blocks


class Tally:
    """The sums for one design, and the counts of its last blocks."""

    def __init__(self, design: Blocks) -> None:
        """Begin without reports."""
        self._design, self._limits = design, limits_of(design)
        shape = len(design.limits), max(limits.cells for limits in design.limits)
        self._total = np.zeros(shape, dtype=np.int64)
        self._faked = np.zeros(shape, dtype=np.int64)  # sum over reports of the fakes' weights they were drawn with
        self._apart: dict[int, tuple[Block, NDArray[np.int64]]] = {}
        self._apart_reports: dict[int, int] = {}
        self._summed = 0  # reports
        self.first = 0  # the first block that is kept apart

    def keep_apart(self, block: Block, counts: Mapping[str, int]) -> None:
        """Take these for the counts of a block, whatever was known of it."""
        self._apart[block.index] = block, self._counted(counts)
        self._apart_reports[block.index] = sum(counts.values())

    def sum_up(self, before: int) -> None:
        """Keep of the blocks before a number nothing but their part in the sums."""
        for index in range(self.first, before):
            if index in self._apart:
                _sum(self._total, self._faked, *self._apart.pop(index))
                self._summed += self._apart_reports.pop(index)
        self.first = max(self.first, before)

    def add(self, block: Block, counts: Mapping[str, int]) -> None:
        """Add reports of a block that was summed up."""
        _sum(self._total, self._faked, block, self._counted(counts))
        self._summed += sum(counts.values())

    def reports_of(self, block: Block) -> int:
        """How many reports are counted of a block that is kept apart."""
        return self._apart_reports.get(block.index, 0)

    @property
    def reports(self) -> int:
        """How many reports are counted."""
        return self._summed + sum(self._apart_reports.values())

    def next_block(self, last: Block) -> Block:
        """The block that follows, learned from all reports."""
        total, faked = self._total.copy(), self._faked.copy()
        for block, table in self._apart.values():
            _sum(total, faked, block, table)
        used = faked / np.maximum(total.sum(axis=1, keepdims=True), 1)
        estimates = learned(total, used, weights_of(last, total.shape), self._limits)
        return following(self._design, last, fake_weights(estimates, self._limits))

    def _counted(self, counts: Mapping[str, int]) -> NDArray[np.int64]:
        """How often each cell of each question was reported."""
        table = np.zeros_like(self._total)
        for cell, times in counts.items():
            _, ballot, answers, _ = decode_cell(cell)
            for question, answer in zip(self._design.ballots[ballot], answers, strict=True):
                table[question, answer] += times
        return table


def _sum(total: NDArray[np.int64], faked: NDArray[np.int64], block: Block, table: NDArray[np.int64]) -> None:
    total += table
    faked += table.sum(axis=1, keepdims=True) * weights_of(block, table.shape)
