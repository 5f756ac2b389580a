"""Views in blocks of respondents, whose fakes follow what was learned so far.

In mode "deniability" the truth is kept as often as the published protocol does, which claims less than a report may
tell: the file must accept that in so many words, and epsilon is the true one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.device.protocol.messages import FEWEST_TOGETHER
from deniable.errors import SurveyError
from deniable.extensions.designs.blocks import Blocks

if TYPE_CHECKING:
    from deniable.surveys.designs.wish import Wish

KEYS = ("k", "answer", "phi", "block_size", "mode", "keep", "accept")
ACCEPT = "deniability instead of differential privacy"


def make(wish: Wish) -> Blocks:
    """The design that a file asks for."""
    entry = wish.entry
    k, answer = 2 if entry.k is None else entry.k, entry.answer or "one"
    size = 250 if entry.block_size is None else entry.block_size
    if size < FEWEST_TOGETHER:
        raise SurveyError(
            f"design.block_size: {size} reports a block; at least {FEWEST_TOGETHER} are needed. Every stored report "
            f"names its block, and the fakes of the next follow from it: in fewer, a single report could be read off",
            path="design.block_size",
        )
    if entry.mode == "deniability":
        return _deniable(wish, k, size)
    for name, value in (("keep", entry.keep), ("accept", entry.accept)):
        if value is not None:
            raise SurveyError(f'design.{name}: goes with mode = "deniability" alone', path=f"design.{name}")
    phi = 0.5 if entry.phi is None else entry.phi
    return Blocks(wish.domain, k, wish.epsilon, answer=answer, phi=phi, block_size=size)


def _deniable(wish: Wish, k: int, size: int) -> Blocks:
    entry = wish.entry
    if entry.accept != ACCEPT:
        raise SurveyError(
            f'design.accept: mode = "deniability" claims ln(1 / (1 - keep)) for an answer; its reports may tell all '
            f'of the survey\'s epsilon. Respondents are shown both, and must agree. Say accept = "{ACCEPT}"',
            path="design.accept",
        )
    if entry.keep is None or entry.phi is not None:
        raise SurveyError(
            'design.keep: mode = "deniability" needs keep, the probability of the truth, and takes no phi',
            path="design.keep",
        )
    return Blocks(
        wish.domain,
        k,
        wish.epsilon,
        answer=entry.answer or "one",
        block_size=size,
        mode="deniability",
        keep=entry.keep,
        most_told=wish.epsilon,
    )
