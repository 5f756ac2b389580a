"""Limits on a request, whatever its address: how long its body may take, how long its answer, how much is unfinished.

A proxy may set tighter ones. These make the collector safe without one: whoever sends a byte a second, or nothing at
all after the head, gets an answer and goes. `web.protocol` does the same for the head of a request.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.web.responses import problem_response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ANALYSTS = ("/analyst", "/v1/results")


@dataclass(frozen=True)
class Limits:
    """What requests may take."""

    body: float = 30.0  # seconds from the head to the end of the body
    answer: float = 30.0  # seconds from there to the answer
    analysis: float = 300.0  # the same for an analyst, whose estimates have to be computed
    unfinished: int = 1000  # bodies that are awaited at the same time
    unfinished_bytes: int = 64 << 20  # of all that are awaited, or not answered yet


class Limiter:
    """Keeps the limits around an application. Belongs to one event loop."""

    def __init__(self, app: ASGIApp, limits: Limits | None = None) -> None:
        """Take the application and what its requests may take."""
        self._app, self.limits = app, limits or Limits()
        self.unfinished = self.unfinished_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, if only to say that it took too long."""
        answer = self.limits.analysis if scope["path"].startswith(_ANALYSTS) else self.limits.answer
        request = _Request(self, receive, send, answer)
        try:
            async with asyncio.timeout(answer) as request.clock:
                await self._app(scope, request.receive, request.send)
        except TimeoutError:
            if not request.clock.expired():
                raise
            await problem_response(request.refusal)(scope, receive, send)
        finally:
            request.leave()


class _Request:
    """One request. Its clock runs for the body while that is awaited, then for the answer, and stops as that begins."""

    __slots__ = ("_answer", "_bytes", "_finished", "_limiter", "_receive", "_send", "_waits", "clock", "refusal")

    clock: asyncio.Timeout

    def __init__(self, limiter: Limiter, receive: Receive, send: Send, answer: float) -> None:
        self._limiter, self._receive, self._send, self._answer = limiter, receive, send, answer
        self._waits, self._finished, self._bytes = False, False, 0
        self.refusal = "unavailable"  # what is said when the clock has run out

    async def receive(self) -> Message:
        if self._finished:
            return await self._receive()  # whoever asks again waits for the end of the connection
        if not self._waits:
            await self._wait()
        message = await self._receive()
        await self._hold(len(message.get("body", b"")))
        if not message.get("more_body", False):
            self._finished = True
            self._arrive()
            self.refusal = "unavailable"
            self._set(self._answer)
        return message

    async def send(self, message: Message) -> None:
        self.clock.reschedule(None)
        self.leave()  # what it was answered to is not needed any more
        await self._send(message)

    def leave(self) -> None:
        """Be counted no more."""
        self._arrive()
        self._limiter.unfinished_bytes -= self._bytes
        self._bytes = 0

    def _arrive(self) -> None:
        """Be awaited no more; the body is held until it is answered."""
        self._limiter.unfinished -= self._waits
        self._waits = False

    async def _wait(self) -> None:
        limiter = self._limiter
        if limiter.unfinished >= limiter.limits.unfinished:
            await self._refuse()
        limiter.unfinished += 1
        self._waits, self.refusal = True, "too-slow"
        self._set(limiter.limits.body)

    async def _hold(self, more: int) -> None:
        limiter = self._limiter
        limiter.unfinished_bytes += more
        self._bytes += more
        if limiter.unfinished_bytes > limiter.limits.unfinished_bytes:
            await self._refuse()

    async def _refuse(self) -> None:
        """Let the clock run out now: whoever reads the body is told nothing, and has nothing to handle."""
        self.refusal = "busy"
        self._set(0.0)
        await asyncio.get_running_loop().create_future()

    def _set(self, seconds: float) -> None:
        """Set the clock, unless it is right to a second: most bodies are there already, and a new timer costs."""
        wanted, now = asyncio.get_running_loop().time() + seconds, self.clock.when()
        if seconds < 1 or now is None or abs(wanted - now) > 1:
            self.clock.reschedule(wanted)
