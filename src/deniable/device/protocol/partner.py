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
import time
from typing import TYPE_CHECKING

from deniable.device.protocol.canonical_json import decode, encode
from deniable.device.protocol.collector_connection import MOST_ANSWER
from deniable.device.protocol.messages import Found, Seeking

if TYPE_CHECKING:
    from deniable.device.protocol.collector_connection import Line
    from deniable.device.verified_design import VerifiedDesign

_LONGEST_SEARCH = 60.0  # seconds for a partner, whatever the collector says
PAUSE = 0.5  # seconds between two questions for one


def find_sides(line: Line, design: VerifiedDesign) -> list[int]:
    """Look for a partner, and agree on the coins with them; alone after the wait that the collector states."""
    seeker = Seeker(design)
    deadline = time.monotonic() + _LONGEST_SEARCH
    while True:
        found = find_partner(line, design, seeker)
        if found.partner is not None:
            return seeker.sides(found.partner)
        if not found.wait or time.monotonic() > deadline:
            return seeker.sides(None)
        time.sleep(PAUSE)


def find_partner(line: Line, design: VerifiedDesign, seeker: Seeker) -> Found:
    """Ask once who the partner is."""
    asked = encode(Seeking(1, design.id, seeker.key))
    return decode(line.apply("/v1/partners", asked), Found, most=MOST_ANSWER)


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
