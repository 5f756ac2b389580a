"""Pairs over HTTP: one address, at which a device asks for a partner until it has one or the wait is over."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from deniable.collection.rejection_counts import PAUSE
from deniable.device.protocol.messages import MOST_ADMISSION_BYTES, Problem, Seeking
from deniable.device.protocol.problem_details import read
from deniable.extensions.paired.match_partners import Matcher, Matching
from deniable.web.api.post_reports import bounded_body
from deniable.web.http.query_parameters import Address
from deniable.web.http.responses import json_response, problem_response

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from deniable.collection.collector import Collector


class PairApi:
    """Partners for the design that is served now. Matches are in this process only: pairs need one worker."""

    def __init__(self, collector: Collector) -> None:
        """Take the collector; without shared coins there is nobody to match."""
        self._collector, self._matcher = collector, Matcher(count=self._count)
        self._session = collector.session if isinstance(collector.session, Matching) else None
        self._timer: asyncio.TimerHandle | None = None

    def routes(self) -> list[Address]:
        """The one address."""
        return [Address("/v1/partners", self.seek, methods=["POST"])]

    async def seek(self, request: Request) -> Response:
        """Answer with a partner's key, or with how long to go on asking."""
        body = await bounded_body(request.receive, MOST_ADMISSION_BYTES)
        if body is None:
            return problem_response("too-large")
        asked = read(body, Seeking, most=MOST_ADMISSION_BYTES)
        if isinstance(asked, Problem):
            return problem_response(asked)
        if asked.design != self._collector.design_id or self._session is None:
            return problem_response("unknown-design")
        found = self._matcher.seek(asked.key)
        return problem_response("busy") if found is None else json_response(found)

    def _count(self, pairs: int, told: int) -> None:
        """Count, and write it down soon: not at once, and not on the event loop."""
        assert self._session is not None  # else nobody was matched
        self._session.of[self._collector.design_id].add(pairs, told)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(PAUSE, self._write, loop)

    def _write(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        with suppress(RuntimeError):  # the server is stopping; the collector writes them when it is closed
            loop.run_in_executor(None, self._collector.session.close)
