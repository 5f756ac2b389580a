"""What is shown of a running survey, to whoever may look: one state for everything, which moves in steps.

Pages, files to download, `/v1/results`, `/v1/simulated`, the fakes of the next block and the numbers for operators read
a store through `Shown`, never directly. So two of them can be held against each other, by somebody who asks a hundred
times a second, and tell nothing that one does not. When the steps come and what is held back is said in
`storage.held_back`; once a survey has ended, everything is shown.

What is not a report moves in steps too: what was turned away, and how many pairs met. Such a number is kept in the
store under its step, and the first worker that takes a step takes it for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from deniable.device.protocol.messages import FEWEST_TOGETHER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from deniable.storage.store import Column, Mark, Row, Store

_TENTH = 10  # a step is at least one for so many, so that few steps are kept


class Shown:
    """A store as it is shown while its survey runs. Has no way to what came since."""

    def __init__(self, store: Store) -> None:
        """Take the store."""
        self._store = store

    def designs(self) -> dict[str, tuple[int, bytes]]:
        """Every design ever served."""
        return self._store.designs()

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Row]:
        """The reports under these keys, as far as they are shown."""
        return self._store.find(keys, shown=True)

    def counts(self, design: int) -> dict[str, int]:
        """How many reports are shown of each cell."""
        return self._store.counts(design, shown=True)

    def counts_in(self, design: int, block: str) -> dict[str, int]:
        """The same for the cells of one block."""
        return self._store.counts_in(design, block, shown=True)

    def columns(self, design: int, known: Mark | None = None) -> list[Column]:
        """The same as a few long texts."""
        return self._store.columns(design, known, shown=True)

    def total(self, design: int) -> int:
        """How many reports are shown."""
        return self._store.total(design, shown=True)

    def tokens(self, purpose: str) -> list[bytes]:
        """All hashes of a purpose."""
        return self._store.tokens(purpose)

    def saved(self, name: str) -> bytes | None:
        """The value under a name."""
        return self._store.saved(name)

    def when_seen(self, name: str, now: Callable[[Store], bytes]) -> bytes:
        """What something had come to when somebody first looked at it under this name."""
        return self._store.save(f"shown {name}", now(self._store))


def stepped(store: Store, name: str, now: Mapping[str, int], end: str | None = None) -> dict[str, int]:
    """Numbers that only grow, as they are shown: those of the step before the last.

    A step is kept when together they have grown by `FEWEST_TOGETHER`, and by a tenth. At the `end` of a survey, which
    has a name, they are shown as they are when somebody looks first: that is a step as well, for the last one was not
    shown.
    """
    if end is not None:
        return _decoded(store.save(f"shown {name} {end}", msgspec.json.encode(now)))
    start = f"shown {name} step "
    kept = store.saved_under(start)
    states = [_decoded(kept[key]) for key in sorted(kept)]
    last = sum(states[-1].values()) if states else 0
    if sum(now.values()) - last >= max(FEWEST_TOGETHER, last // _TENTH):
        states.append(_decoded(store.save(f"{start}{len(states):06}", msgspec.json.encode(now))))
    return states[-2] if len(states) > 1 else {}


def _decoded(body: bytes) -> dict[str, int]:
    return msgspec.json.decode(body, type=dict[str, int])
