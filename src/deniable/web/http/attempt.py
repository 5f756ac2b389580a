"""Calls with a deadline to what may never return, such as a database that is frozen.

The thread is left behind, and nobody waits for it: not even the interpreter when it ends, as it does for an executor's.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def attempt(function: Callable[[], T]) -> Future[T]:
    """Begin to do something in a thread of its own; wait for its result as long as you like.

    >>> attempt(lambda: 6 * 7).result(timeout=60)
    42
    """
    made: Future[T] = Future()

    def run() -> None:
        try:
            made.set_result(function())
        except BaseException as error:  # noqa: BLE001 - whoever waits is given it
            made.set_exception(error)

    threading.Thread(target=run, name="deniable-attempt", daemon=True).start()
    return made
