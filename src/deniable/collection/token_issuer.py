"""The issuer of blind tokens (RFC 9474): signs one for each invitation, and keeps no order of who came.

It is apart from the reports: a file of its own, never in a database that others share, and if wanted a program on a
machine of its own (`deniable issuer`). The collector then only needs the issuer's public key: token and signature
travel with the report.

An issuer belongs to one plan (see `invitations.admission_id`): what it signs is good for no other. The device's half of
blind RSA signatures is `deniable.device.protocol.blind_signature`. Signing uses gmpy2, whose powers take the same time
for every number: the issuer raises numbers that strangers chose to a secret power.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from deniable.collection.invitations import digest
from deniable.device.protocol import canonical_json as wire
from deniable.device.protocol.blind_signature import PublicKey
from deniable.device.protocol.messages import MOST_ADMISSION_BYTES, Application, Issuer, Problem, Signed
from deniable.device.protocol.problem_details import problem, read
from deniable.errors import InputError, MessageError, MissingExtraError
from deniable.storage.token_slots import Slots

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


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


_NUMBER = 512  # bytes of a prime, at most


class Issuing(Protocol):
    """What a collector knows of its issuer."""

    @property
    def message(self) -> bytes:
        """The public key, as the bytes that its hash names."""
        ...

    def sign(self, body: bytes) -> Signed | Problem:
        """Sign a blinded token for an invitation."""
        ...

    def end(self) -> None:
        """Issue nothing any more, and forget who was issued something."""
        ...

    def close(self) -> None:
        """Let go of everything that is open."""
        ...


class LocalIssuer:
    """An issuer whose file is here."""

    def __init__(self, path: Path) -> None:
        """Open the file; make a key the first time."""
        self._slots = Slots(path, new_key)

    @cached_property
    def message(self) -> bytes:
        """The public key, as the bytes that its hash names."""
        return self._slots.public

    @property
    def is_over(self) -> bool:
        """Whether the survey was closed: there is no secret key any more."""
        return self._slots.secret is None

    def invite(self, number: int) -> list[str]:
        """Make invitations; this is the only time they can be shown."""
        if self.is_over:
            raise InputError("this survey is closed, and its issuer's secret key was deleted: nobody can be invited")
        made = [secrets.token_urlsafe(24) for _ in range(number)]
        self._slots.add([digest(code) for code in made])
        return made

    def sign(self, body: bytes) -> Signed | Problem:
        """Sign a blinded token for an invitation: this one, and never another. Asked again, the answer is the same."""
        asked = read(body, Application, most=MOST_ADMISSION_BYTES)
        if isinstance(asked, Problem):
            return asked
        secret = self._slots.secret
        if secret is None:
            return problem("closed")
        name, blinded = digest(asked.invitation), bytes.fromhex(asked.blinded)
        if not self._slots.has(name):
            return problem("not-invited")
        try:  # before the slot is used: what cannot be signed costs no invitation
            signature = read_key(secret).sign(blinded)
        except ValueError as error:
            return problem("malformed", str(error))
        wanted = hashlib.sha256(blinded).digest()
        if self._slots.use(name, wanted) != wanted:
            return problem("used")
        return Signed(1, signature.hex())

    def issued(self) -> int:
        """How many tokens were issued."""
        return self._slots.issued()

    def end(self) -> None:
        """Delete the secret key, and mark every invitation as used."""
        self._slots.end()

    def close(self) -> None:
        """Close the file."""
        self._slots.close()


class DistantIssuer:
    """An issuer that is somewhere else: only its public key is known here."""

    def __init__(self, message: bytes) -> None:
        """Take its public key, and refuse one that is no good."""
        public_key(message)
        self.message = message

    def sign(self, _body: bytes) -> Problem:
        """Send whoever asks to the issuer: the proxy should have."""
        return problem("not-found", "Tokens are issued by another program: let the proxy pass this address on to it.")

    def end(self) -> None:
        """Nothing: the issuer is closed where it is."""

    def close(self) -> None:
        """Nothing is open."""


def public_key(message: bytes) -> PublicKey:
    """Read an issuer's public key.

    Raises:
        InputError: it is none, or one that devices refuse.
    """
    try:
        issuer = wire.decode(message, Issuer, most=MOST_ADMISSION_BYTES)
    except MessageError as error:
        raise InputError(f"this is not an issuer's key: {error.message}") from error
    key = PublicKey(int(issuer.n, 16), issuer.e)
    if not key.is_sound or wire.encode(issuer) != message:
        raise InputError("the issuer's key is not an RSA key of 2048 to 8192 bits with exponent 65537, written as sent")
    return key


def new_key() -> tuple[bytes, bytes]:
    """Make a key: its public half as it is shown, and its secret half as it is kept."""
    return key_bytes(SecretKey.generate())


def key_bytes(key: SecretKey) -> tuple[bytes, bytes]:
    """Both halves of a key, as they are shown and as they are kept."""
    public = Issuer(1, key.public.n.to_bytes(key.public.size, "big").hex(), key.public.e)
    return wire.encode(public), key.p.to_bytes(_NUMBER, "big") + key.q.to_bytes(_NUMBER, "big")


def read_key(kept: bytes) -> SecretKey:
    """Read the secret half of a key."""
    return SecretKey(int.from_bytes(kept[:_NUMBER], "big"), int.from_bytes(kept[_NUMBER:], "big"))


def issuer_path(folder: Path, survey: str, admission_id: str) -> Path:
    """Where the issuer of a plan keeps its file: the survey's name, and the beginning of what the plan is called."""
    return folder / f"issuer-{survey}-{admission_id[:16]}.sqlite"
