"""Taking reports: the one address that is busy, so it speaks ASGI itself and makes no objects it does not need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.device.protocol.messages import MOST_BATCH_BYTES, Problem
from deniable.web.http.responses import DONE, json_response, problem_response

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

    from deniable.collection.collector import Collector

SIMULATED = b"simulated"  # behind the address: what is sent was made up, and is marked


class Ingest:
    """Reads a bounded body, hands it to the collector, and answers once the reports are on disk."""

    def __init__(self, collector: Collector) -> None:
        """Take the collector that answers."""
        self._collector = collector

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take one report or a batch."""
        try:
            asked = scope["query_string"]
            if asked in (b"", SIMULATED):
                answer = await self._take(receive, made_up=asked == SIMULATED)
            else:  # what was to be marked as made up would be counted
                answer = problem_response("unknown-parameter", "Reports are sent to this address, or to ?simulated.")
        except Exception:  # nobody else is there to catch it; the server logs it, without its sender
            await problem_response("failed")(scope, receive, send)
            raise
        await answer(scope, receive, send)

    async def _take(self, receive: Receive, *, made_up: bool) -> Response:
        body = await bounded_body(receive, MOST_BATCH_BYTES)
        if body is None:
            return problem_response("too-large", f"At most {MOST_BATCH_BYTES} bytes.")
        found = await self._collector.receive(body, made_up=made_up)
        if found is None:
            return DONE
        return problem_response(found) if isinstance(found, Problem) else json_response(found)


async def bounded_body(receive: Receive, most: int) -> bytes | None:
    """The body, or None as soon as it is known to be too large. One that breaks off is no message, and is refused."""
    message = await receive()
    body: bytes = message.get("body", b"")
    if not message.get("more_body", False):
        return body if len(body) <= most else None
    parts, size = [body], len(body)
    while message.get("more_body", False):
        if size > most:
            return None
        message = await receive()
        parts.append(message.get("body", b""))
        size += len(parts[-1])
    return b"".join(parts) if size <= most else None
