"""HTTP from the standard library: one kept-alive connection, bounded answers, no redirects, no cookies, no user agent.

Whatever a device sends along tells something about it. `http.client` sends the host, the length and nothing else.
"""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection, IncompleteRead
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from deniable.errors import CollectorError, InputError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.client import HTTPResponse

TIMEOUT = 10.0  # seconds without a byte
LONGEST = 60.0  # seconds for a whole answer
_PIECE = 1 << 16


@dataclass(frozen=True)
class Response:
    """What came back."""

    status: int
    body: bytes
    retry_after: float | None = None
    content_type: str = ""
    stored: bool = False  # a collector says so, in a header of its own


class Transport(Protocol):
    """What a client sends its requests through; tests put other things in its place."""

    def request(self, method: str, path: str, body: bytes | None = None, *, most: int) -> Response:
        """Send one request and read an answer of at most so many bytes."""
        ...


class Http:
    """A connection to one collector. For one thread at a time."""

    def __init__(self, url: str, timeout: float = TIMEOUT) -> None:
        """Take the collector's address, such as https://survey.example.org."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"a collector's address begins with https:// or http://, not {url!r}", url=url)
        self._url, self._prefix = url, parts.path.rstrip("/")
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=timeout)

    def request(self, method: str, path: str, body: bytes | None = None, *, most: int) -> Response:
        """Send a request; once more on a fresh connection where the kept one had been closed meanwhile."""
        kept = self._connection.sock is not None
        try:
            return self._once(method, path, body, most)
        except (OSError, HTTPException) as error:
            self._connection.close()
            if not kept:
                raise self._unreachable(error) from error
        try:
            return self._once(method, path, body, most)
        except (OSError, HTTPException) as error:
            self._connection.close()
            raise self._unreachable(error) from error

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __del__(self) -> None:
        # A client is often used in one expression and forgotten.
        if hasattr(self, "_connection"):
            self._connection.close()

    def _once(self, method: str, path: str, body: bytes | None, most: int) -> Response:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        with self._deadline():
            self._connection.request(method, self._prefix + path, body=body, headers=headers)
            answer = self._connection.getresponse()
            read = self._read(answer, most)
        if answer.length:  # less came than was announced; the standard library says so only to who asks for all of it
            raise IncompleteRead(read, answer.length)
        wait = answer.headers.get("Retry-After", "")
        return Response(
            answer.status,
            read,
            float(wait) if wait.isascii() and wait.isdigit() and len(wait) < 6 else None,
            answer.headers.get("Content-Type", "").partition(";")[0].strip().lower(),
            [value.strip() for value in answer.headers.get_all("Deniable", [])] == ["stored"],
        )

    def _read(self, answer: HTTPResponse, most: int) -> bytes:
        """Read an answer piece by piece: so much and no more, whatever lengths it states."""
        pieces, size = [], 0
        # Of an answer in chunks, what there is: the standard library would believe a chunk of -1 bytes.
        while piece := answer.read1(_PIECE) if answer.chunked else answer.read(_PIECE):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                self._connection.close()
                raise CollectorError(
                    f"{self._url} answered with more than {most} bytes. Is this a collector's address?", url=self._url
                )
        return b"".join(pieces)

    @contextmanager
    def _deadline(self) -> Iterator[None]:
        """Hang up on whoever takes too long over one answer, however steadily its bytes come."""
        if self._connection.sock is None:
            self._connection.connect()
        late = threading.Timer(LONGEST, _hang_up, [self._connection.sock])
        late.daemon = True
        late.start()
        try:
            yield
        finally:
            late.cancel()

    def _unreachable(self, error: Exception) -> UnreachableError:
        # What a server wrote in the place of an answer is not repeated; what this system says of the network is.
        why = (str(error) if isinstance(error, OSError) else "") or type(error).__name__
        return UnreachableError(f"no answer from {self._url}: {why}", url=self._url)


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
