"""Keys that are known without asking a file, and the rows they are in: sixteen bytes each, however many.

The latest are in a dictionary, which is quick and large. Whenever it has some thousand of them, they go into an array
in the order of the keys' first eight bytes; arrays that are not much longer than it are merged with it, so there are
few. Keys that begin alike are told apart by whoever reads the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    Sorted = tuple[NDArray[np.uint64], NDArray[np.int64]]  # how keys begin, and their rows

LATEST = 8192  # keys in the dictionary


class Known:
    """Keys of at least eight bytes, each with the number of its row."""

    def __init__(self) -> None:
        """Know nothing."""
        self._latest: dict[bytes, int] = {}
        self._sorted: list[Sorted] = []  # the longest first

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._latest) + sum(len(rows) for _, rows in self._sorted)

    def add(self, keys: Iterable[tuple[bytes, int]]) -> None:
        """Know some more, each with its row."""
        for key, row in keys:
            self._latest[key] = row
            if len(self._latest) >= LATEST:
                self._settle()

    def rows(self, keys: Collection[bytes]) -> list[int]:
        """The rows in which these keys are, if they are known; perhaps others, of keys that begin alike."""
        found = [self._latest[key] for key in keys if key in self._latest]
        if self._sorted and keys:
            sought = _beginnings(list(keys))
            for beginnings, rows in self._sorted:
                first = np.searchsorted(beginnings, sought)
                there = np.flatnonzero(beginnings[np.minimum(first, len(beginnings) - 1)] == sought)
                for place in there.tolist():
                    last = np.searchsorted(beginnings, sought[place], side="right")
                    found += rows[first[place] : last].tolist()
        return found

    def _settle(self) -> None:
        """Put the latest into an array."""
        made = _in_order(
            _beginnings(list(self._latest)), np.fromiter(self._latest.values(), np.int64, count=len(self._latest))
        )
        self._latest = {}
        while self._sorted and len(self._sorted[-1][1]) < 2 * len(made[1]):
            before = self._sorted.pop()
            made = _in_order(np.concatenate([before[0], made[0]]), np.concatenate([before[1], made[1]]))
        self._sorted.append(made)


def _beginnings(keys: Sequence[bytes]) -> NDArray[np.uint64]:
    return np.frombuffer(b"".join([key[:8] for key in keys]), dtype=np.uint64)


def _in_order(beginnings: NDArray[np.uint64], rows: NDArray[np.int64]) -> Sorted:
    order = np.argsort(beginnings, kind="stable")
    return beginnings[order], rows[order]
