"""What was turned away: a number for each reason, kept in the store. No time, no address, nothing of the message.

A flood of bad reports must not cost a commit each. Numbers gather here and are written together, once a second at most;
the workers of a survey add theirs to the same ones. A worker that is killed forgets its last second of them.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from typing import TYPE_CHECKING

from deniable.collection.shown_state import stepped
from deniable.errors import StoreError

if TYPE_CHECKING:
    from deniable.storage.store import Store

PAUSE = 1.0  # seconds between two writings
REJECTED = "rejected"  # what the store keeps of them as they were shown begins so


class Rejections:
    """The numbers of one worker that are not written yet, and the way to all of them."""

    def __init__(self, store: Store) -> None:
        """Take the store that keeps them."""
        self._store = store
        self._new: Counter[str] = Counter()
        self._timer: asyncio.TimerHandle | None = None
        self._counting, self._writing = threading.Lock(), threading.Lock()

    def add(self, reason: str) -> None:
        """Count one more. Belongs to the event loop, which it does not keep waiting."""
        with self._counting:
            self._new[reason] += 1
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(PAUSE, self._begin, loop)

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        loop.run_in_executor(None, self.write)

    def write(self) -> None:
        """Write what has gathered. Where the store fails it stays, and is written with what comes next."""
        with self._writing:
            with self._counting:
                new, self._new = self._new, Counter()
            try:
                if new:
                    self._store.add_rejected(new)
            except StoreError:
                with self._counting:
                    self._new += new

    def close(self) -> None:
        """Write what is left."""
        if self._timer is not None:
            self._timer.cancel()
        self.write()

    def total(self) -> dict[str, int]:
        """All that was ever turned away, by reason: by every worker up to its last writing, and by this one."""
        with self._writing:
            with self._counting:
                new = Counter(self._new)
            return dict(sorted((Counter(self._store.rejected()) + new).items()))

    def shown(self, end: str | None) -> dict[str, int]:
        """The same as it is shown while the survey runs, or since an end of this name."""
        return stepped(self._store, REJECTED, self.total(), end)
