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
from deniable.device.protocol.exchange import Context, Exchange
from deniable.device.protocol.messages import Found, Seeking

if TYPE_CHECKING:
    from deniable.device.channels.channel_kind import Kind
    from deniable.device.protocol.collector_connection import Line
    from deniable.device.random_draws import Draw
    from deniable.device.verified_design import VerifiedDesign

_LONGEST_SEARCH = 60.0  # seconds for a partner, whatever the collector says
PAUSE = 0.5  # seconds between two questions for one


class InPair(Context):
    """The coins that are shared with a partner, or tossed alone after the wait that the collector states."""

    def __init__(self, line: Line, design: VerifiedDesign) -> None:
        """Make a key; nobody is looked for yet."""
        self._line, self._design, self._seeker = line, design, Seeker(design)
        self._deadline: float | None = None
        self.sides: list[int] = []  # for every question, which way the coin points for this device

    def settle(self) -> float | None:
        """Ask once who the partner is."""
        if self.sides:
            return None
        now = time.monotonic()
        self._deadline = now + _LONGEST_SEARCH if self._deadline is None else self._deadline
        asked = encode(Seeking(1, self._design.id, self._seeker.key))
        found = decode(self._line.apply("/v1/partners", asked), Found, most=MOST_ANSWER)
        if found.partner is None and found.wait and now <= self._deadline:
            return PAUSE
        self.sides = self._seeker.sides(found.partner)
        return None

    def answer(self, question: int, channel: Kind, cell: int, draw: Draw) -> int:
        """As often the truth as the coin says."""
        return channel.beside(cell, draw, self.sides[question])


class Pairs(Exchange):
    """A partner is looked for once the ballot is paid for: whoever is not to answer keeps nobody waiting."""

    waits = True

    def before(self, line: Line, design: VerifiedDesign) -> InPair:
        """A key for one pair."""
        return InPair(line, design)


EXCHANGE = Pairs()


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
