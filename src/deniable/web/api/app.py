"""The collector over HTTP. Each handler asks the collector and shapes the answer.

Nothing of a request but its body reaches the collector: no address, no header, no time. Nothing is logged.

Memory that a server has freed goes back to the system.

What sorts and merges reports takes pieces that grow with their number, and frees them. The C library takes this for a
habit: it keeps larger and larger pieces for the next time, among others that are in use, and a server seems to grow.
"""

from __future__ import annotations

import asyncio
import ctypes
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec.json import decode
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from deniable.collection.bearer_tokens import ANALYST, opens
from deniable.collection.shown_state import Shown
from deniable.collection.simulated_marks import has_others
from deniable.core.rows import LEVEL
from deniable.designs.extension import extensions
from deniable.errors import DeniableError, StoreError
from deniable.web.api.health import Health
from deniable.web.api.openapi import document
from deniable.web.api.post_reports import Ingest
from deniable.web.api.results_endpoint import Results, estimates, level_of, results_csv, told
from deniable.web.api.token_endpoint import Admission
from deniable.web.dashboard.cache import Kept
from deniable.web.dashboard.worker_process import Desk
from deniable.web.http.cors import PREFLIGHT, is_preflight, is_shared, shared
from deniable.web.http.limits_and_timeouts import Limiter, Limits
from deniable.web.http.query_parameters import Address
from deniable.web.http.responses import FOREVER, FRESH, json_bytes, json_response, problem_response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from starlette.requests import Request
    from starlette.routing import BaseRoute
    from starlette.types import Lifespan, Receive, Scope, Send

    from deniable.collection.collector import Collector

LARGE = 128 * 1024  # bytes: glibc's own measure at the start, which it raises as larger pieces are freed
_TRIM, _MAP = -1, -3  # the numbers of M_TRIM_THRESHOLD and M_MMAP_THRESHOLD in glibc


def return_what_is_free() -> bool:
    """Have the C library return large pieces as soon as they are freed, from now on.

    Returns False where it cannot be told to (only glibc has this habit).
    """
    try:
        tell = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library, another system
        return False
    tell.argtypes, tell.restype = [ctypes.c_int, ctypes.c_int], ctypes.c_int
    return bool(tell(_TRIM, LARGE)) and bool(tell(_MAP, LARGE))


REPORTS = "/v1/reports"
_SOON = 0.5  # seconds to wait for the store: the survey is announced without it
_PAST = "1970-01-01T00:00:00+00:00"
_BY_STATUS = {404: "not-found", 405: "method-not-allowed"}


class Application(Starlette):
    """Starlette within limits: pages from elsewhere may speak to it, and whatever goes wrong is told as a problem."""

    def __init__(
        self, routes: Sequence[BaseRoute], lifespan: Lifespan[Starlette], limits: Limits | None = None
    ) -> None:
        """Take the addresses, what lives as long as the server, and what requests may take."""
        handlers = {404: refused, 405: refused, StoreError: unavailable, Exception: _failed}
        super().__init__(routes=routes, exception_handlers=handlers, lifespan=lifespan)
        self.router.redirect_slashes = False  # it would answer with an address out of the Host header
        self.limiter = Limiter(self.answer, limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or live and die with the server."""
        if scope["type"] == "http":
            await self.limiter(scope, receive, shared(send) if is_shared(scope) else send)
        else:
            await super().__call__(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, within whatever limits are kept around it."""
        if is_shared(scope) and is_preflight(scope):
            await PREFLIGHT(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class CollectorApplication(Application):
    """The same, but for the one address that is busy: its requests go straight there, past routing and middleware."""

    ingest: Ingest

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, within whatever limits are kept around it."""
        if scope["path"] == REPORTS and scope["method"] == "POST":
            await self.ingest(scope, receive, send)
        else:
            await super().answer(scope, receive, send)


class Api:
    """The protocol's addresses."""

    def __init__(self, collector: Collector) -> None:
        """Take the collector that answers."""
        self.collector = collector
        self._desk = Desk.of(collector)
        self._kept = Kept(self._desk.reports)

    def routes(self) -> list[Route]:
        """Address by address."""
        return [
            Route(REPORTS, Ingest(self.collector), methods=["POST"]),  # reads its one parameter itself
            Address("/v1/survey", self.show_survey),
            Address("/v1/simulated", self.show_simulated),
            Address("/v1/designs/{design}", self.show_design),
            Address("/v1/forms/{form}", self.show_form),
            Address("/v1/results", self.show_results, takes=("table", "level"), repeats=("table",)),
            Address("/v1/results.csv", self.show_results_csv, takes=("table", "level"), repeats=("table",)),
            *Admission(self.collector).routes(),
            *(route for extension in extensions() for route in extension.routes(self.collector)),
            Address("/openapi.json", self.show_document),
            *Health(self.collector).routes(),
        ]

    async def show_survey(self, _request: Request) -> Response:
        """Which design is served, and when. What was closed by hand has closed, whatever the survey file says."""
        with suppress(StoreError, TimeoutError):  # then it is what it was
            await asyncio.wait_for(self.collector.opening.looked(), _SOON)
        if self.collector.is_open or not self.collector.survey.is_open(datetime.now(UTC)):
            return json_bytes(self.collector.announcement)
        return json_response(decode(self.collector.announcement) | {"closes": _PAST})

    async def show_simulated(self, _request: Request) -> Response:
        """Whether there are reports that are not simulated: simulations keep away from them."""
        return json_response({"others": await asyncio.to_thread(has_others, Shown(self.collector.store))})

    async def show_design(self, request: Request) -> Response:
        """A design, byte for byte what its hash names."""
        body = self.collector.design(request.path_params["design"])
        return problem_response("unknown-design") if body is None else json_bytes(body, FOREVER)

    async def show_form(self, request: Request) -> Response:
        """The survey's words, byte for byte what their hash names."""
        body = self.collector.form(request.path_params["form"])
        return problem_response("not-found") if body is None else json_bytes(body, FOREVER)

    async def show_results(self, request: Request) -> Response:
        """Estimates as JSON."""
        found = await self._results(request)
        return found if isinstance(found, Response) else json_response(found)

    async def show_results_csv(self, request: Request) -> Response:
        """Estimates as CSV."""
        found = await self._results(request)
        if isinstance(found, Response):
            return found
        return Response(results_csv(found), media_type="text/csv", headers=FRESH)

    async def _results(self, request: Request) -> Results | Response:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        known = scheme.lower() == "bearer"
        if not known or not await asyncio.to_thread(opens, self.collector.store, token.strip(), ANALYST):
            return problem_response("unauthorized")
        wanted = [text.split(",") for text in request.query_params.getlist("table")]
        try:
            level = level_of(request.query_params.get("level", str(LEVEL)))
            name = ("results", level, *map(tuple, wanted))
            found = await self._kept.get(name, lambda: self._desk.make(estimates, wanted or None, level))
            return await asyncio.to_thread(told, self.collector, found)
        except StoreError:
            raise
        except DeniableError as error:
            return problem_response("unfit", error.message)

    @cached_property
    def _document(self) -> dict[str, Any]:
        return document()

    async def show_document(self, _request: Request) -> Response:
        """The OpenAPI document."""
        return json_response(self._document)


def create_app(collector: Collector, pages: Sequence[BaseRoute] = (), *, limits: Limits | None = None) -> Application:
    """The application: the protocol's addresses, and whatever pages are to stand beside them."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        return_what_is_free()
        collector.writer.start()
        await asyncio.to_thread(collector.tend)
        try:
            yield
        finally:
            # Here and not after the server has returned: told to stop by a signal, it never does.
            Desk.of(collector).close()
            await collector.writer.stop()
            await asyncio.to_thread(collector.close)

    made = CollectorApplication([*Api(collector).routes(), *pages], lifespan, limits)
    made.ingest = Ingest(collector)
    return made


async def refused(_request: Request, error: Exception) -> Response:
    """Answer where there is nothing, or not by that method."""
    status = getattr(error, "status_code", 404)
    answer = problem_response(_BY_STATUS[status])
    for name, value in (getattr(error, "headers", None) or {}).items():
        answer.headers[name] = value  # which methods are allowed
    return answer


async def unavailable(_request: Request, _error: Exception) -> Response:
    """Answer while the store fails."""
    return problem_response("unavailable")


async def _failed(_request: Request, _error: Exception) -> Response:
    return problem_response("failed")
