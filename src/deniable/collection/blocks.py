"""Blocks on a server: open, collect, close, publish the next. Everything is in the store; workers only agree.

A block is kept under its number, and the first one kept under a number stays: whichever worker is the first to see that
a block is full publishes the next, and all others read it. Its fakes follow from the counts of the blocks before it.

A report names the block that it was made in, and counts there, however late it comes: its disguise is known, and its
sender has paid for it. What was published before it came stays as it is, for devices hold it. The report has its part
in the fakes of the block that is published next.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from deniable.collection.acceptor import decode_cell
from deniable.designs.blocks.aggregator import FORMAT, Aggregator
from deniable.designs.blocks.message import MessageBlocks
from deniable.device.block import Block, check_chain
from deniable.device.messages import Design, plan_message
from deniable.frozen import fix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.collection.storage.base import Store
    from deniable.device.verified import VerifiedDesign

_FRESH = 1.0  # seconds for which a worker believes that nobody has published a block


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
    """The blocks of one design, for one worker. May be called from any thread."""

    def __init__(self, store: Store, verified: VerifiedDesign) -> None:
        """Read what was published; publish the first block if nothing was."""
        self._store, self.numbers = store, list[int]()  # of the designs that share this chain, in the store
        rule = verified.message.blocks if isinstance(verified.message, Design) else None
        self._size = 1 << 62 if rule is None else rule.size  # designs of version 1 get no new blocks
        self.design = ServedBlocks(verified)
        self._lock = threading.Lock()
        self._taken, self._read = 0, 0.0
        first = Aggregator(self.design).block
        store.save(_name(self.design.id, 0), first.canonical())
        self.blocks: list[Block] = []
        self._refresh()
        check_chain(self.blocks, self.design)

    def current(self) -> Block:
        """The open block."""
        with self._lock:
            if time.monotonic() - self._read > _FRESH:
                self._refresh()
        return self.blocks[-1]

    def knows(self, name: str) -> bool:
        """Tell whether a block was published, open or closed. One that another worker has just published is found."""
        if name not in self._names:
            with self._lock:
                self._refresh()
        return name in self._names

    def after(self, index: int, most: int) -> Sequence[Block]:
        """Blocks that follow a number."""
        self.current()
        return self.blocks[max(0, index + 1) : max(0, index + 1) + most]

    def took(self, reports: int) -> None:
        """Note that reports were stored, and publish the next block if that made the open one full."""
        with self._lock:
            self._taken += reports
            # Other workers may have taken the rest: look before all of it came here.
            if self._taken < max(1, self._size // 4):
                return
            stored = [item for number in self.numbers for item in self._store.counts(number).items()]
            self._refresh()  # afterwards: the block of every report that is stored is then among them
            self._taken, counts = 0, self._counts(stored)
            if counts[-1][1] >= self._size:
                self._publish([table for table, _ in counts], counts[-1][1])

    def _publish(self, counts: Sequence[NDArray[np.int64]], received: int) -> None:
        state = {
            "format": FORMAT,
            "design": self.design.id,
            "update": "pooled",
            "state": "closed",
            "received": received,
            "blocks": [block.canonical().decode() for block in self.blocks],
            "counts": counts,
        }
        following = Aggregator.from_dict(state, self.design).publish()
        self._store.save(_name(self.design.id, following.index), following.canonical())
        self._refresh()

    def _refresh(self) -> None:
        self.blocks += kept_blocks(self._store, self.design, len(self.blocks))
        self._names = {block.id for block in self.blocks}
        self._read = time.monotonic()

    def _counts(self, stored: Sequence[tuple[str, int]]) -> list[tuple[NDArray[np.int64], int]]:
        """For every block: how often each cell of each question was reported, and how many reports there were."""
        shape = len(self.design.limits), max(limits.cells for limits in self.design.limits)
        found = {block.id: (np.zeros(shape, dtype=np.int64), 0) for block in self.blocks}
        for cell, times in stored:
            name, ballot, answers, _ = decode_cell(cell)
            table, reports = found[str(name)]
            for question, answer in zip(self.design.ballots[ballot], answers, strict=True):
                table[question, answer] += times
            found[str(name)] = table, reports + times
        return list(found.values())


def positions(blocks: Sequence[Block]) -> Mapping[str, int]:
    """Where each block stands, by its name."""
    return {block.id: block.index for block in blocks}


def _name(design: str, index: int) -> str:
    return f"block:{design}:{index}"
