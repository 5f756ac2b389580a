"""The connection to one collector: what is fetched and sent, retries, and what an answer to a request means.

Only the protocol's own answers settle anything. Between a device and a collector stand hotel networks, proxies and
error pages, which answer 200, 302, 403, 404 or 413 in the collector's place. A report that such an answer could settle
would be lost, and its epsilon with it. So a report is taken if the answer says so in the protocol's own header, and
turned away for good only by a well-formed problem whose status is the answer's, whose code is on the list, and which no
second try could change. All else is tried again, and the report is kept.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, NoReturn

from deniable.device.protocol import canonical_json as wire
from deniable.device.protocol.http_transport import Http
from deniable.device.protocol.messages import Problem, Receipt
from deniable.device.protocol.problem_details import FINAL, PREFIX, PROBLEMS, RETRY_AFTER
from deniable.errors import CollectorError, MessageError, RejectedError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deniable.device.protocol.http_transport import Response, Transport

MOST_ANSWER = 1 << 20
_MOST_PROBLEM = 1 << 16
_ATTEMPTS = 5
_LONGEST_WAIT = 30.0  # seconds
_PASSING = frozenset((408, 425, 429, 500, 502, 503, 504, 507))  # worth another try with the same bytes
_PROBLEM = "application/problem+json"
_REPORTS = "/v1/reports"
SIMULATED = f"{_REPORTS}?simulated"  # where reports go that were made up


def problem_of(answer: Response) -> Problem | None:
    """What a collector says is wrong, in our own words; None if this is not a collector's answer."""
    if answer.content_type != _PROBLEM:
        return None
    try:
        said = wire.decode(answer.body, Problem, most=_MOST_PROBLEM)
    except MessageError:
        return None
    status, title = PROBLEMS.get(said.code, (0, ""))
    if said.type != PREFIX + said.code or not said.status == status == answer.status:
        return None
    return Problem(said.type, title, status)


def settles(problem: Problem) -> bool:
    """Tell whether no second try with the same bytes can change this."""
    return problem.code in FINAL


def post_report(transport: Transport, body: bytes, path: str = _REPORTS) -> Problem | None:
    """Post one finished report; None if it is stored.

    Raises:
        UnreachableError: nobody who knows has said what became of it.
    """

    def is_settled(answer: Response) -> bool:
        problem = problem_of(answer)
        return is_stored(answer) or (problem is not None and (settles(problem) or problem.code == "closed"))

    answer = persist(lambda: transport.request("POST", path, body, most=MOST_ANSWER), is_settled)
    if is_stored(answer):
        return None
    return problem_of(answer) or _strange(answer)


def is_stored(answer: Response) -> bool:
    """Tell whether a collector says that a report is stored."""
    return answer.status == 204 and answer.stored and not answer.body


def post_batch(transport: Transport, bodies: Sequence[bytes]) -> list[Problem | None]:
    """Post reports of several respondents together, for simulations; None for each that is stored."""
    batch = b"[" + b",".join(bodies) + b"]"
    answer = persist(lambda: transport.request("POST", SIMULATED, batch, most=MOST_ANSWER))
    if answer.status != 200:
        return [problem_of(answer) or _strange(answer)] * len(bodies)
    receipt = wire.decode(answer.body, Receipt, most=MOST_ANSWER)
    places = [failure.index for failure in receipt.failures]
    if len({*places} & {*range(len(bodies))}) != len(places) or receipt.accepted + len(places) != len(bodies):
        raise CollectorError("the collector's receipt is not about the reports that were sent")
    problems: list[Problem | None] = [None] * len(bodies)
    for failure in receipt.failures:
        problems[failure.index] = failure.problem
    return problems


def is_passing(answer: Response) -> bool:
    """Tell whether the same request may be answered otherwise in a moment."""
    return answer.status in _PASSING


def persist(
    attempt: Callable[[], Response],
    is_settled: Callable[[Response], bool] = lambda answer: not is_passing(answer),
    attempts: int = _ATTEMPTS,
) -> Response:
    """Try again while nothing is settled: the same bytes, after a growing, random wait."""
    for left in reversed(range(attempts)):
        wait = random.uniform(0.05, 0.2) * 2 ** (attempts - 1 - left)  # noqa: S311 - spreads retries, hides nothing
        try:
            answer = attempt()
        except UnreachableError:
            if not left:
                raise
        else:
            if is_settled(answer) or not left:
                return answer
            wait = max(wait, answer.retry_after or 0.0)
        time.sleep(min(wait, _LONGEST_WAIT))
    raise AssertionError  # the last attempt returns or raises


def _strange(answer: Response) -> Problem:
    """Something else than a collector has answered."""
    raise UnreachableError(f"something that is not a collector answered, with status {answer.status}")


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
