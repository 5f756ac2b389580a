"""Blocks on a server: open, collect, close, publish the next. Everything is in the store; workers only agree.

A block is kept under its number, and the first one kept under a number stays: whichever worker is the first to see that
a block is full publishes the next, and all others read it. Its fakes follow from the counts of the blocks before it, as
far as they are shown (`shown`): who compares blocks with each other and with what analysts see learns nothing that
those do not. So a block takes as many reports as its design says, and those that come until they are shown.

A report names the block that it was made in, and counts there, however late it comes: its disguise is known, and its
sender has paid for it. What was published before it came stays as it is, for devices hold it. Once it is shown, the
report has its part in the fakes of the block that is published next.

A report costs the same however many there are: a block is verified when it is read, its reports are counted while it is
one of the last, and `Tally` keeps what they add up to. Late ones, which are few, have all blocks counted once more.

Tally: what the reports of a chain of blocks add up to, so that the next block can be learned without all of them.

The next block's fakes follow from two sums over all reports: how often each cell of each question was reported, and the
weights of the fakes that the reports were drawn with. So of a block that is past, only its part in these sums is kept.
The last few blocks, in which reports still arrive, are kept apart and counted anew when it matters.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.collection.report_cells import decode_cell
from deniable.collection.session import Session
from deniable.collection.shown_state import Shown
from deniable.device.protocol.fake_blocks import Block, check_chain
from deniable.device.protocol.messages import plan_message
from deniable.extensions.blocks.aggregator import Aggregator, following, learned, limits_of, weights_of
from deniable.extensions.blocks.announced_blocks import MessageBlocks
from deniable.extensions.blocks.fake_distribution import fake_weights
from deniable.frozen import fix
from deniable.storage.store import block_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.device.protocol.messages import Report
    from deniable.device.verified_design import VerifiedDesign
    from deniable.extensions.designs.blocks import Blocks
    from deniable.storage.store import Readable, Store


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


_FRESH = 1.0  # seconds for which a worker believes that nobody has published a block
_ARRIVING = 2  # closed blocks in which reports are still expected


@dataclass(frozen=True, eq=False, repr=False, init=False)
class ServedBlocks(MessageBlocks):
    """A design in blocks that was verified, without its words: its amendments share one chain of blocks."""

    verified: VerifiedDesign

    def __init__(self, verified: VerifiedDesign) -> None:
        super().__init__(plan_message(verified.message))
        fix(self, verified=verified)

    def _given(self) -> dict[str, Any]:
        return {"verified": self.verified}


def kept_blocks(store: Readable, design: ServedBlocks, start: int = 0) -> list[Block]:
    """The blocks published for a design, from a number on."""
    found: list[Block] = []
    while (body := store.saved(_name(design.id, start + len(found)))) is not None:
        found.append(Block.parse(body))
    return found


class Chain(Session):
    """The blocks of one design, for one worker. May be called from any thread; what is said to be quick never waits."""

    def __init__(self, store: Store, verified: VerifiedDesign) -> None:
        """Read what was published; publish the first block if nothing was."""
        self._store, self._shown = store, Shown(store)
        self._numbers = list[int]()  # of the designs that share this chain, in the store
        assert verified.message.blocks is not None  # `verify` has looked
        self._size = verified.message.blocks.size
        self.design = ServedBlocks(verified)
        self._lock = threading.Lock()
        self._tally = Tally(self.design)
        self._total = -1  # reports that were shown when somebody looked
        first = Aggregator(self.design).block
        store.save(_name(self.design.id, 0), first.canonical())
        self.blocks: list[Block] = []
        self._at: dict[str, int] = {}
        self._refresh()

    def join(self, name: str, number: int) -> None:  # noqa: ARG002 - reports are counted by the number
        """Count the reports to a design that shares this chain."""
        with self._lock:
            self._numbers.append(number)
            self._begin()

    def _begin(self) -> None:
        """Count every report that is shown."""
        counts = Counter[str]()
        for number in self._numbers:
            counts.update(self._shown.counts(number))
        self._refresh()  # afterwards: the block of every report that is stored is then among them
        cells: dict[int, dict[str, int]] = {}
        for cell, times in counts.items():
            cells.setdefault(self._at[block_of(cell)], {})[cell] = times
        self._tally = Tally(self.design)
        self._tally.sum_up(self._recent)
        for index, some in cells.items():
            if index < self._recent:
                self._tally.add(self.blocks[index], some)
        self._count_last()

    @property
    def fresh(self) -> Block | None:
        """The open block, if the store was asked for it a moment ago. Quick."""
        return self.blocks[-1] if time.monotonic() - self._read <= _FRESH else None

    def current(self) -> Block:
        """The open block."""
        with self._lock:
            if time.monotonic() - self._read > _FRESH:
                self._look()
        return self.blocks[-1]

    def is_known(self, report: Report) -> bool:
        """Whether this worker knows that the report's block was published. Quick."""
        return report.block in self._at

    def admits(self, report: Report) -> str | None:
        """Only of a block that was published, open or closed. One that another worker has just published is found."""
        if report.block is not None and report.block not in self._at:
            with self._lock:
                self._refresh()
        return None if report.block in self._at else "unknown-block"

    def after(self, index: int, most: int) -> Sequence[Block]:
        """Blocks that follow a number."""
        self.current()
        return self.blocks[max(0, index + 1) : max(0, index + 1) + most]

    def _look(self) -> None:
        """See which blocks were published; and if more reports are shown and the open block is full, publish the next.

        Whoever asks for the open block has this done, once a second at most. Nobody who reports does: else a block
        would come when a report comes.
        """
        self._refresh()
        total = sum(map(self._shown.total, self._numbers))
        if total != self._total:
            self._count(total)
            if self._tally.reports_of(self.blocks[-1]) >= self._size:
                following = self._tally.next_block(self.blocks[-1])
                self._store.save(_name(self.design.id, following.index), following.canonical())
                self._refresh()
                self._count_last()
            self._total = total

    @property
    def _recent(self) -> int:
        """The first block that is counted anew; those before it are summed up."""
        return max(0, len(self.blocks) - 1 - _ARRIVING)

    def _counted(self, block: Block) -> Counter[str]:
        """How many reports of a block each cell has."""
        counts: Counter[str] = Counter()
        for number in self._numbers:
            counts.update(self._shown.counts_in(number, block.id))
        return counts

    def _count(self, total: int) -> None:
        """Count the last blocks, and sum the others up; where reports came to those since, count all."""
        self._count_last()
        if self._tally.reports < total:
            self._begin()

    def _count_last(self) -> None:
        for block in self.blocks[self._tally.first :]:
            self._tally.keep_apart(block, self._counted(block))
        self._tally.sum_up(self._recent)

    def _refresh(self) -> None:
        """Read the blocks that were published meanwhile. Each is verified once."""
        found = kept_blocks(self._store, self.design, len(self.blocks))
        check_chain(found, self.design, self.blocks[-1] if self.blocks else None)
        self.blocks += found
        self._at.update((block.id, block.index) for block in found)
        self._read = time.monotonic()


def _name(design: str, index: int) -> str:
    return f"block:{design}:{index}"
