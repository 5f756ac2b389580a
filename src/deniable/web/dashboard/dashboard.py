"""The analyst's pages: progress, estimates beside raw values, cross tables, associations, privacy, downloads.

Behind a login. Rendered here; a chart is an SVG file of its own with its numbers in a table beside it. Nothing on these
pages tells when a report came: nobody wrote that down, and what is shown moves in steps (`collection.shown_state`).

The analyst's pages: templates, and the policy they are shown under.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import parse_qs, urlencode

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from deniable.collection.simulated_marks import origin_in
from deniable.core.provenance import PEOPLE
from deniable.core.rows import LEVEL
from deniable.core.summary import share
from deniable.device.privacy_statement import rounded_up
from deniable.device.protocol.messages import FEWEST_TOGETHER
from deniable.errors import DeniableError, InputError, StoreError
from deniable.text import listed
from deniable.web.api.post_reports import bounded_body
from deniable.web.api.results_endpoint import estimates, results_csv, told
from deniable.web.dashboard import login
from deniable.web.dashboard.cache import Kept
from deniable.web.dashboard.dark_mode import by_day_and_night
from deniable.web.dashboard.heat_map import heat_map
from deniable.web.dashboard.page_data import (
    associations,
    drawing,
    end_of,
    groups,
    overview,
    table,
    whole,
    write,
)
from deniable.web.dashboard.page_views import Cross, Overview
from deniable.web.dashboard.worker_process import Desk
from deniable.web.http.query_parameters import Address
from deniable.web.http.responses import FRESH, SAFE, json_response, problem_response
from deniable.web.page.static_files import GUARDED, asset_routes, integrity

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Sequence

    from starlette.requests import Request
    from starlette.routing import Route

    from deniable.collection.collector import Collector
    from deniable.core.labels import Labels
    from deniable.core.provenance import Origin
    from deniable.web.api.results_endpoint import Results
    from deniable.web.dashboard.page_views import Associations, Pair

    Draw = Callable[[str], Awaitable[str | bytes]]
    Handler = Callable[["Dashboard", Request], Awaitable[Response]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {**GUARDED, "Content-Security-Policy": POLICY}


@cache
def templates() -> Environment:
    """The templates: everything is escaped, and a name that is missing is an error."""
    found = Environment(loader=PackageLoader("deniable.web"), autoescape=True, undefined=StrictUndefined)
    found.trim_blocks = found.lstrip_blocks = True
    found.globals["integrity"] = integrity
    found.filters["up"] = rounded_up
    found.filters["share"] = share
    found.filters["query"] = urlencode
    return found


# A drawing's own styles stand in the drawing.
_SVG = {**SAFE, "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'", "Cache-Control": "no-store"}
_DRAWN = {"svg": "image/svg+xml", "png": "image/png"}
_MOST_FORM = 4096
_MOST_PAGES = 100  # that are kept as they were rendered
T = TypeVar("T")


def _guarded(handler: Handler) -> Handler:
    """Show the login page to whoever is not logged in."""

    @wraps(handler)
    async def guarded(self: Dashboard, request: Request) -> Response:
        if await asyncio.to_thread(self.is_known, request):
            if request.method == "POST" and not login.from_here(request):
                return problem_response("unauthorized", "This form was not sent from one of our own pages.")
            return await handler(self, request)
        path = request.scope["path"]
        if request.method == "GET" and path.startswith("/analyst") and "." not in path:
            return self.page("login.html", request, link="", wrong=False, status=401)
        return problem_response("unauthorized")

    return guarded


class Dashboard:
    """The analyst's addresses."""

    def __init__(self, collector: Collector) -> None:
        """Take the collector whose survey is shown."""
        self.collector = collector
        self._desk = Desk.of(collector)
        self._kept = Kept(self._desk.reports)
        self._drawing = threading.Lock()  # matplotlib's settings are global
        self._throttle = login.Throttle()
        self._pages: dict[
            tuple[str, bytes], tuple[dict[str, object], bytes]
        ] = {}  # by address: what it showed, and how

    def routes(self) -> list[Route]:
        """Address by address."""
        here = "/analyst"
        return [
            Address(here, self.show_overview, takes=("lang",)),
            Address(f"{here}/tables", self.show_tables, takes=("of", "by", "lang"), repeats=("of",)),
            Address(f"{here}/associations", self.show_associations, takes=("lang",)),
            Address(f"{here}/privacy", self.show_privacy, takes=("lang",)),
            Address(f"{here}/progress", self.show_progress),
            Address(
                f"{here}/chart.{{kind}}", self.draw_chart, takes=("of", "by", "lang", "plain", "n"), repeats=("of",)
            ),
            Address(f"{here}/associations.{{kind}}", self.draw_associations, takes=("plain",)),
            Address(f"{here}/results.json", self.download_results),
            Address(f"{here}/results.csv", self.download_results_csv),
            Address(f"{here}/reports.{{kind}}", self.download_reports, takes=("lang",)),
            Address(f"{here}/analysis.{{kind}}", self.download_analysis, takes=("lang",)),
            Address(f"{here}/login", self.show_login, takes=("link", "lang")),
            Address(f"{here}/login", self.log_in, methods=["POST"]),
            Address(f"{here}/logout", self.log_out, methods=["POST"]),
            Address(f"{here}/close", self.close, methods=["POST"]),
            *asset_routes("dashboard/live_numbers.mjs", "style.css", "icon.svg"),
        ]

    def is_known(self, request: Request) -> bool:
        """Whether this is an analyst; and look whether the survey is still open, which every page says."""
        self.collector.opening.look()
        return login.is_known(self.collector.store, request)

    # -- the way in and out -------------------------------------------------------------------------------------------

    async def show_login(self, request: Request) -> Response:
        """The login page. A one-time link is used up by the button, not by looking at it."""
        return self.page("login.html", request, link=request.query_params.get("link", ""), wrong=False)

    async def log_in(self, request: Request) -> Response:
        """Let in whoever has the token or an unused link."""
        body = await bounded_body(request.receive, _MOST_FORM)
        fields = parse_qs((body or b"").decode("utf-8", "replace"))
        given = {name: fields.get(name, [""])[0].strip() for name in ("token", "link")}
        store = self.collector.store
        if login.from_here(request) and await asyncio.to_thread(login.may_enter, store, **given):
            answer = RedirectResponse("/analyst", 303, headers=FRESH)
            secure = login.is_safe(request) or any(name.startswith("https:") for name in self.collector.origins)
            return await asyncio.to_thread(login.let_in, store, answer, secure=secure)
        if not self._throttle.allows():
            return problem_response("busy", "Too many logins were wrong. The right token is taken at any time.")
        return self.page("login.html", request, link="", wrong=True, status=403)

    @_guarded
    async def log_out(self, request: Request) -> Response:
        """End this login, for everybody who has its cookie."""
        answer = RedirectResponse("/analyst/login", 303, headers=FRESH)
        return await asyncio.to_thread(login.let_out, self.collector.store, request, answer)

    @_guarded
    async def close(self, _request: Request) -> Response:
        """Close the survey for good, and keep its results as they are."""
        await asyncio.to_thread(self.collector.end)
        await self.collector.opening.settled()
        await self._overview()
        return RedirectResponse("/analyst", 303, headers=FRESH)

    # -- pages --------------------------------------------------------------------------------------------------------

    @_guarded
    async def show_overview(self, request: Request) -> Response:
        """Progress, every question's estimate, and what was turned away."""
        rejected = await asyncio.to_thread(self.collector.turned_away)
        found = await self._overview()
        return await self._about("overview.html", request, found=found, rejected=list(rejected.items()))

    @_guarded
    async def show_tables(self, request: Request) -> Response:
        """Any table that the reports cover, laid out across."""
        names = [name for name in dict.fromkeys(request.query_params.getlist("of")) if name]
        if not names and self.collector.survey.tables:
            names = list(self.collector.survey.tables[0])
        by, language = request.query_params.get("by", ""), self._labels(request).language
        chosen = Cross()
        try:
            if names and self._is_group(by):
                chosen = await self._once(("groups", by, language, *names), groups, names, by, language)
            elif names:
                chosen = await self._once(("table", *names), table, names)
        except DeniableError as error:
            chosen = Cross(problem=error.message)
        survey = self.collector.survey
        public = [item.name for item in survey.public]
        return await self._about(
            "tables.html",
            request,
            names=names,
            by=by,
            attributes=list(survey.domain),
            public=public,
            level=LEVEL,
            chosen=chosen,
        )

    @_guarded
    async def show_associations(self, request: Request) -> Response:
        """Every pair's association and its test."""
        found = await self._associations()
        rows = found.rows if found else ()
        links = [f"/analyst/tables?{urlencode([('of', name) for name in row.pair])}" for row in rows]
        return await self._about("associations.html", request, found=found, links=links)

    @_guarded
    async def show_privacy(self, request: Request) -> Response:
        """What reports tell about a person, what made-up ones could do, and whether something stands out."""
        return await self._about("privacy.html", request, found=await self._overview())

    @_guarded
    async def show_progress(self, _request: Request) -> Response:
        """How many reports are shown: what a page that is open asks for."""
        return json_response({"reports": await self._desk.reports(), "open": self.collector.is_open})

    # -- files --------------------------------------------------------------------------------------------------------

    @_guarded
    async def draw_chart(self, request: Request) -> Response:
        """An estimate with its intervals."""
        names = request.query_params.getlist("of")
        by, language = request.query_params.get("by", ""), self._labels(request).language

        def make(kind: str) -> Awaitable[str | bytes]:
            return self._desk.make(drawing, names, by, language, kind)

        try:
            self._is_group(by)
            return await self._picture(request, ("chart", by, language, *names), make)
        except DeniableError as error:
            return problem_response("unfit", error.message)

    @_guarded
    async def draw_associations(self, request: Request) -> Response:
        """The heat map."""
        found = await self._associations()
        if found is None:
            return problem_response("not-found")
        rows, origin = found.rows, await self._origin()

        def draw(kind: str) -> Awaitable[str | bytes]:
            return asyncio.to_thread(self._heat_map, rows, origin, kind)

        return await self._picture(request, ("heat", origin.stamp), draw)

    def _heat_map(self, rows: Sequence[Pair], origin: Origin, kind: str) -> str | bytes:
        with self._drawing:
            return heat_map(rows, kind, origin)

    async def _picture(self, request: Request, name: tuple[str, ...], make: Draw) -> Response:
        """A drawing: on a page it follows the reader's light or dark mode; to be kept, it is as it would be printed."""
        kind = request.path_params["kind"]
        if kind not in _DRAWN:
            return problem_response("not-found")
        drawn = await self._kept.get((kind, *name), lambda: make(kind))
        if isinstance(drawn, str) and "plain" not in request.query_params:
            drawn = by_day_and_night(drawn)
        return Response(drawn, media_type=_DRAWN[kind], headers=_SVG)

    @_guarded
    async def download_results(self, _request: Request) -> Response:
        """Estimates as JSON."""
        found = await self._results()
        return json_response(found, _attached("json", FRESH, self.collector.survey.name))

    @_guarded
    async def download_results_csv(self, _request: Request) -> Response:
        """Estimates as CSV."""
        found = await self._results()
        headers = _attached("csv", FRESH, self.collector.survey.name)
        return Response(results_csv(found), media_type="text/csv", headers=headers)

    @_guarded
    async def download_reports(self, request: Request) -> Response:
        """The disguised reports themselves, with the design in the file."""
        return await self._written(request, "reports", ("parquet", "csv", "sav", "dta"))

    @_guarded
    async def download_analysis(self, request: Request) -> Response:
        """A script that comes to the same estimates."""
        return await self._written(request, "analysis", ("R", "py"))

    async def _written(self, request: Request, what: str, kinds: Sequence[str]) -> Response:
        kind = request.path_params["kind"]
        if kind not in kinds:
            return problem_response("not-found")
        folder = tempfile.TemporaryDirectory(prefix="deniable-")
        path = Path(folder.name) / f"{what}.{kind}"
        try:
            await self._desk.make(write, str(path), self._labels(request).language)
        except StoreError:
            folder.cleanup()
            raise
        except DeniableError as refused:
            folder.cleanup()
            return problem_response("not-found", refused.message)
        os.utime(path, (0, 0))  # the answer's head says when a file was written; it was now
        headers = _attached(kind, FRESH, f"{self.collector.survey.name}-{what}")
        return FileResponse(path, headers=headers, background=BackgroundTask(folder.cleanup))

    # -- what they are made of ----------------------------------------------------------------------------------------

    def page(self, template: str, request: Request, *, status: int = 200, **values: object) -> Response:
        """Render a page."""
        return HTMLResponse(_rendered(template, self._view(request) | values), status, headers=HEADERS)

    async def _about(self, template: str, request: Request, **values: object) -> Response:
        """Render a page about the reports, which says where they come from; again only if it shows anything else."""
        address = request.scope["path"], request.scope["query_string"]
        view = self._view(request) | {"origin": await self._origin()} | values
        known = self._pages.get(address)
        if known is None or known[0] != view:
            if len(self._pages) >= _MOST_PAGES:
                self._pages.clear()
            known = self._pages[address] = (view, _rendered(template, view))
        return HTMLResponse(known[1], headers=HEADERS)

    def _view(self, request: Request) -> dict[str, object]:
        """What every page shows."""
        labels = self._labels(request)
        return {
            "labels": labels,
            "title": labels.heading(),
            "language": labels.language,
            "parameters": [(name, value) for name, value in request.query_params.multi_items() if name != "lang"],
            "here": request.scope["path"],
            "open": self.collector.is_open,
            "closes": self.collector.survey.closes,
            "origin": PEOPLE,
            "running": not self.collector.opening.is_settled,
            "fewest": FEWEST_TOGETHER,
        }

    async def _origin(self) -> Origin:
        known = self.collector
        return await asyncio.to_thread(origin_in, known.shown, known.numbers, known.survey.name)

    def _labels(self, request: Request) -> Labels:
        """The survey's words, in the language that is asked for or else in its own."""
        labels, wanted = self.collector.survey.labels, request.query_params.get("lang", "")
        return labels.speaking(wanted) if wanted in labels.languages else labels

    def _is_group(self, by: str) -> bool:
        """Whether groups are asked for; refused where no public attribute makes them."""
        public = [item.name for item in self.collector.survey.public]
        if by and by not in public:
            raise InputError(f"nothing public is called {by[:40]!r}; there are {listed(public) or 'none'}")
        return bool(by)

    async def _results(self) -> Results:
        found = await self._once("results", estimates)
        await asyncio.to_thread(self.collector.opening.look)
        return await asyncio.to_thread(told, self.collector, found)

    async def _overview(self) -> Overview:
        if await self._is_over():
            return await self._kept.get("frozen", self._frozen)
        return await self._once("overview", overview)

    async def _frozen(self) -> Overview:
        """The overview of a survey that is closed, with its associations: made once, then kept in the store."""
        store, name = self.collector.store, end_of(self.collector)
        body = await asyncio.to_thread(store.saved, name)
        if body is None:
            made = msgspec.json.encode(await self._desk.make(whole))
            body = await asyncio.to_thread(store.save, name, made)
        return msgspec.json.decode(body, type=Overview)

    async def _associations(self) -> Associations | None:
        if await self._is_over():
            return (await self._overview()).associations
        return await self._once("associations", associations)

    async def _is_over(self) -> bool:
        """Whether the survey has ended, and everything is shown; one that has not begun has results to come."""
        await self.collector.opening.looked()
        return self.collector.opening.is_settled

    async def _once(self, name: Hashable, function: Callable[..., T], *given: object) -> T:
        """What a function makes of the survey; kept for a while."""
        found: T = await self._kept.get(name, lambda: self._desk.make(function, *given))
        return found


def _rendered(template: str, view: dict[str, object]) -> bytes:
    return templates().get_template(template).render(**view).encode()


def _attached(kind: str, headers: dict[str, str], name: str) -> dict[str, str]:
    return {**headers, "Content-Disposition": f'attachment; filename="{name}.{kind}"'}
