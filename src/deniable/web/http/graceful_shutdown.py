"""Graceful shutdown: a server that was told to stop waits for a store that works, and for no other.

Nothing that was acknowledged is lost by that: it was on disk before. A store that answers may take its time, as when a
survey that has ended is written anew.
"""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import wait
from typing import TYPE_CHECKING

from deniable.errors import StoreError
from deniable.web.http.attempt import attempt
from deniable.web.http.json_log import tell

if TYPE_CHECKING:
    from collections.abc import Callable

GRACE = 10  # seconds that running requests get when the server is told to stop
_MORE = 2.0  # seconds on top, for what waits to be written
PATIENCE = 2.0  # seconds that the store has for an answer
_PAUSE = 1.0  # seconds between two questions


def _end() -> None:
    tell("ended without the store")
    os._exit(StoreError.exit_code)  # threads that wait for the store cannot be ended in any other way


class Ending:
    """Sees to it that this process ends once it was told to.

    Args:
        ask: asks the store for something; that it fails is an answer as well.
        after: seconds for an end of the usual kind.
        patience: seconds that the store then has for an answer.
        end: what is done where there is none.
    """

    def __init__(
        self,
        ask: Callable[[], object],
        after: float = GRACE + _MORE,
        patience: float = PATIENCE,
        end: Callable[[], None] = _end,
    ) -> None:
        self._ask, self._after, self._patience, self._end = ask, after, patience, end
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Begin to watch: the process was told to stop."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="deniable-ending", daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        time.sleep(self._after)
        while wait([attempt(self._ask)], self._patience).done:
            time.sleep(_PAUSE)
        self._end()


def close_in_time(close: Callable[[], object]) -> None:
    """Close what may belong to a store that does not answer; it is left behind then, and so is whatever goes wrong."""
    wait([attempt(close)], PATIENCE)
