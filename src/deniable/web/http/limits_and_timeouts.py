"""Limits on a request, whatever its address: how long its body may take, how long its answer, how much is unfinished.

A proxy may set tighter ones. These make the collector safe without one: whoever sends a byte a second, or nothing at
all after the head, gets an answer and goes. `web.http.connection` does the same for the head of a request.

All requests share one timer, set to the first moment at which one of them can be late. A timer each would cost as much
as reading a report does, and hardly any of them would ever ring.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from deniable.web.http.responses import problem_response

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
    """Keeps the limits around an application. Belongs to one event loop at a time."""

    def __init__(self, app: ASGIApp, limits: Limits | None = None) -> None:
        """Take the application and what its requests may take."""
        self._app, self.limits = app, limits or Limits()
        self.unfinished = self.unfinished_bytes = 0
        self._running: set[_Request] = set()
        self._loop: asyncio.AbstractEventLoop | None = None  # whose timer it is
        self._timer: asyncio.TimerHandle | None = None
        self._rings = inf  # when it does

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, if only to say that it took too long."""
        answer = self.limits.analysis if scope["path"].startswith(_ANALYSTS) else self.limits.answer
        request = _Request(self, receive, send, answer)
        self._running.add(request)
        try:
            await self._app(scope, request.receive, request.send)
        except asyncio.CancelledError:
            if not request.ends():  # somebody else wants it to end
                raise
            await problem_response(request.refusal)(scope, receive, send)
        finally:
            request.ends()
            request.leave()
            self._running.discard(request)

    def watch(self, deadline: float, loop: asyncio.AbstractEventLoop) -> None:
        """Look at the requests when this moment has come, if not before."""
        if loop is not self._loop:
            self._loop, self._rings = loop, inf
        if deadline < self._rings:
            if self._timer is not None:
                self._timer.cancel()
            self._timer, self._rings = loop.call_at(deadline, self._look), deadline

    def _look(self) -> None:
        assert self._loop is not None
        now, self._timer, self._rings = self._loop.time(), None, inf
        for request in self._running:
            if request.deadline <= now:
                request.expire()
        first = min((request.deadline for request in self._running), default=inf)
        if first < inf:
            self.watch(first, self._loop)


class _Request:
    """One request. Its clock runs for the body while that is awaited, then for the answer, and stops as that begins."""

    __slots__ = (
        "_answer", "_bytes", "_expired", "_finished", "_limiter", "_loop", "_receive", "_send", "_task", "_waits",
        "deadline", "refusal",
    )  # fmt: skip

    def __init__(self, limiter: Limiter, receive: Receive, send: Send, answer: float) -> None:
        self._limiter, self._receive, self._send, self._answer = limiter, receive, send, answer
        self._waits = self._finished = self._expired = False
        self._bytes = 0
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        self.refusal = "unavailable"  # what is said when the clock has run out
        self._set(answer)

    async def receive(self) -> Message:
        if self._finished:
            return await self._receive()  # whoever asks again waits for the end of the connection
        limiter = self._limiter
        if not self._waits:
            if limiter.unfinished >= limiter.limits.unfinished:
                await self._refuse()
            limiter.unfinished += 1
            self._waits, self.refusal = True, "too-slow"
            self._set(limiter.limits.body)
        message = await self._receive()
        more = len(message.get("body", b""))
        limiter.unfinished_bytes += more
        self._bytes += more
        if limiter.unfinished_bytes > limiter.limits.unfinished_bytes:
            await self._refuse()
        if not message.get("more_body", False):
            self._finished = True
            self._arrive()
            self.refusal = "unavailable"
            self._set(self._answer)
        return message

    async def send(self, message: Message) -> None:
        self.deadline = inf
        self.leave()  # what it was answered to is not needed any more
        await self._send(message)

    def leave(self) -> None:
        """Be counted no more."""
        self._arrive()
        self._limiter.unfinished_bytes -= self._bytes
        self._bytes = 0

    def expire(self) -> None:
        """Give up: whoever works on the request is interrupted."""
        if not self._expired and self._task is not None:
            self.deadline, self._expired = inf, True
            self._task.cancel()

    def ends(self) -> bool:
        """Whether it was given up, and nobody else wants its task to end."""
        if not self._expired or self._task is None:
            return False
        self._expired = False
        return self._task.uncancel() == 0

    def _arrive(self) -> None:
        """Be awaited no more; the body is held until it is answered."""
        self._limiter.unfinished -= self._waits
        self._waits = False

    async def _refuse(self) -> None:
        """Let the clock run out now: whoever reads the body is told nothing, and has nothing to handle."""
        self.refusal = "busy"
        self.expire()
        await self._loop.create_future()

    def _set(self, seconds: float) -> None:
        """Set the clock."""
        self.deadline = self._loop.time() + seconds
        self._limiter.watch(self.deadline, self._loop)
