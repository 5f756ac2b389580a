"""Blind RSA signatures, RFC 9474: a signer lets somebody in without learning whom it will see later.

::

    device                                       issuer
    prepare, blind     ---  blinded  --->
                       <--  signature of it ---  sign
    unblind, verify                                        (later, and to anybody:)   token, signature  --->  verify

What the issuer signs is multiplied by a random number that only the device knows: every token is equally likely to be
behind it. The variant is RSABSSA-SHA384-PSS-Randomized, which RFC 9474 recommends; the tests run all four.

This is the device's half, plain integers and `hashlib`; the issuer's is `deniable.collection.token_issuer`.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import TYPE_CHECKING

from deniable.errors import PrivacyError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

_HASH = hashlib.sha384
_DIGEST = 48  # bytes
SALT = 48  # bytes: "PSS"; 0 is "PSSZERO"
PREFIX = 32  # bytes: "Randomized"
LEAST_BITS, MOST_BITS = 2048, 8192


@dataclass(frozen=True)
class PublicKey:
    """The issuer's public key."""

    n: int
    e: int = 65537

    @property
    def size(self) -> int:
        """The length of a signature in bytes."""
        return (self.n.bit_length() + 7) // 8

    @property
    def is_sound(self) -> bool:
        """Whether a device should use it: long enough, and with the exponent that everybody uses."""
        return LEAST_BITS <= self.n.bit_length() <= MOST_BITS and self.n % 2 == 1 and self.e == 65537

    @cached_property
    def checker(self) -> RSAPublicKey:
        """The same for the library that checks signatures: making it takes longer than a signature."""
        from cryptography.hazmat.primitives.asymmetric import rsa

        return rsa.RSAPublicNumbers(self.e, self.n).public_key()


@dataclass(frozen=True)
class Blinded:
    """A blinded message, and the secret that undoes the blinding."""

    message: bytes
    inverse: int


def prepare(message: bytes, prefix: int = PREFIX) -> bytes:
    """Put random bytes before a message, so that not even a dishonest issuer's key can mark it."""
    return secrets.token_bytes(prefix) + message


def blind(key: PublicKey, message: bytes, *, salt: int | bytes = SALT, inverse: int | None = None) -> Blinded:
    """Blind a prepared message (RFC 9474, Blind). The salt's bytes and the inverse are given in tests only."""
    number = int.from_bytes(encode(message, key, secrets.token_bytes(salt) if isinstance(salt, int) else salt), "big")
    if gcd(number, key.n) != 1:
        raise PrivacyError("the issuer's key is broken: it shares a factor with a random number")
    if inverse is None:
        factor = secrets.randbelow(key.n - 1) + 1
        if gcd(factor, key.n) != 1:
            raise PrivacyError("the issuer's key is broken: it shares a factor with a random number")
        inverse = pow(factor, -1, key.n)
    else:
        factor = pow(inverse, -1, key.n)
    return Blinded((number * pow(factor, key.e, key.n) % key.n).to_bytes(key.size, "big"), inverse)


def finalize(key: PublicKey, message: bytes, signed: bytes, inverse: int, *, salt: int = SALT) -> bytes:
    """Turn the signature of the blinded message into one of the message, and check it (RFC 9474, Finalize).

    Raises:
        PrivacyError: it is none.
    """
    signature = (int.from_bytes(signed, "big") * inverse % key.n).to_bytes(key.size, "big")
    if len(signed) != key.size or not verify(key, message, signature, salt=salt):
        raise PrivacyError("the issuer's signature is not one of what it was sent")
    return signature


def verify(key: PublicKey, message: bytes, signature: bytes, *, salt: int = SALT) -> bool:
    """Tell whether this is a signature of the prepared message: RSASSA-PSS, as any library has it."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding

    scheme = padding.PSS(padding.MGF1(hashes.SHA384()), salt)
    try:
        key.checker.verify(signature, message, scheme, hashes.SHA384())
    except InvalidSignature:
        return False
    return True


def encode(message: bytes, key: PublicKey, salt: bytes) -> bytes:
    """EMSA-PSS-ENCODE of RFC 8017 with SHA-384, for n's length less one bit."""
    bits = key.n.bit_length() - 1
    size = (bits + 7) // 8
    digest = _HASH(bytes(8) + _HASH(message).digest() + salt).digest()
    block = bytes(size - len(salt) - _DIGEST - 2) + b"\x01" + salt
    masked = int.from_bytes(block, "big") ^ int.from_bytes(_mask(digest, len(block)), "big")
    masked &= (1 << (bits - 8 * (_DIGEST + 1))) - 1  # the bits beyond n's length
    return masked.to_bytes(len(block), "big") + digest + b"\xbc"


def _mask(seed: bytes, length: int) -> bytes:
    """MGF1."""
    parts = (_HASH(seed + count.to_bytes(4, "big")).digest() for count in range(-(-length // _DIGEST)))
    return b"".join(parts)[:length]
