"""Local hashing: a random hash function of the categories, and the disguised hash value of the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from deniable.device.channels.channel_kind import SetKind
from deniable.device.channels.krr import KRRWeights
from deniable.device.random_draws import below
from deniable.device.refusal import refuse

if TYPE_CHECKING:
    from fractions import Fraction

    from deniable.device.random_draws import Draw

PRIME = 65537
MOST_VALUES = 31  # functions and values then fit 53 bits
ANSWERS = 1 << 53


def is_prime(n: int) -> bool:
    """Whether a number up to 65537 is a prime.

    >>> [n for n in range(20) if is_prime(n)]
    [2, 3, 5, 7, 11, 13, 17, 19]
    """
    return n >= 2 and all(n % d for d in range(2, int(n**0.5) + 1))


class HashingWeights(SetKind, frozen=True, tag="hashing", tag_field="kind", omit_defaults=True):
    """A random hash function of the k categories modulo a prime, and the disguised hash `value` of the truth.

    Up to 31 values the prime is 65537; more leave room for a smaller one only, which is then written.
    """

    value: KRRWeights
    prime: Annotated[int, Meta(ge=2, lt=1 << 32)] = 0

    @property
    def modulus(self) -> int:
        """The prime."""
        return self.prime or PRIME

    @property
    def reports(self) -> int:
        """Every function with every value."""
        return self.modulus**3 * self.value.k

    @property
    def ratio(self) -> Fraction:
        """That of the value: which function it is says nothing about the answer."""
        return self.value.ratio

    def check(self, name: str) -> None:
        """The value is mostly kept, and functions and values fit one number."""
        self.value.check_mostly_true(name)
        few = self.value.k <= MOST_VALUES
        if not 2 <= self.k <= self.modulus or few != (self.prime == 0):
            refuse("wrong-cells", f"question {name!r}: {self.k} categories hashed to {self.value.k} values")
        if self.prime and (self.prime > PRIME or not is_prime(self.prime) or self.reports > ANSWERS):
            refuse("wrong-cells", f"question {name!r}: functions modulo {self.prime} and values do not fit one number")

    def outcome(self, truth: int, draw: Draw) -> int:
        """The function's A, B and C, each an even number below the prime; then one draw for the hash value."""
        prime = self.modulus
        a, b, c = (below(prime, draw) for _ in range(3))
        hashed = (a + b * truth + c * truth**2) % prime * self.value.k // prime
        return ((a * prime + b) * prime + c) * self.value.k + self.value.disguise(hashed, draw)
