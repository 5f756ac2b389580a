"""Blocks on a server: open, collect, close, publish the next. Everything is in the store; workers only agree.

A block is kept under its number, and the first one kept under a number stays: whichever worker is the first to see that
a block is full publishes the next, and all others read it. Its fakes follow from the counts of the blocks before it.

A report names the block that it was made in, and counts there, however late it comes: its disguise is known, and its
sender has paid for it. What was published before it came stays as it is, for devices hold it. The report has its part
in the fakes of the block that is published next. (Of reports that are more than two blocks late a worker knows those
that came to it, and all that came before it started; estimates are made of all there are.)

A report costs the same however many there are: a block is verified when it is read, its reports are counted while it is
one of the last, and `Tally` keeps what they add up to.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from deniable.collection.storage.base import block_of
from deniable.collection.tally import Tally
from deniable.designs.blocks.aggregator import Aggregator
from deniable.designs.blocks.message import MessageBlocks
from deniable.device.block import Block, check_chain
from deniable.device.messages import Design, plan_message
from deniable.frozen import fix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deniable.collection.storage.base import Store
    from deniable.device.verified import VerifiedDesign

_FRESH = 1.0  # seconds for which a worker believes that nobody has published a block
_ARRIVING = 2  # closed blocks in which reports are still expected, to whichever worker they come


@dataclass(frozen=True, eq=False, repr=False, init=False)
class ServedBlocks(MessageBlocks):
    """A design in blocks that was verified, without its words: its amendments share one chain of blocks."""

    verified: VerifiedDesign

    def __init__(self, verified: VerifiedDesign) -> None:
        message = verified.message
        super().__init__(plan_message(message) if isinstance(message, Design) else msgspec.to_builtins(message))
        fix(self, verified=verified)

    def _given(self) -> dict[str, Any]:
        return {"verified": self.verified}


def kept_blocks(store: Store, design: ServedBlocks, start: int = 0) -> list[Block]:
    """The blocks published for a design, from a number on."""
    found: list[Block] = []
    while (body := store.saved(_name(design.id, start + len(found)))) is not None:
        found.append(Block.parse(body))
    return found


class Chain:
    """The blocks of one design, for one worker. May be called from any thread; what is said to be quick never waits."""

    def __init__(self, store: Store, verified: VerifiedDesign) -> None:
        """Read what was published; publish the first block if nothing was."""
        self._store, self._numbers = store, list[int]()  # of the designs that share this chain, in the store
        rule = verified.message.blocks if isinstance(verified.message, Design) else None
        self._size = 1 << 62 if rule is None else rule.size  # designs of version 1 get no new blocks
        self.design = ServedBlocks(verified)
        self._lock = threading.Lock()
        self._tally = Tally(self.design)
        self._late: deque[str] = deque()  # cells of blocks that are summed up
        self._taken, self._step = 0, 1  # reports since the store was asked, and after how many it is asked again
        first = Aggregator(self.design).block
        store.save(_name(self.design.id, 0), first.canonical())
        self.blocks: list[Block] = []
        self._at: dict[str, int] = {}
        self._refresh()

    def join(self, number: int) -> None:
        """Count the reports to a design that shares this chain, by its number. Before any of them is taken here."""
        with self._lock:
            self._numbers.append(number)
            stored = self._store.counts(number)
            self._refresh()  # afterwards: the block of every report that is stored is then among them
            cells: dict[int, dict[str, int]] = {}
            for cell, times in stored.items():
                cells.setdefault(self._place(cell), {})[cell] = times
            self._tally.sum_up(self._recent)
            for index, counts in cells.items():
                if index < self._recent:
                    self._tally.add(self.blocks[index], counts)
            self._count()
            self._open()

    @property
    def fresh(self) -> Block | None:
        """The open block, if the store was asked for it a moment ago. Quick."""
        return self.blocks[-1] if time.monotonic() - self._read <= _FRESH else None

    def current(self) -> Block:
        """The open block."""
        with self._lock:
            if time.monotonic() - self._read > _FRESH:
                self._refresh()
        return self.blocks[-1]

    def has(self, name: str | None) -> bool:
        """Tell whether this worker knows that a block was published. Quick."""
        return name in self._at

    def knows(self, name: str) -> bool:
        """Tell whether a block was published, open or closed. One that another worker has just published is found."""
        if name not in self._at:
            with self._lock:
                self._refresh()
        return name in self._at

    def after(self, index: int, most: int) -> Sequence[Block]:
        """Blocks that follow a number."""
        self.current()
        return self.blocks[max(0, index + 1) : max(0, index + 1) + most]

    def took(self, cells: Sequence[str]) -> bool:
        """Note that reports were stored, and tell whether it is time to look if the open block is full. Quick.

        One caller is told so, not all whose reports were stored with the same transaction: one look is enough.
        """
        self._taken += len(cells)
        first = self._tally.first
        self._late.extend(cell for cell in cells if self._place(cell) < first)
        if self._taken < self._step:
            return False
        self._taken = 0
        return True

    def look(self) -> None:
        """Count the reports of the open block, and publish the next one if it is full."""
        with self._lock:
            try:
                self._publish()
            except BaseException:
                self._taken = self._step  # whoever comes next looks
                raise

    def _publish(self) -> None:
        self._refresh()
        if self._open() >= self._size:
            self._count()
            following = self._tally.next_block(self.blocks[-1])
            self._store.save(_name(self.design.id, following.index), following.canonical())
            self._refresh()
            self._open()

    @property
    def _recent(self) -> int:
        """The first block that is counted anew; those before it are summed up."""
        return max(0, len(self.blocks) - 1 - _ARRIVING)

    def _place(self, cell: str) -> int:
        return self._at[block_of(cell)]

    def _counted(self, block: Block) -> Counter[str]:
        """How many reports of a block each cell has."""
        counts: Counter[str] = Counter()
        for number in self._numbers:
            counts.update(self._store.counts_in(number, block.id))
        return counts

    def _count(self) -> None:
        """Count the last blocks, and sum the others up."""
        for block in self.blocks[self._tally.first :]:
            self._tally.keep_apart(block, self._counted(block))
        self._tally.sum_up(self._recent)
        while self._late:
            cell = self._late.popleft()
            self._tally.add(self.blocks[self._place(cell)], {cell: 1})

    def _open(self) -> int:
        """How many reports are in the open block; it is looked at again when it may be full."""
        self._taken = 0
        reports = sum(self._counted(self.blocks[-1]).values())
        # Where others take reports too, look before all that are missing came here.
        self._step = max(1, self._size // 4 if self._store.is_shared else self._size - reports)
        return reports

    def _refresh(self) -> None:
        """Read the blocks that were published meanwhile. Each is verified once."""
        found = kept_blocks(self._store, self.design, len(self.blocks))
        check_chain(found, self.design, self.blocks[-1] if self.blocks else None)
        self.blocks += found
        self._at.update((block.id, block.index) for block in found)
        self._read = time.monotonic()


def positions(blocks: Sequence[Block]) -> Mapping[str, int]:
    """Where each block stands, by its name."""
    return {block.id: block.index for block in blocks}


def _name(design: str, index: int) -> str:
    return f"block:{design}:{index}"
