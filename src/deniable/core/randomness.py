"""The only door to random bits.

Two sources exist. `Secure`, the default everywhere, is an AES-128 counter-mode keystream whose key comes from the
operating system. `Seeded` makes the same keystream from a number, so that a simulation can be repeated; it must
never disguise a real answer, and nothing that serves real people (client, collector, file commands) has an argument
that takes one.

A source holds no keystream. It opens one `Stream` per call, used by one thread inside that call and then forgotten.
So there is no generator that two threads could share, and none that a forked worker could inherit: two workers that
shared a stream would send reports whose difference is the difference of the truths.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

from deniable.core.provenance import PEOPLE, Origin
from deniable.errors import DesignError, InputError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext
    from numpy.typing import NDArray

# One zero block encrypted again and again: counter mode turns zeros into the keystream itself.
_ZEROS = memoryview(bytes(1 << 16))
# update_into wants a block of slack behind the output.
_SLACK = 16
# Below this many bytes the operating system itself is asked; setting a cipher up would cost more.
_SMALL = 512


class Stream:
    """Random bits for one call. Not to be shared between threads or kept."""

    def __init__(self, key: bytes | None = None) -> None:
        """Open the stream of a 16-byte key; without one, of a fresh key from the operating system."""
        self._key = key
        self._cipher: CipherContext | None = None

    def fill(self, out: NDArray[np.unsignedinteger]) -> None:
        """Fill a contiguous array with uniform bits."""
        flat = out.view(np.uint8).data
        if self._key is None and len(flat) <= _SMALL:
            flat[:] = os.urandom(len(flat))
            return
        if self._cipher is None:
            key = os.urandom(16) if self._key is None else self._key
            # A key is used for one stream only, so the counter may start at zero.
            self._cipher = Cipher(AES(key), CTR(bytes(16))).encryptor()
        done, whole = 0, len(flat) - _SLACK
        while done < whole:
            size = min(len(_ZEROS), whole - done)
            self._cipher.update_into(_ZEROS[:size], flat[done:])
            done += size
        if done < len(flat):
            flat[done:] = self._cipher.update(bytes(len(flat) - done))

    def words(self, count: int, bits: int) -> NDArray[np.unsignedinteger]:
        """Draw `count` uniform integers of 8, 16, 32 or 64 bits."""
        out = np.empty(count, dtype=f"<u{bits // 8}")
        self.fill(out)
        return out

    def below(self, bound: int, count: int) -> NDArray[np.int64]:
        """Draw `count` integers uniform on 0 .. bound - 1, exactly.

        A 32-bit word is accepted when it lies below the largest multiple of `bound`; the others are drawn again. How
        often that happens depends on `bound` alone, so it tells nothing about anybody's value.
        """
        if not 1 <= bound <= 1 << 32:
            raise DesignError(f"can draw below 1 to 2^32, not below {bound}", bound=bound)
        limit = (1 << 32) - (1 << 32) % bound
        out = np.empty(count, dtype=np.int64)
        done = 0
        while done < count:
            words = self.words(count - done, 32).astype(np.int64)
            words = words[words < limit]
            out[done : done + len(words)] = words % bound
            done += len(words)
        return out

    def permutation(self, count: int) -> NDArray[np.int64]:
        """Draw a uniform order of 0 .. count - 1, by sorting 64-bit words and drawing anew should two be equal."""
        while True:
            words = self.words(count, 64)
            order = np.argsort(words, kind="stable")
            ranked = words[order]
            if not np.any(ranked[1:] == ranked[:-1]):
                return order.astype(np.int64, copy=False)

    def generator(self) -> np.random.Generator:
        """Seed a NumPy generator from this stream, for simulation on counts (never for a disguise)."""
        return np.random.Generator(np.random.PCG64DXSM(int.from_bytes(self.words(32, 8).tobytes(), "little")))


class Source(Protocol):
    """What `randomize` takes its bits from."""

    def stream(self) -> Stream:
        """Open a stream for one call."""
        ...


class Secure:
    """Bits that nobody can predict: a fresh operating-system key for every call."""

    def stream(self) -> Stream:
        """Open a stream under a fresh key."""
        return Stream()

    def __repr__(self) -> str:
        return "Secure()"


class Seeded:
    """Bits that anybody who knows the seed can repeat. For simulation only.

    Every call on the same object continues where the last one stopped: stream i has the key SHA-256(seed, i).

    >>> first, again = Seeded(7), Seeded(7)
    >>> bool((first.stream().words(4, 16) == again.stream().words(4, 16)).all())
    True
    """

    def __init__(self, seed: int) -> None:
        """Take any integer as the seed."""
        self._seed = int(seed)
        self._opened = 0

    def stream(self) -> Stream:
        """Open the next of the seed's streams."""
        key = hashlib.sha256(f"deniable simulation {self._seed} {self._opened}".encode()).digest()[:16]
        self._opened += 1
        return Stream(key)

    def __repr__(self) -> str:
        return f"Seeded({self._seed})"


SECURE = Secure()


def drawn_by(source: Source, reports: int) -> Origin:
    """Where reports come from whose disguise this source drew: a seed makes them a simulation."""
    return Origin(reports, reports, seeded=True) if isinstance(source, Seeded) else PEOPLE


def check_source(source: object, seed: object = None) -> None:
    """Refuse what is no source of random bits, such as a bare seed; and a seed by the name that others give it."""
    if seed is not None:
        raise InputError(
            f"there is no seed= here: write source=Seeded({seed!r}) for a simulation that can be repeated, and leave "
            f"it out for real answers, whose disguise nobody may be able to repeat",
            seed=seed,
        )
    if not hasattr(source, "stream"):
        raise InputError(
            f"source={source!r} is no source of random bits: write source=Seeded({source!r}) for a simulation that can "
            f"be repeated, and leave it out for real answers"
        )
