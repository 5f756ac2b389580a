"""Closing a survey, whichever way it ends: its date passes, somebody presses the button, or runs `deniable close`.

Then nothing is left that tells who took part: every invitation is marked as used, the issuer's secret key is deleted,
and the reports are written anew. A survey that was closed stays closed, also if the clock is set back.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from deniable.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

LOOK = 5.0  # seconds between two looks at the clock and at the store


class Closing:
    """Watches, in a thread of its own, for the end of a survey.

    Args:
        is_over: whether the survey has ended.
        finish: what is to be done then, once; tried again if the store fails.
    """

    def __init__(self, is_over: Callable[[], bool], finish: Callable[[], None]) -> None:
        self._is_over, self._finish = is_over, finish
        self._stop, self._look = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to watch."""
        self._thread = threading.Thread(target=self._run, name="deniable-closing", daemon=True)
        self._thread.start()

    def now(self) -> None:
        """Look at once."""
        self._look.set()

    def stop(self) -> None:
        """Watch no longer."""
        self._stop.set()
        self._look.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            with suppress(StoreError):
                if self._is_over():
                    self._finish()
                    return
            self._look.wait(LOOK)
            self._look.clear()
