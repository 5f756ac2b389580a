"""Is the process alive, and can it store reports? Two questions: the one restarts a worker, the other sends it no work.

Whether reports can be stored is tried, not guessed: the writing thread commits nothing, and the store looks for a
report that is not there. Where that takes too long, the answer is no; the attempt goes on, and who asks next waits for
it as well.
"""

from __future__ import annotations

import asyncio
import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from deniable.errors import StoreError, StoreFullError
from deniable.web.http.query_parameters import Address
from deniable.web.http.responses import json_response, problem_response

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from deniable.collection.collector import Collector

PATIENCE = 2.0  # seconds that the store has for an answer
_KEY_BYTES = 16


class Health:
    """The addresses that whoever runs a collector asks."""

    patience = PATIENCE

    def __init__(self, collector: Collector) -> None:
        """Take the collector that is asked about."""
        self._collector = collector
        # A thread of its own: all others may be waiting for the store.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="deniable-health")
        self._attempt: asyncio.Task[str] | None = None

    def routes(self) -> list[Address]:
        """Address by address."""
        return [
            Address("/health", self.show_ready),
            Address("/health/ready", self.show_ready),
            Address("/health/live", self.show_live),
        ]

    async def show_live(self, _request: Request) -> Response:
        """Whether this process runs. If not, start it again."""
        if not self._collector.writer.alive:
            return problem_response("unavailable", "The thread that writes reports has ended.")
        return json_response({"status": "ok"})

    async def show_ready(self, _request: Request) -> Response:
        """Whether reports can be stored now. If not, send them to another worker, or later."""
        wrong = await self._trouble()
        return problem_response("unavailable", wrong) if wrong else json_response({"status": "ok"})

    async def _trouble(self) -> str:
        if not self._collector.writer.alive:
            return "The thread that writes reports has ended."
        if self._attempt is None or self._attempt.done():
            self._attempt = asyncio.create_task(self._try())
        done, _ = await asyncio.wait([self._attempt], timeout=self.patience)
        return self._attempt.result() if done else "The store does not answer."

    async def _try(self) -> str:
        """Ask the store for something and write nothing to it; says what is wrong, in words that tell no name."""
        store, writer = self._collector.store, self._collector.writer
        try:
            await writer.submit([])
            await asyncio.get_running_loop().run_in_executor(
                self._thread, store.find, [secrets.token_bytes(_KEY_BYTES)]
            )
        except Exception:  # noqa: BLE001 - whatever it is, nothing can be stored
            return "The store fails."
        if isinstance(writer.trouble, StoreFullError):
            return "There is no space left to store reports in."
        return "The store fails." if isinstance(writer.trouble, StoreError) else ""
