"""Views in blocks of respondents, whose fakes follow what was learned so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs.blocks.design import Blocks

if TYPE_CHECKING:
    from deniable.surveys.designs.wish import Wish

KEYS = ("k", "answer", "phi", "block_size")


def make(wish: Wish) -> Blocks:
    """The design that a file asks for."""
    entry = wish.entry
    return Blocks(
        wish.domain,
        2 if entry.k is None else entry.k,
        wish.epsilon,
        answer=entry.answer or "one",
        phi=0.5 if entry.phi is None else entry.phi,
        block_size=250 if entry.block_size is None else entry.block_size,
    )
