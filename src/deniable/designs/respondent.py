"""Respondent: the device's half of RRBA. It draws, checks, pays and answers; it trusts nobody.

1. It checks the published block against the design, and against the blocks it has seen before.
2. It draws its own ballot, which nobody else chooses and no value influences.
3. It charges the ballot to its ledger before it looks at the answer. The ledger takes one answer a design, ever, so
   the same respondent is never in two blocks.
4. It keeps the truth or draws a fake, by one 32-bit draw a question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from deniable.designs.block import Block, check, check_chain
from deniable.designs.fakes import BITS
from deniable.errors import PrivacyError
from deniable.privacy.epsilon import compose
from deniable.privacy.ledger import Asked, Ledger
from deniable.randomness import SECURE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from deniable.designs.blocks import Blocks
    from deniable.domain import Category


class BlockReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one respondent sends: which block and ballot, and the disguised answers. Nothing else."""

    design: str
    block: int
    block_id: str
    ballot: int
    answers: tuple[int, ...]


class Respondent:
    """One person's device.

    >>> from deniable.designs.aggregator import Aggregator
    >>> from deniable.designs.blocks import Blocks
    >>> design = Blocks({"a": [0, 1], "b": [0, 1]}, epsilon=1.0, block_size=1)
    >>> aggregator, respondent = Aggregator(design), Respondent(design, Ledger(limit=2.0))
    >>> aggregator.receive(respondent.answer(aggregator.block, {"a": 0, "b": 1}))
    >>> round(respondent.ledger.epsilon_spent, 3) <= 1.0
    True
    """

    def __init__(self, design: Blocks, ledger: Ledger, last: Block | None = None) -> None:
        """Take the design, the device's lifetime account, and the last block it was ever shown."""
        self.design, self.ledger, self.last = design, ledger, last

    def follow(self, blocks: Iterable[Block]) -> None:
        """Check blocks that were published since the last one seen, and remember the last of them."""
        for block in blocks:
            if self.last is not None and block.index == self.last.index and block.id == self.last.id:
                continue  # the very block that is known already
            self.last = check_chain([block], self.design, self.last)

    def answer(self, block: Block, record: Mapping[str, Category], missed: Iterable[Block] = ()) -> BlockReport:
        """Answer in a block; `missed` are the blocks published between the last one seen and this one.

        A device that has seen no block of this design takes the first one as it comes, provided that it keeps the
        bound, and remembers it: later blocks must follow from it.
        """
        given = list(missed)
        if self.last is None and not given:
            check(block, self.design)
            self.last = block
        else:
            self.follow([*given, block])
        ballot = int(SECURE.stream().below(len(self.design.ballots), 1)[0])
        asked = self.design.ballots[ballot]
        # All of it is public: neither the charge nor a refusal says anything about the record.
        ratio = compose(block.ratio(index) for index in asked)
        if isinstance(ratio, float):
            raise PrivacyError(
                f"block {block.index} is refused: some report to its ballot {ballot} would be known to be the truth "
                f"(epsilon is infinite), which no account can pay for",
                problem="zero",
                block=block,
            )
        self.ledger.charge(Asked(self.design.id, ballot, ratio))
        answers = tuple(self._disguise(block, index, record) for index in asked)
        return BlockReport(self.design.id, block.index, block.id, ballot, answers)

    def _disguise(self, block: Block, index: int, record: Mapping[str, Category]) -> int:
        truth = 0
        for name in self.design.questions[index].attributes:
            variable = self.design.domain[name]
            truth = truth * len(variable) + variable.code(record[name])
        draw = int(SECURE.stream().words(1, BITS)[0]) - block.keep[index]
        if draw < 0:
            return truth
        for fake, weight in enumerate(block.fakes[index]):
            draw -= weight
            if draw < 0:
                return fake
        raise AssertionError  # pragma: no cover - checked blocks sum to 2^32
