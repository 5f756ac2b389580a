"""Pairs: two devices find each other through the server and share a coin that it does not see (JRR).

::

    device a  --  public key  -->   server   <--  public key  --  device b      keys made for this, and thrown away
              <--  key of b   --  matches at  --   key of a  -->
                                    random
    shared secret (X25519)  -->  a bit a question  -->  +1 for one of the two, -1 for the other

An honest server learns who was matched, but not the coin. One that is not honest can be a partner itself: it answers
with keys of its own. So the privacy statement counts a matching server as a partner who knows the coin, and the design
is charged that way. Whoever finds no partner in time tosses the coin alone, which is plain randomized response.
"""

from __future__ import annotations

import secrets
import threading
from itertools import takewhile
from time import monotonic
from typing import TYPE_CHECKING

from deniable.collection.messages import Found

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.collection.verify import VerifiedDesign

WAIT = 20  # seconds that a device looks for a partner
ROUND = 1.0  # seconds between two matchings
_MOST = 20_000  # devices that may be waiting or matched at one time


class Matcher:
    """Matches the keys that wait, at random, once a round. Remembers a match for as long as somebody may ask."""

    def __init__(self, wait: int = WAIT, *, now: Callable[[], float] = monotonic) -> None:
        """Take how long a device waits."""
        self._wait, self._now, self._lock = wait, now, threading.Lock()
        self._since: dict[str, float] = {}
        self._partner: dict[str, str] = {}
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
            left = self._since[key] + self._wait - now
            return Found(1, self._partner.get(key), max(0, int(left)))

    def _match(self) -> None:
        waiting = [key for key in self._since if key not in self._partner]
        secrets.SystemRandom().shuffle(waiting)
        for one, two in zip(waiting[0::2], waiting[1::2], strict=False):
            self._partner[one], self._partner[two] = two, one

    def _forget(self, now: float) -> None:
        # In the order in which they came: the oldest are at the front.
        for key in list(takewhile(lambda key: now - self._since[key] > 2 * self._wait, self._since)):
            del self._since[key]
            self._partner.pop(key, None)


class Seeker:
    """A device's half: one key, used for one pair."""

    def __init__(self, design: VerifiedDesign) -> None:
        """Make a key."""
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        self._design, self._secret = design, X25519PrivateKey.generate()
        self.key = self._secret.public_key().public_bytes_raw().hex()

    def sides(self, partner: str | None) -> list[int]:
        """For every question, which way the coin points for this device: +1 or -1; without a partner, by chance."""
        number = len(self._design.questions)
        if partner is None or partner == self.key:
            return [1 - 2 * secrets.randbits(1) for _ in range(number)]
        try:
            shared = self._shared(partner, number)
        except ValueError:  # a key that shares the same secret with everybody: nobody to share a coin with
            return self.sides(None)
        side = 1 if self.key < partner else -1
        return [side * (1 - 2 * (byte & 1)) for byte in shared]

    def _shared(self, partner: str, length: int) -> bytes:
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        shared = self._secret.exchange(X25519PublicKey.from_public_bytes(bytes.fromhex(partner)))
        both = bytes.fromhex(self._design.id) + b"".join(bytes.fromhex(key) for key in sorted((self.key, partner)))
        return HKDF(hashes.SHA256(), length, salt=None, info=b"deniable/1/pair:" + both).derive(shared)
