"""How many pairs can have been completed: two numbers, kept in the store, and nothing about who met whom.

**told** counts the devices that were told how to toss their coin: with a partner, or alone. **met** counts the pairs of
which both were told. Whoever was told and sent nothing breaks one pair at most, so of n reports at least

    K = met - (told - n)        pairs are complete, and never more than met.

That is what errors are computed with: they may be a little too large, and, made-up reports aside, never too small.
Nothing has to be written into a report for it, and no report can be connected with a pair. Numbers are written once a
second at most; a server that is killed forgets its last second.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deniable.storage.store import Store


class Met(NamedTuple):
    """What matching came to."""

    pairs: int = 0
    told: int = 0

    def completed(self, reports: int) -> int:
        """Of how many pairs both have reported, at least.

        >>> Met(pairs=10, told=23).completed(23), Met(pairs=10, told=23).completed(20), Met(10, 23).completed(2)
        (10, 7, 0)
        """
        return max(0, min(self.pairs, self.pairs - (self.told - reports), reports // 2))


class Meetings:
    """The numbers of one design, as they grow. Belongs to the one server that matches its respondents."""

    def __init__(self, store: Store, design_id: str) -> None:
        """Go on from what the store knows."""
        self._store, self._name = store, _name(design_id)
        self._counting, self._writing = threading.Lock(), threading.Lock()
        self.now = self._written = met_of(store, [design_id])

    def add(self, pairs: int, told: int) -> None:
        """Count what one answer of the matcher came to."""
        with self._counting:
            self.now = Met(self.now.pairs + pairs, self.now.told + told)

    def write(self) -> None:
        """Keep the numbers. The new ones are there before the old ones go: of both, the larger count."""
        with self._writing:
            with self._counting:
                now = self.now
            if now == self._written:
                return
            old = set(self._store.saved_under(self._name))
            new = f"{self._name}{now.told}"
            self._store.save(new, msgspec.json.encode(now))
            for name in old - {new}:
                self._store.drop(name)
            self._written = now


def met_of(store: Store, designs: Iterable[str]) -> Met:
    """What matching came to, for a design and its amendments together."""
    found = [
        max((Met(*msgspec.json.decode(body, type=tuple[int, int])) for body in kept.values()), key=lambda met: met.told)
        for kept in (store.saved_under(_name(design)) for design in designs)
        if kept
    ]
    return Met(sum(met.pairs for met in found), sum(met.told for met in found))


def _name(design_id: str) -> str:
    return f"meetings {design_id} "
