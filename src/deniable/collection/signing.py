"""The issuer's half of blind RSA signatures (RFC 9474); the device's is `deniable.device.protocol.blind_signature`.

Signing uses gmpy2, whose powers take the same time for every number: the issuer raises numbers that strangers chose to
a secret power.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.device.protocol.blind_signature import PublicKey
from deniable.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class SecretKey:
    """The issuer's primes."""

    p: int
    q: int
    e: int = 65537

    @cached_property
    def public(self) -> PublicKey:
        """What everybody may know."""
        return PublicKey(self.p * self.q, self.e)

    @classmethod
    def generate(cls, bits: int = 3072) -> SecretKey:
        """Make a key."""
        from cryptography.hazmat.primitives.asymmetric import rsa

        made = rsa.generate_private_key(public_exponent=65537, key_size=bits).private_numbers()
        return cls(made.p, made.q)

    def sign(self, blinded: bytes) -> bytes:
        """Sign what a device has blinded (RFC 9474, BlindSign).

        Raises:
            ValueError: this is no number below n.
        """
        powmod = constant_time_power()
        key, number = self.public, int.from_bytes(blinded, "big")
        if len(blinded) != key.size or not 0 < number < key.n:
            raise ValueError("not a blinded message for this key")
        # By the Chinese remainder theorem, half of the length each.
        of_p = int(powmod(number % self.p, pow(self.e, -1, self.p - 1), self.p))
        of_q = int(powmod(number % self.q, pow(self.e, -1, self.q - 1), self.q))
        signed = of_q + self.q * ((of_p - of_q) * pow(self.q, -1, self.p) % self.p)
        if pow(signed, self.e, key.n) != number:  # a fault in either half would give the primes away
            raise ArithmeticError("the signature came out wrong")
        return signed.to_bytes(key.size, "big")


def constant_time_power() -> Callable[[int, int, int], int]:
    """The power that blind tokens are signed with, if it is installed."""
    try:
        from gmpy2 import powmod_sec
    except ImportError as error:
        raise MissingExtraError(
            "blind tokens need gmpy2, which is not installed: pip install 'deniable[tokens]'", extra="tokens"
        ) from error
    power: Callable[[int, int, int], int] = powmod_sec
    return power
