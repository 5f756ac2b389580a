"""BlockReports: reports made in blocks, and the blocks they were made with."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from deniable.channels.kronecker import product
from deniable.designs.marginal_channel import Told
from deniable.designs.observation import Observation, merge
from deniable.designs.reports.reports import Reports
from deniable.device.epsilon import compose
from deniable.device.fake_limits import BITS
from deniable.device.privacy_statement import Statement
from deniable.device.protocol.fake_blocks import check_chain
from deniable.errors import InputError, MissingColumnError
from deniable.extensions.channels.blockwise import Blockwise
from deniable.files.reserved_columns import BLOCK
from deniable.frozen import fix, readonly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.device.protocol.fake_blocks import Block
    from deniable.extensions.designs.blocks import Blocks
    from deniable.files.header import Header

_PART = 1 << 18  # reports looked at together


@dataclass(frozen=True, eq=False, repr=False, init=False)
class BlockReports(Reports):
    """Disguised answers, one row a respondent, with the block each was made in and what was published for it."""

    design: Blocks
    blocks: NDArray[np.int64]
    published: tuple[Block, ...]

    def __init__(self, frame: Any, design: Blocks, published: Sequence[Block]) -> None:
        """Read reports from a frame as `to_frame` writes it; the blocks are checked against design and chain."""
        import narwhals as nw

        known = nw.from_native(frame, eager_only=True)
        if BLOCK not in known.columns:
            raise MissingColumnError(f"reports in blocks need the column {BLOCK!r}", columns=[BLOCK])
        super().__init__(known.drop(BLOCK).to_native(), design)
        check_chain(published, design)
        blocks = known[BLOCK].to_numpy().astype(np.int64)
        if len(blocks) and not 0 <= blocks.min() <= blocks.max() < len(published):
            raise InputError(f"there are {len(published)} published blocks, but reports of block {blocks.max()}")
        fix(self, blocks=readonly(blocks), published=tuple(published))

    @classmethod
    def of_blocks(
        cls,
        design: Blocks,
        ballots: NDArray[Any],
        answers: NDArray[Any],
        blocks: NDArray[np.int64],
        published: Sequence[Block],
        *,
        public: Any = None,
    ) -> BlockReports:
        """Make reports of what was collected."""
        return cls.of_codes(design, ballots, answers, public, blocks=blocks, published=tuple(published))

    # -- counting ----------------------------------------------------------------------------------------------

    def tabulate(self, attributes: Sequence[str] | None = None) -> list[Observation]:
        """Count into observations, one a question: its report is the pair (block, answer), see `Blockwise`.

        One channel for all blocks instead of one each: estimates then work on whole arrays, and blocks in which a
        question was asked only once count like the others.
        """
        found = []
        for index, question in enumerate(self.design.questions):
            asked = question.attributes if attributes is None else self.design.domain.project(attributes).names
            if not set(asked) & set(question.attributes):
                continue
            whole = self.question(index)
            narrowed = None if whole is None else whole.narrow(asked)
            if narrowed is not None:
                found.append(narrowed if self.among is None else self.among.counted(narrowed))
        return [observation.coming_from(self.origin) for observation in merge(found)]

    def question(self, index: int) -> Observation | None:
        """Everything that was reported to one question; None if nothing was."""
        rows, place = self.asked(index)
        cells = self.design.limits[index].cells
        key = self.blocks[rows] * cells + self.answers[rows, place]
        counts = np.bincount(key, minlength=len(self.published) * cells).reshape(-1, cells)
        used = np.flatnonzero(counts.sum(axis=1))
        if not len(used):
            return None
        keep = [self.published[block].keep[index] for block in used]
        fakes = [self.published[block].fakes[index] for block in used]
        domain = self.design.domain.project(self.design.questions[index].attributes)
        channel = Blockwise(keep, fakes, counts[used].sum(axis=1), BITS)
        return Observation(domain, channel, counts[used], population=self.people)

    def told(self, ballot: int, attributes: Sequence[str]) -> Told | None:
        """What a ballot's reports tell about some attributes; a report is the pair (block, answer), see `Blockwise`."""
        plain = self.design.told(ballot, attributes)
        used, sizes = self._used(ballot)
        if plain is None or not len(used):
            return None
        columns = []
        for column in plain.columns:
            index = self.design.ballots[ballot][column.place]
            keep = [self.published[block].keep[index] for block in used]
            fakes = [self.published[block].fakes[index] for block in used]
            whole = Blockwise(keep, fakes, sizes, BITS)
            channel = whole if column.collapsed is None else whole.collapse(*column.collapsed)
            columns.append(replace(column, channel=channel))
        told = Told(plain.domain, product([column.channel for column in columns]), tuple(columns))
        return told if self.among is None else self.among.told(told)

    def codes(self, ballot: int, told: Told, rows: NDArray[np.int64] | None = None) -> NDArray[Any]:
        """A ballot's reports as pairs (block, answer), numbered as `Blockwise` has them."""
        used, _ = self._used(ballot)
        place = np.searchsorted(used, self.blocks[self.rows_of(ballot) if rows is None else rows])
        cells = np.array([column.channel.inputs for column in told.columns])
        return place[:, None] * cells + super().codes(ballot, told, rows)

    def _used(self, ballot: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The blocks with reports of a ballot, and how many reports each has."""
        counts = self._in_blocks[ballot]
        used = np.flatnonzero(counts)
        return used, counts[used]

    @cached_property
    def _in_blocks(self) -> NDArray[np.int64]:
        """How many reports of each ballot each block has, counted in parts."""
        counts = np.zeros((len(self.design.ballots), len(self.published)), dtype=np.int64)
        for start in range(0, self.n, _PART):
            for ballot, rows in self.rows_between(start, min(start + _PART, self.n)):
                counts[ballot] += np.bincount(self.blocks[rows], minlength=len(self.published))
        return readonly(counts)

    def asked(self, index: int) -> tuple[NDArray[np.int64], int]:
        """The respondents who were asked a question, and its place on their ballot."""
        ballot, place = (int(found[0]) for found in np.nonzero(self.design.asked == index))
        return self.rows_of(ballot), place

    # -- privacy -----------------------------------------------------------------------------------------------

    @property
    def ratio(self) -> Fraction | float:
        """The most that any ballot of any published block could reveal."""
        # Most blocks share their rarest fakes, the floor: compare each combination of a ballot's ratios once.
        found = {
            tuple((block.keep[index], min(block.fakes[index])) for index in ballot)
            for ballot in self.design.ballots
            for block in self.published
        }
        return max(compose(1 + Fraction(k, r) if r else math.inf for k, r in ballot) for ballot in found)

    @property
    def disclosed(self) -> float:
        """The share of respondents who reported a cell that no fake could be: they said the truth, and it shows."""
        shown = np.zeros(self.n, dtype=bool)
        for index in range(len(self.design.questions)):
            rows, place = self.asked(index)
            never = np.array([[weight == 0 for weight in block.fakes[index]] for block in self.published])
            shown[rows] |= never[self.blocks[rows], self.answers[rows, place]]
        return float(shown.mean())

    def describe(self, *, published: int | None = None, delta: float | None = None) -> Statement:
        """What these reports reveal, now that the blocks are known."""
        notes = self.design.describe(published=published, delta=delta).notes
        if self.design.mode == "ldp":
            return Statement(self.ratio, (*notes, *self.notes))
        told = (
            f"Of {self.n} respondents, {self.disclosed:.2%} reported a cell that no fake could be: disclosed for "
            f"certain."
        )
        return Statement(self.ratio, (*notes[:-1], self.design.both_numbers(self.ratio), told, *self.notes))

    @property
    def header(self) -> Header:
        """What a file of these reports says about them, with everything that was published."""
        texts = [block.canonical().decode() for block in self.published]
        return replace(super().header, more={"blocks": msgspec.json.encode(texts).decode()} if texts else {})

    # -- as a frame --------------------------------------------------------------------------------------------

    def _chosen(self, rows: NDArray[np.int64]) -> dict[str, Any]:
        return {**super()._chosen(rows), "blocks": readonly(self.blocks[rows])}

    def _columns(self, rows: slice) -> dict[str, NDArray[Any]]:
        return {BLOCK: self.blocks[rows], **super()._columns(rows)}

    def __repr__(self) -> str:
        shown = "" if self.design.mode == "ldp" else f", {self.disclosed:.2%} disclosed with certainty"
        return f"<BlockReports of {self.n} respondents in {len(self.published)} blocks{shown}; {self.design!r}>"
