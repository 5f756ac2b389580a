"""The published blocks of a design: the open one, checked, and the whole chain of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from deniable.device.protocol.fake_blocks import Block, check, check_chain
from deniable.device.protocol.messages import MOST_DESIGN_BYTES
from deniable.errors import CollectorError, PrivacyError

if TYPE_CHECKING:
    from deniable.device.fake_limits import Limits
    from deniable.device.protocol.collector_connection import Line
    from deniable.device.verified_design import VerifiedDesign, VerifiedQuestion

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


def _page(line: Line, design: VerifiedDesign, after: int) -> list[Block]:
    page = line.get(f"/v1/designs/{design.id}/blocks?after={after}", MOST_PAGE)
    try:
        parts = _RAW.decode(page)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CollectorError(f"{line.url} answered with something else than blocks", url=line.url) from error
    return [Block.parse(bytes(part)) for part in parts]
