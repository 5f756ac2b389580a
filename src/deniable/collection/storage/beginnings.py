"""How the sealed keys begin: four bytes each in memory, so that a key that is new is known to be without a file.

Keys are hashes, in no order: to look for each among a million in a file takes several times as long as among a
thousand, and nearly all are new. Here the first four bytes of every sealed key stand in one sorted array. A key whose
beginning is not there is not sealed. One whose beginning is there may be, and the file is asked: of new keys that is
one in 4,000 when a million are sealed.

The array follows the sealed file: whoever seals reads the keys of the tails that went into it, and puts them among the
others. After a start, or when another program has sealed, nothing is known until this one seals; the file answers
meanwhile.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from deniable.storage.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.storage.sqlite_files import Layout, State

_BYTES = 4  # of a key
MOST = 1 << 24  # keys, in 64 MiB; of more than that nothing is known, and the file is asked


class Beginnings:
    """The beginnings of keys of at least four bytes."""

    def __init__(self, sorted_: NDArray[np.uint32]) -> None:
        """Take them, in order."""
        self._sorted = sorted_

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._sorted)

    def possible(self, keys: Sequence[bytes]) -> list[bytes]:
        """Those of the keys that may be among these; the others are not."""
        if not len(self._sorted) or not keys:
            return []
        sought = _numbers(b"".join([key[:_BYTES] for key in keys]))
        place = np.minimum(np.searchsorted(self._sorted, sought), len(self._sorted) - 1)
        return [keys[index] for index in np.flatnonzero(self._sorted[place] == sought).tolist()]

    def and_those(self, others: Beginnings) -> Beginnings:
        """These and others."""
        both = np.concatenate([self._sorted, others._sorted])
        both.sort(kind="stable")  # in place; of two pieces that are in order it makes one by merging them
        return Beginnings(both)


def of_sealed(layout: Layout, state: State, known: Beginnings | None) -> Beginnings | None:
    """The beginnings of all keys in a state: those in its tails, and those that are `known` to be sealed.

    Where it is not known which are sealed, they are read. None if there are too many.
    """
    with closing(Snapshot(layout, state)) as snapshot:
        if snapshot.sealed > MOST:
            return None
        if known is None:
            known = read(snapshot.beginnings_sealed())
        found = known.and_those(read(snapshot.beginnings_in_tails()))
        return found if len(found) <= MOST else None


def read(texts: Sequence[str]) -> Beginnings:
    """Beginnings as SQLite writes them, eight hexadecimal digits each, one behind the other.

    >>> len(read(["0000000a0000000b", "00000001"]))
    3
    """
    found = _numbers(b"".join(map(bytes.fromhex, texts)))
    found.sort()
    return Beginnings(found)


def _numbers(together: bytes) -> NDArray[np.uint32]:
    return np.frombuffer(together, dtype=">u4").astype(np.uint32)
