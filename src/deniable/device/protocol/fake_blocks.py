"""Blocks of fakes as they are published: a distribution for every question, in a hash chain that devices check.

A block names its design and the hash of the block before it (the first one: the design's own id). Whoever keeps the
hash of a block they were shown can later tell whether everybody else was shown the same one.

Nobody needs to trust what is published: `check` recomputes everything that matters from the integers. A block that
passes cannot break the design's epsilon, however cunningly its fakes were chosen.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import msgspec

from deniable.device.channels.mixture import MixtureWeights
from deniable.device.epsilon import compose, epsilon_of, exp_below
from deniable.device.fake_limits import BITS, WHOLE
from deniable.device.protocol.canonical_json import Whole
from deniable.device.protocol.exchange import Context, Exchange
from deniable.device.protocol.messages import MOST_DESIGN_BYTES
from deniable.errors import CollectorError, InputError, PrivacyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deniable.device.channels.channel_kind import Kind
    from deniable.device.fake_limits import Limits
    from deniable.device.protocol.collector_connection import Line
    from deniable.device.random_draws import Draw
    from deniable.device.verified_design import VerifiedDesign, VerifiedQuestion

FORMAT = 1


class Block(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """The published integers: for every question of the design, keep and fakes sum to 2^32."""

    design: str
    index: Whole
    previous: str
    keep: tuple[Whole, ...]
    fakes: tuple[tuple[Whole, ...], ...]
    format: Whole = FORMAT

    def canonical(self) -> bytes:
        """The block as bytes, always the same for the same block."""
        return msgspec.json.encode(self, order="deterministic")

    @cached_property
    def id(self) -> str:
        """SHA-256 of the canonical bytes: the next block's `previous`."""
        return hashlib.sha256(self.canonical()).hexdigest()

    @classmethod
    def parse(cls, data: bytes) -> Block:
        """Read a block; unknown fields, wrong types and unknown formats are refused."""
        try:
            block = msgspec.json.decode(data, type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:  # a ValidationError is one too
            raise InputError(f"this is not a block: {error}") from None
        if block.format != FORMAT:
            raise InputError(f"block format {block.format} is not known, only {FORMAT}", format=block.format)
        return block

    def ratio(self, question: int) -> Fraction | float:
        """A question's ratio in this block: 1 + keep / rarest fake."""
        rarest = min(self.fakes[question])
        return 1 + Fraction(self.keep[question], rarest) if rarest else float("inf")


class Named(Protocol):
    """A question."""

    @property
    def name(self) -> str:
        """Its attributes, joined."""
        ...


class InBlocks(Protocol):
    """What a design in blocks says about all of them."""

    @property
    def id(self) -> str:
        """What the first block follows, and all name."""
        ...

    @property
    def questions(self) -> Sequence[Named]:
        """What is asked."""
        ...

    @property
    def ballots(self) -> Sequence[Sequence[int]]:
        """Which questions are asked together."""
        ...

    @property
    def limits(self) -> Sequence[Limits]:
        """What every block must keep, question by question."""
        ...

    @property
    def mode(self) -> str:
        """Whether the limits keep an epsilon: "ldp" if so."""
        ...

    @property
    def requested(self) -> float:
        """The epsilon that a respondent is promised."""
        ...


def check(block: Block, design: InBlocks) -> None:
    """Refuse a block that does not keep what the design promises. `problem` says which rule is broken.

    Raises:
        PrivacyError: with problem = "design", "questions", "zero", "sum", "keep", "floor" or "epsilon".
    """
    if block.design != design.id:
        _refuse(block, "design", f"was published for design {block.design[:12]}..., not for {design.id[:12]}...")
    if len(block.keep) != len(design.questions) or len(block.fakes) != len(design.questions):
        _refuse(
            block, "questions", f"has fakes for {len(block.fakes)} questions; the design has {len(design.questions)}"
        )
    for index in range(len(design.questions)):
        _check_question(block, design, index)
    if design.mode == "ldp":
        allowed = exp_below(design.requested)
        for ballot in design.ballots:
            spent = compose(block.ratio(index) for index in ballot)
            if spent > allowed:  # what was checked above implies that it is not; checked all the same
                _refuse(
                    block, "epsilon", f"lets a ballot spend {epsilon_of(spent):.6g}, more than {design.requested:g}"
                )


def _check_question(block: Block, design: InBlocks, index: int) -> None:
    question, limits, keep, fakes = design.questions[index], design.limits[index], block.keep[index], block.fakes[index]
    where = f"question {question.name!r}"
    least = min(fakes, default=0)
    if len(fakes) != limits.cells:
        _refuse(block, "questions", f"has {len(fakes)} fakes for {where}, which has {limits.cells} cells")
    if least < (1 if limits.floor else 0):
        what = f"has a fake of weight {least} for {where}: whoever reported that cell would be known to mean it"
        _refuse(block, "zero", what)
    if keep < 1 or keep + sum(fakes) != WHOLE:
        _refuse(block, "sum", f"has draws for {where} that sum to {keep + sum(fakes)}, not to 2^{BITS} = {WHOLE}")
    if keep > limits.keep:
        _refuse(
            block, "keep", f"keeps the truth of {where} in {keep} of 2^{BITS} draws, above the design's {limits.keep}"
        )
    if least < limits.floor:
        _refuse(block, "floor", f"has a fake of weight {least} for {where}, below the design's floor {limits.floor}")


def check_chain(blocks: Iterable[Block], design: InBlocks, last: Block | None = None) -> Block | None:
    """Check blocks that follow each other, the first of them behind `last` (or the first of all); returns the last.

    Raises:
        PrivacyError: with problem = "chain" where a block does not follow the one before it, else as `check` does.
    """
    for block in blocks:
        index, previous = (0, design.id) if last is None else (last.index + 1, last.id)
        if block.index != index:
            _refuse(block, "chain", f"came where block {index} was due")
        if block.previous != previous:
            _refuse(
                block,
                "chain",
                f"says that {block.previous[:12]}... came before it, but what was published before it is "
                f"{previous[:12]}...: somebody was shown another block",
            )
        check(block, design)
        last = block
    return last


def _refuse(block: Block, problem: str, what: str) -> None:
    raise PrivacyError(f"block {block.index} is refused: it {what}", problem=problem, block=block)


MOST_PAGE = 1 << 22
_MOST_BLOCKS = 100_000
_RAW = msgspec.json.Decoder(list[msgspec.Raw])


@dataclass(frozen=True)
class _Rules:
    """What the design says about all of its blocks."""

    id: str
    questions: tuple[VerifiedQuestion, ...]
    ballots: tuple[tuple[int, ...], ...]
    limits: tuple[Limits, ...]
    requested: float
    mode: str = "ldp"


def _rules(design: VerifiedDesign) -> _Rules:
    limits = tuple(question.channel.limits for question in design.questions)
    assert None not in limits
    return _Rules(design.plan_id, design.questions, design.ballots, limits, float(design.message.epsilon))  # type: ignore[arg-type]


def open_block(line: Line, design: VerifiedDesign) -> Block:
    """The open block, checked."""
    block = Block.parse(line.get(f"/v1/designs/{design.id}/block", MOST_DESIGN_BYTES))
    check(block, _rules(design))
    return block


def follow(line: Line, design: VerifiedDesign, seen: bytes | None) -> int:
    """Check that a block was shown to everybody: its bytes are part of the published chain. Returns the chain's length.

    Raises:
        PrivacyError: it is not, or some block does not follow from the one before it.
    """
    rules, last, found = _rules(design), None, 0
    while blocks := _page(line, design, found - 1):
        last = check_chain(blocks, rules, last)
        found += len(blocks)
        if seen is not None and any(block.canonical() == seen for block in blocks):
            seen = None
        if found > _MOST_BLOCKS:
            raise PrivacyError(f"the collector shows more than {_MOST_BLOCKS} blocks")
    if seen is not None:
        raise PrivacyError("this device was shown a block that was not published to everybody")
    return found


class InBlock(Context):
    """The mixtures of one block, by which every answer of a report is disguised."""

    def __init__(self, block: Block) -> None:
        """Take a block that was checked."""
        self._of, self.block, self.kept = block, block.id, block.canonical()

    def answer(self, question: int, channel: Kind, cell: int, draw: Draw) -> int:  # noqa: ARG002 - it holds limits alone
        """Through the block's own mixture."""
        return MixtureWeights(self._of.keep[question], self._of.fakes[question], BITS).disguise(cell, draw)


class Blocks(Exchange):
    """The open block is fetched and checked; under a blind token the whole chain is followed, which has to hold it."""

    accept = "blocks"

    def weakens(self, design: VerifiedDesign) -> str | None:
        """A block of one's own would undo what a blind token hides."""
        if design.message.admission != "blind":
            return None
        return (
            "this survey has blind tokens, and its fakes are published block by block. Whoever shows a block to "
            "you alone can recognise your report by it. The device compares the whole chain first; what a "
            "chain made for you alone would tell it cannot see."
        )

    def before(self, line: Line, design: VerifiedDesign) -> InBlock:
        """The open block."""
        block = open_block(line, design)
        if self.weakens(design) is not None:
            follow(line, design, block.canonical())
        return InBlock(block)


EXCHANGE = Blocks()


def _page(line: Line, design: VerifiedDesign, after: int) -> list[Block]:
    page = line.get(f"/v1/designs/{design.id}/blocks?after={after}", MOST_PAGE)
    try:
        parts = _RAW.decode(page)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CollectorError(f"{line.url} answered with something else than blocks", url=line.url) from error
    return [Block.parse(bytes(part)) for part in parts]
