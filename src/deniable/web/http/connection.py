"""HTTP connections as uvicorn's protocol handles them, with limits on heads, on silence and on slow readers.

Uvicorn waits for ever for the end of a head, reads a head of any length, and keeps a connection whose answer nobody
fetches. Here each of these has its limit, and what cannot be read is answered with a problem, as everything else is.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from deniable.web.http.responses import problem_response

if TYPE_CHECKING:
    import asyncio
    import socket
    from collections.abc import Iterator
    from types import FrameType

    from starlette.types import Receive, Scope, Send

    from deniable.web.http.graceful_shutdown import Ending


HEALTH = b"/health"  # is asked by whoever decides about this process, and answered however many connections there are


@dataclass(frozen=True)
class ConnectionLimits:
    """What a connection may take."""

    head: float = 10.0  # seconds for the head of a request, from its first byte or from the connection's beginning
    idle: float = 5.0  # seconds between two requests
    reader: float = 30.0  # seconds that whoever asked has to fetch what does not fit into buffers
    head_bytes: int = 16 << 10
    fields: int = 100  # headers of a request
    ahead: int = 16  # requests sent before the answers to those before them
    leave: float = 0.25  # seconds that a silent connection gets for one more request when the server is told to stop
    connections: int = 2000  # that are answered; as many again are told to come later
    heads: int = 1000  # that are awaited at the same time, of everybody; for one more, the oldest is given up
    heads_of_one: int = 100  # the same of one address, behind which a proxy or a household may be


class State(ServerState):
    """What the connections of a server share."""

    is_leaving = False  # whether it was told to stop

    def __init__(self) -> None:
        """Begin with no connection."""
        super().__init__()
        self.heads = Heads()


class Heads:
    """The connections whose head is awaited, the oldest first, by address: in memory, and no longer than that."""

    def __init__(self) -> None:
        """Begin with none."""
        self._by_address: dict[str, dict[Connection, None]] = {}
        self._all: dict[Connection, None] = {}

    def __len__(self) -> int:
        return len(self._all)

    def add(self, connection: Connection) -> None:
        """Await the head of one more; where there are too many, the oldest of them is given up."""
        limits, alike = connection.limits, self._by_address.setdefault(connection.address, {})
        alike[connection] = self._all[connection] = None
        for waiting, most in ((alike, limits.heads_of_one), (self._all, limits.heads)):
            if len(waiting) > most:
                oldest = next(iter(waiting))
                self.discard(oldest)
                oldest.head_is_late()

    def discard(self, connection: Connection) -> None:
        """It came, or is not awaited any more."""
        if connection not in self._all:
            return
        del self._all[connection]
        alike = self._by_address[connection.address]
        del alike[connection]
        if not alike:
            del self._by_address[connection.address]


class Server(uvicorn.Server):
    """Uvicorn's, whose connections know that it was told to stop: also those that it has just accepted."""

    def __init__(self, config: uvicorn.Config, ending: Ending | None = None) -> None:
        """Begin with no connection."""
        super().__init__(config)
        self.server_state: State = State()
        self._ending = ending

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Be told to stop: from here on, whatever is waited for has its time."""
        super().handle_exit(sig, frame)
        if self._ending is not None:
            self._ending.begin()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Hear signals while it serves. To end when told to is no failure: after SIGTERM the process ends with 0."""
        with super().capture_signals():
            yield
            self._captured_signals = [number for number in self._captured_signals if number != signal.SIGTERM]

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish what has begun, and end."""
        self.server_state.is_leaving = True
        await super().shutdown(sockets)


class Connection(HttpToolsProtocol):
    """One connection. Everything here runs in the event loop."""

    limits = ConnectionLimits()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Wait for a head."""
        super().__init__(*arguments, **options)
        self.timeout_keep_alive = self.limits.idle  # type: ignore[assignment] # any number will do
        self._in_head, self._head = True, 0  # whether a head is awaited, and how much of it came
        self._begun = False  # whether some of it did
        self._timer: asyncio.TimerHandle | None = None  # of the head, or of what is left of a body that nobody reads
        self._unread: asyncio.TimerHandle | None = None  # of an answer that is not fetched
        self._refusal = ("malformed", "This is not HTTP.")

    # -- the connection -----------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a head, unless there are far too many connections."""
        super().connection_made(transport)
        if self._busy > 2 * self.limits.connections:
            transport.abort()
        else:
            self._await_head()
            if self._state.is_leaving:
                self.shutdown()

    @property
    def _state(self) -> State:
        assert isinstance(self.server_state, State)
        return self.server_state

    @property
    def _busy(self) -> int:
        """How many connections there are beside those whose head is awaited, which have a limit of their own."""
        return len(self.connections) - len(self._state.heads)

    @property
    def address(self) -> str:
        """Whose connection it is: for limits, and nowhere else."""
        return self.client[0] if self.client else ""

    def shutdown(self) -> None:
        """Answer what has come, and tell whoever asked to connect anew; whoever is silent may ask once more.

        A request may be on its way already: closing at once would lose it.
        """
        if self._is_idle():
            self.loop.call_later(self.limits.leave, self._leave)
        else:
            super().shutdown()

    def _leave(self) -> None:
        if self._is_idle() and not self._begun:
            self._close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        for timer in (self._timer, self._unread):
            if timer is not None:
                timer.cancel()
        self._state.heads.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; a head that does not end is refused."""
        began_in_head = self._in_head
        self._head += len(data) if began_in_head else 0
        super().data_received(data)
        if not self._in_head or self.transport.is_closing():
            return
        if began_in_head and self._head > self.limits.head_bytes:
            self._refuse("too-large", f"The head of a request has at most {self.limits.head_bytes} bytes.")
        elif self._timer is None and (self._begun or self._is_idle()):
            # Only now: most heads come whole, and a timer for each would cost more than reading it.
            self._await_head()

    def _is_idle(self) -> bool:
        """Whether no request is being answered."""
        running: Any = self.cycle  # None before the first request
        return running is None or running.response_complete

    def pause_writing(self) -> None:
        """Wait for whoever asked to fetch the answer, but not for ever."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self.limits.reader, self.transport.abort)

    def resume_writing(self) -> None:
        """They fetch it."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    # -- the request --------------------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self._begun = True

    def on_headers_complete(self) -> None:
        """The head is there: refuse one that is too large, then answer the request."""
        self._stop_timer()
        self._state.heads.discard(self)
        self._in_head, self._begun, self._head = False, False, 0
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > self.limits.head_bytes or len(self.headers) > self.limits.fields:
            most = f"{self.limits.head_bytes} bytes and {self.limits.fields} fields"
            self._refusal = ("too-large", f"The head of a request has at most {most}.")
            raise ValueError
        if len(self.pipeline) >= self.limits.ahead:
            self._refusal = ("busy", f"At most {self.limits.ahead} requests may be sent before they are answered.")
            raise ValueError
        crowded = max(self._busy, len(self.tasks)) > self.limits.connections and not self.url.startswith(HEALTH)
        self.app = _crowded if crowded else self.config.loaded_app
        super().on_headers_complete()
        if self._state.is_leaving:
            self.cycle.keep_alive = False  # whoever asked is told to connect anew

    def on_message_complete(self) -> None:
        """The body is there: what comes next is a head."""
        self._stop_timer()
        self._in_head = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request; for the rest of a body that nobody reads, and for the last reader, not long."""
        super().on_response_complete()
        if self.transport.is_closing():
            self.loop.call_later(self.limits.reader, self.transport.abort)
        elif not self._in_head:
            self._set_timer(self._close)

    def timeout_keep_alive_handler(self) -> None:
        """Nothing came for a while."""
        self._close()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - it names the parser's trouble, not the sender's
        """Say in our own shape that this cannot be read."""
        self._refuse(*self._refusal)

    # -- ends ---------------------------------------------------------------------------------------------------------

    def _await_head(self) -> None:
        self._set_timer(self.head_is_late)
        self._state.heads.add(self)

    def _set_timer(self, then: Any) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(self.limits.head, then)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def head_is_late(self) -> None:
        """Give up waiting for it."""
        self._stop_timer()
        if self._head:
            self._refuse("too-slow", "")
        else:
            self._close()

    def _refuse(self, code: str, detail: str) -> None:
        """Answer with a problem and close. Into the middle of another answer nothing is written."""
        if self.transport.is_closing():
            return
        if self._is_idle():
            answer = problem_response(code, detail)
            lines = [name + b": " + value + b"\r\n" for name, value in (*answer.raw_headers, (b"connection", b"close"))]
            self.transport.write(b"".join([STATUS_LINE[answer.status_code], *lines, b"\r\n", bytes(answer.body)]))
        self._close()

    def _close(self) -> None:
        """Close, when what was written is fetched, but not much later."""
        if not self.transport.is_closing():
            self.transport.close()
            self.loop.call_later(self.limits.reader, self.transport.abort)


async def _crowded(scope: Scope, receive: Receive, send: Send) -> None:
    await problem_response("unavailable", "Too many connections.")(scope, receive, send)
