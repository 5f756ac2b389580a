"""What takes too long for the event loop: reading large batches, and asking who is let in. So much of it, and no more.

Whoever sends forged tokens makes the collector check every signature. That is done by a few threads of its own, which
nothing else waits for. What waits for them is bounded; what comes on top of it is told to come again.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from deniable.errors import BusyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_BYTES = 8 << 20  # of messages that are being read and judged
THREADS = 2
P = ParamSpec("P")
T = TypeVar("T")


class Work:
    """A few threads, and how much is waiting for them. Belongs to one event loop."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        """Begin with nothing to do; threads start when they are needed."""
        self._most, self._bytes = most_bytes, 0
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="deniable-judge")

    @contextmanager
    def on(self, size: int) -> Iterator[None]:
        """Count a message of so many bytes for as long as it is worked on.

        Raises:
            BusyError: there is too much already.
        """
        if self._bytes and self._bytes + size > self._most:
            raise BusyError(f"{self._bytes} bytes are being read already")
        self._bytes += size
        try:
            yield
        finally:
            self._bytes -= size

    async def run(self, function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Have a thread do something, while the event loop goes on."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: function(*arguments, **options))

    def close(self) -> None:
        """End the threads once they have nothing to do."""
        self._threads.shutdown(wait=False)
