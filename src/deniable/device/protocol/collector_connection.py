"""The line to one collector: what is fetched, applied for and sent goes through it, and its answers are judged here."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from deniable.device.protocol.http_transport import Http
from deniable.device.protocol.problem_details import RETRY_AFTER
from deniable.device.sending import MOST_ANSWER, persist, post_report, problem_of
from deniable.errors import CollectorError, RejectedError, UnreachableError

if TYPE_CHECKING:
    from deniable.device.protocol.http_transport import Transport
    from deniable.device.protocol.messages import Problem


class Line:
    """A collector's address, and what requests go through: an HTTP connection of its own, unless one is given."""

    def __init__(self, url: str, transport: Transport | None = None) -> None:
        self.url = url.rstrip("/")
        self._own = Http(self.url) if transport is None else None
        self.transport: Transport = transport or self._own  # type: ignore[assignment]

    def hang_up(self) -> None:
        """Close the connection, if it is one's own: requests over one connection are plainly one device's."""
        if self._own is not None:
            self._own.close()

    def get(self, path: str, most: int) -> bytes:
        """Fetch an address."""
        answer = persist(lambda: self.transport.request("GET", path, most=most))
        if answer.status != 200:
            raise CollectorError(
                f"{self.url}{path} answered {answer.status}. Is this a collector's address?", url=self.url
            )
        return answer.body

    def apply(self, path: str, body: bytes) -> bytes:
        """Send a message over a connection of its own, and return the answer."""
        self.hang_up()
        answer = persist(lambda: self.transport.request("POST", path, body, most=MOST_ANSWER))
        self.hang_up()
        if answer.status != 200:
            problem = problem_of(answer)
            if problem is None:
                raise UnreachableError(
                    f"something that is not a collector answered at {self.url}, with status {answer.status}",
                    url=self.url,
                )
            self.refused(problem)
        return answer.body

    def post(self, body: bytes) -> Problem | None:
        """Post a finished report over a connection of its own; None if it is stored."""
        self.hang_up()
        try:
            return post_report(self.transport, body)
        except UnreachableError as error:
            raise UnreachableError(f"{self.url} did not take the report now: {error.message}", url=self.url) from error

    def refused(self, problem: Problem) -> NoReturn:
        """Say what the collector found wrong."""
        if problem.code in RETRY_AFTER:
            raise UnreachableError(f"{self.url} did not take the report now: {problem.title}", url=self.url)
        raise RejectedError(f"{self.url} refused the report: {problem.title}", problem=problem)
