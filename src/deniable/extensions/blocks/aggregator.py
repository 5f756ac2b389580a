"""Aggregator: collects a block of reports, closes it, and publishes the next block's fakes (RRBA's server).

::

    collecting  --collect-->  collecting  --close-->  closed  --publish-->  collecting, one block further

It has no more power than anybody who can read: it holds disguised answers and chooses T, within what the design allows.

How T follows from the reports (`update`), with o the counts of reports and n their number:

========= ======================================================== ===================================================
"pooled"  (o / n - (1 - p) mean of the T used) / p, all blocks      unbiased and ever more precise; the default
"last"    (o / n - (1 - p) T) / p, the last block's o, n and T      as published for blocks (version 2): white noise
"literal" (o / n - (1 - p) last T) / p, all blocks' o and n         as published for single clients (version 1, eq 4)
========= ======================================================== ===================================================

The literal rule subtracts a T that most of the reports were not made with. An error of T comes back multiplied by
-(1 - p) / p, so for p < 1/2 it grows until the simplex stops it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from deniable.device.fake_limits import WHOLE
from deniable.device.protocol.fake_blocks import Block, check_chain
from deniable.errors import DesignError, InputError
from deniable.extensions.blocks.fake_distribution import fake_weights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from deniable.extensions.designs.blocks import Blocks

Update = Literal["pooled", "last", "literal"]
State = Literal["collecting", "closed"]
FORMAT = 1


class Aggregator:
    """The server's half of RRBA as a state machine.

    >>> from deniable.extensions.designs.blocks import Blocks
    >>> aggregator = Aggregator(Blocks({"a": [0, 1], "b": [0, 1]}, epsilon=1.0, block_size=3))
    >>> aggregator.collect(ballots=[0, 0, 0], answers=[[3], [3], [0]])
    >>> aggregator.close()
    >>> aggregator.publish().index, aggregator.state
    (1, 'collecting')
    """

    def __init__(self, design: Blocks, update: Update = "pooled") -> None:
        """Open block 0, whose fakes are even."""
        if update not in ("pooled", "last", "literal"):
            raise DesignError(f'update must be "pooled", "last" or "literal", not {update!r}', update=update)
        self.design, self.update = design, update
        shape = len(design.questions), max(limits.cells for limits in design.limits)
        self._total = np.zeros(shape, dtype=np.int64)
        self._faked = np.zeros(shape, dtype=np.int64)  # sum over reports of the fakes' weights they were drawn with
        self._counts: list[NDArray[np.int64]] = []  # a table a block, a row a question
        self._weights: list[NDArray[np.int64]] = []  # of the fakes, likewise
        self.state: State = "collecting"
        weights = np.zeros(shape, dtype=np.int64)
        for row, limits in zip(weights, design.limits, strict=True):
            row[: limits.cells] = limits.start
        self.published: list[Block] = []
        self._open(weights)

    # -- the three moves ---------------------------------------------------------------------------------------

    @property
    def block(self) -> Block:
        """The block published last."""
        return self.published[-1]

    @property
    def received(self) -> int:
        """How many respondents have answered in the block published last."""
        return self._received

    def collect(self, ballots: ArrayLike, answers: ArrayLike, block: int | None = None) -> None:
        """Count reports made with the open block: the ballot drawn and a row of answers for each respondent."""
        if self.state != "collecting":
            raise InputError(f"block {self.block.index} is closed; publish the next one before collecting again")
        if block is not None and block != self.block.index:
            raise InputError(
                f"these reports were made with block {block}; block {self.block.index} is open. A report counts in its "
                f"own block or not at all",
                block=block,
            )
        drawn, given = np.asarray(ballots, dtype=np.int64), np.asarray(answers, dtype=np.int64)
        if drawn.ndim != 1 or given.shape != (len(drawn), self.design.width):
            raise InputError(f"expected a row of {self.design.width} answers for each of {drawn.size} ballots")
        if self.received + len(drawn) > self.design.block_size:
            raise InputError(
                f"block {self.block.index} takes {self.design.block_size} respondents; it has {self.received} and was "
                f"offered {len(drawn)} more",
                room=self.design.block_size - self.received,
            )
        if len(drawn) and not 0 <= drawn.min() <= drawn.max() < len(self.design.ballots):
            raise InputError(f"ballots must be 0 .. {len(self.design.ballots) - 1}")
        asked = self.design.asked[drawn]
        there = asked >= 0
        cells = np.array([limits.cells for limits in self.design.limits])
        if (given[there] < 0).any() or (given[there] >= cells[asked[there]]).any():
            raise InputError("some answers are no cells of the question they answer")
        key = asked[there] * self._total.shape[1] + given[there]
        self._counts[-1] += np.bincount(key, minlength=self._total.size).reshape(self._total.shape)
        self._received += len(drawn)

    def close(self) -> None:
        """Close the open block, full or not: its reports now count."""
        if self.state != "collecting":
            raise InputError(f"block {self.block.index} is closed already")
        self._total += self._counts[-1]
        self._faked += self._counts[-1].sum(axis=1, keepdims=True) * self._weights[-1]
        self.state = "closed"

    def publish(self) -> Block:
        """Publish the next block, with fakes learned from the closed ones, and open it."""
        if self.state != "closed":
            raise InputError(f"block {self.block.index} is open; close it before publishing the next one")
        self._open(fake_weights(self.estimates(), self._limits))
        self.state = "collecting"
        return self.block

    def _open(self, weights: NDArray[np.int64]) -> None:
        self._weights.append(weights)
        self._counts.append(np.zeros_like(self._total))
        self._received = 0
        self.published.append(following(self.design, self.block if self.published else None, weights))

    # -- what it knows -----------------------------------------------------------------------------------------

    def estimates(self, update: Update | None = None) -> NDArray[np.float64]:
        """Raw estimates of every question's table from the closed blocks, a padded row a question (-inf beyond it).

        Questions that nobody has answered yet keep the fakes they have.
        """
        rule = update or self.update
        # The last closed block; before there is one, the open one, whose reports are not counted yet.
        last = -2 if self.state == "collecting" and len(self._counts) > 1 else -1
        counts = self._counts[last] if rule == "last" and self._closed else self._total
        n = counts.sum(axis=1, keepdims=True)
        used = self._faked / np.maximum(n, 1) if rule == "pooled" else self._weights[last]
        return learned(counts, used, self._weights[last], self._limits)

    @property
    def _closed(self) -> int:
        return len(self._counts) - (self.state == "collecting")

    @cached_property
    def _limits(self) -> NDArray[np.int64]:
        return limits_of(self.design)

    @property
    def ends(self) -> NDArray[np.int64]:
        """For every question the draws at which its stretches end: keep, then fake after fake; 2^32 beyond them."""
        return np.cumsum(np.hstack([self._limits[:, 1, None], self._weights[-1]]), axis=1)

    # -- as plain data -----------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Everything needed to go on elsewhere, as plain data."""
        return {
            "format": FORMAT,
            "design": self.design.id,
            "update": self.update,
            "state": self.state,
            "received": self.received,
            "blocks": [block.canonical().decode() for block in self.published],
            "counts": [counts.tolist() for counts in self._counts],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], design: Blocks) -> Aggregator:
        """Go on where `to_dict` stopped; every block and the chain between them are checked again."""
        if data.get("format") != FORMAT or data.get("design") != design.id:
            raise InputError("this is not the state of an aggregator of this design", design=data.get("design"))
        made = cls(design, data["update"])
        made.published = [Block.parse(text.encode()) for text in data["blocks"]]
        made._counts = [np.array(counts, dtype=np.int64).reshape(made._total.shape) for counts in data["counts"]]
        check_chain(made.published, design)
        if len(made.published) != len(made._counts) or data["state"] not in ("collecting", "closed"):
            raise InputError("every block has its counts, and the last one is either being collected or closed")
        made.state, made._received = data["state"], int(data["received"])
        made._weights = [weights_of(block, made._total.shape) for block in made.published]
        for block, counts, weights in zip(made.published, made._counts, made._weights, strict=True):
            if block.index < made._closed:
                made._total += counts
                made._faked += counts.sum(axis=1, keepdims=True) * weights
        return made

    def __repr__(self) -> str:
        return (
            f"<Aggregator: block {self.block.index} {self.state}, {self.received} of {self.design.block_size} reports>"
        )


def limits_of(design: Blocks) -> NDArray[np.int64]:
    """The limits of a design's blocks, a row (cells, keep, floor) a question."""
    return np.array([(x.cells, x.keep, x.floor) for x in design.limits], dtype=np.int64)


def weights_of(block: Block, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """The weights of a block's fakes as a table, a row a question, padded with 0."""
    weights = np.zeros(shape, dtype=np.int64)
    for row, fakes in zip(weights, block.fakes, strict=True):
        row[: len(fakes)] = fakes
    return weights


def learned(
    counts: NDArray[np.int64],
    used: NDArray[np.float64] | NDArray[np.int64],
    last: NDArray[np.int64],
    limits: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Raw estimates of every question's table, a padded row a question (-inf beyond it).

    Args:
        counts: of reports.
        used: the mean weights of the fakes that they were drawn with.
        last: the weights of the last fakes, which questions keep that nobody has answered yet.
        limits: a row (cells, keep, floor) a question.
    """
    n, keep = counts.sum(axis=1, keepdims=True), limits[:, 1, None]
    raw = (counts / np.maximum(n, 1) * WHOLE - used) / keep
    raw = np.where(n > 0, raw, last / (WHOLE - keep))
    return np.where(np.arange(raw.shape[1]) < limits[:, 0, None], raw, -np.inf)


def following(design: Blocks, previous: Block | None, weights: NDArray[np.int64]) -> Block:
    """The block with these fakes that follows another one, or is the first."""
    return Block(
        design.id,
        0 if previous is None else previous.index + 1,
        design.id if previous is None else previous.id,
        tuple(limits.keep for limits in design.limits),
        tuple(tuple(row[: limits.cells]) for row, limits in zip(weights.tolist(), design.limits, strict=True)),
    )
