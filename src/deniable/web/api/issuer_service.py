"""The issuer as a program of its own: its key, a signature for an invitation, and nothing else.

Whoever runs it sees invitations and never a report; whoever runs the collector sees reports and never an invitation.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from deniable.collection.invitations import name_of
from deniable.collection.reuse_design import read_kept
from deniable.collection.survey_lifecycle import Closing
from deniable.collection.token_issuer import LocalIssuer, issuer_path
from deniable.device.protocol.messages import MOST_ADMISSION_BYTES, Problem
from deniable.device.protocol.problem_details import problem
from deniable.errors import InputError
from deniable.web.api.app import Application
from deniable.web.api.post_reports import bounded_body
from deniable.web.http.query_parameters import Address
from deniable.web.http.responses import json_bytes, json_response, problem_response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from deniable.surveys.survey import Survey
    from deniable.web.http.limits_and_timeouts import Limits


@dataclass
class IssuerService:
    """An issuer, the survey it issues tokens for, and a clock."""

    survey: Survey
    issuer: LocalIssuer
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    @classmethod
    def open(cls, survey: Path, data: Path) -> IssuerService:
        """Read the survey, and open (or make) the issuer's file."""
        checked = read_kept(survey, data)
        if checked.admission != "blind":
            raise InputError('an issuer is for blind tokens: say admission = "blind" in the survey file')
        return cls(checked, LocalIssuer(issuer_path(data, checked.name, name_of(checked))))

    def app(self, limits: Limits | None = None) -> Application:
        """The application."""
        routes = [
            Address("/v1/issuer", self.show_issuer),
            Address("/v1/tokens", self.sign_token, methods=["POST"]),
            Address("/health", self.show_health),
        ]
        return Application(routes, self._live, limits)

    @asynccontextmanager
    async def _live(self, _app: Starlette) -> AsyncIterator[None]:
        watch = Closing(self._is_over, self._finish)
        watch.start()
        try:
            yield
        finally:
            watch.stop()
            self.issuer.close()

    def _is_over(self) -> bool:
        return self.survey.closes is not None and self.survey.closes <= self.now()

    def _finish(self) -> None:
        if self.issuer.issued():  # else there is nothing to be forgotten, and the date may be a mistake
            self.issuer.end()

    async def show_issuer(self, _request: Request) -> Response:
        """The public key that tokens are signed with."""
        return json_bytes(self.issuer.message)

    async def sign_token(self, request: Request) -> Response:
        """Sign a blinded token, once for each invitation."""
        body = await bounded_body(request.receive, MOST_ADMISSION_BYTES)
        if body is None:
            return problem_response("too-large")
        if not self.survey.is_open(self.now()):
            return problem_response(problem("closed"))
        found = await asyncio.to_thread(self.issuer.sign, body)
        return problem_response(found) if isinstance(found, Problem) else json_response(found)

    async def show_health(self, _request: Request) -> Response:
        """Whether tokens can be issued."""
        await asyncio.to_thread(lambda: self.issuer.is_over)  # reads the file
        return json_response({"status": "ok"})
