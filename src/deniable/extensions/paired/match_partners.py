"""Pairs, the server's half: it matches devices that look for a partner, at random (`deniable.device.protocol.partner`).

How many pairs can have been completed: two numbers, kept in the store, and nothing about who met whom.

**told** counts the devices that were told how to toss their coin: with a partner, or alone. **met** counts the pairs of
which both were told. Whoever was told and sent nothing breaks one pair at most, so of n reports at least

    K = met - (told - n)        pairs are complete, and never more than met.

That is what errors are computed with: they may be a little too large, and, made-up reports aside, never too small.
Nothing has to be written into a report for it, and no report can be connected with a pair. Numbers are written once a
second at most; a server that is killed forgets its last second.
"""

from __future__ import annotations

import secrets
import threading
from contextlib import suppress
from itertools import takewhile
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, cast

import msgspec

from deniable.collection.session import Session
from deniable.collection.shown_state import Shown
from deniable.device.protocol.messages import Found
from deniable.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from deniable.storage.store import Readable, Store

WAIT = 20  # seconds that a device looks for a partner
ROUND = 1.0  # seconds between two matchings
_MOST = 20_000  # devices that may be waiting or matched at one time


class Matcher:
    """Matches the keys that wait, at random, once a round. Remembers a match for as long as somebody may ask."""

    def __init__(
        self,
        wait: int = WAIT,
        *,
        now: Callable[[], float] = monotonic,
        count: Callable[[int, int], None] = lambda _pairs, _told: None,
    ) -> None:
        """Take how long a device waits, and who counts what it is told: pairs of which both know, and devices."""
        self._wait, self._now, self._count, self._lock = wait, now, count, threading.Lock()
        self._since: dict[str, float] = {}
        self._partner: dict[str, str] = {}
        self._told: set[str] = set()  # who knows how to toss: with a partner, or alone for good
        self._next = 0.0

    def seek(self, key: str) -> Found | None:
        """Say who the partner of a key is, or how long to go on asking. None: too many are here."""
        with self._lock:
            now = self._now()
            self._forget(now)
            if key not in self._since:
                if len(self._since) >= _MOST:
                    return None
                self._since[key] = now
            if now >= self._next:
                self._match()
                self._next = now + ROUND
            partner, left = self._partner.get(key), max(0, int(self._since[key] + self._wait - now))
            if key not in self._told and (partner is not None or not left):
                self._told.add(key)
                self._count(int(partner in self._told), 1)
            return Found(1, partner, left)

    def _match(self) -> None:
        # Whoever was told to go on alone does, and is nobody's partner any more.
        waiting = [key for key in self._since if key not in self._partner and key not in self._told]
        secrets.SystemRandom().shuffle(waiting)
        for one, two in zip(waiting[0::2], waiting[1::2], strict=False):
            self._partner[one], self._partner[two] = two, one

    def _forget(self, now: float) -> None:
        # In the order in which they came: the oldest are at the front.
        for key in list(takewhile(lambda key: now - self._since[key] > 2 * self._wait, self._since)):
            del self._since[key]
            self._partner.pop(key, None)
            self._told.discard(key)


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


class Matching(Session):
    """The numbers of every design of a plan that is served."""

    def __init__(self, store: Store) -> None:
        """Begin without designs."""
        self._store = store
        self.of: dict[str, Meetings] = {}

    def join(self, name: str, number: int) -> None:  # noqa: ARG002 - numbers are kept by the design's name
        """Go on with a design's numbers."""
        self.of[name] = Meetings(self._store, name)

    def close(self) -> None:
        """Keep the numbers. Where the store fails they are kept with those that come next."""
        with suppress(StoreError):
            for each in self.of.values():
                each.write()


def met_with(store: Readable, designs: Iterable[str], reports: int) -> Met:
    """What matching came to, among so many reports that a store has; or had, when somebody first saw so many."""
    names = sorted(designs)
    if not isinstance(store, Shown):
        return met_of(cast("Store", store), names)
    body = store.when_seen(f"meetings {names[0]} {reports}", lambda kept: msgspec.json.encode(met_of(kept, names)))
    return Met(*msgspec.json.decode(body, type=tuple[int, int]))


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
