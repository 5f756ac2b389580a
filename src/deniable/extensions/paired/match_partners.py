"""Pairs, the server's half: it matches devices that look for a partner, at random (`deniable.device.protocol.partner`)."""

from __future__ import annotations

import secrets
import threading
from itertools import takewhile
from time import monotonic
from typing import TYPE_CHECKING

from deniable.device.protocol.messages import Found

if TYPE_CHECKING:
    from collections.abc import Callable

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
