"""The respondent's page: the survey's frame, in the respondent's language. Everything else happens on the device.

The page's policy lets it load and reach nothing but this server, and lets no form be sent: an answer can leave only as
the report that `static/deniable.mjs` makes of it. The page names the hash of every file of that program, and a browser
runs no other bytes.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from deniable.errors import StoreError
from deniable.privacy.statement import rounded_up
from deniable.surveys.words import SENTENCES, WORDS
from deniable.web.assets import HASHES, MODULE, PROGRAM, asset_routes, integrity, published, sha256
from deniable.web.responses import SAFE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

    from deniable.collection.collector import Collector

_SHARED = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
POLICY = _SHARED + "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
HEADERS = {
    **SAFE,
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
    "Vary": "Accept-Language",
}
_SOON = 0.5  # seconds to wait for the store: a page is shown without it
_PLACE = re.compile(r"\{([a-z]+)\}")


class Pages:
    """What a respondent's browser loads."""

    def __init__(self, collector: Collector) -> None:
        """Take the collector whose survey is shown."""
        self._collector = collector

    def routes(self) -> list[Route]:
        """Address by address."""
        return [
            Route("/", self.show),
            Route(f"/static/{HASHES}", self.show_hashes),
            *asset_routes(*PROGRAM, "style.css", "icon.svg"),
        ]

    async def show(self, request: Request) -> Response:
        """The page."""
        survey = self._collector.survey
        with suppress(StoreError, TimeoutError):  # then it is what it was
            await asyncio.wait_for(self._collector.opening.looked(), _SOON)
        wanted = [request.query_params.get("lang", ""), *accepted(request.headers.get("accept-language", ""))]
        language = choose(survey.languages, wanted)
        page = templates().get_template("page.html")
        return HTMLResponse(
            page.render(
                language=language,
                languages=survey.languages,
                title=survey.title[language],
                words={name: self._word(name, language) for name in WORDS},
                welcome=survey.texts.get("welcome", {}).get(language),
                thanks=survey.texts.get("thanks", {}).get(language),
                contact=survey.texts.get("contact", {}).get(language),
                sentences=SENTENCES,
                admission=survey.admission,
                open=self._collector.is_open,
                module=MODULE,
                program={name: (integrity(name), sha256(name)) for name in PROGRAM},
                hashes=HASHES,
            ),
            headers=HEADERS,
        )

    async def show_hashes(self, _request: Request) -> Response:
        """The program's hashes, as sha256sum writes and checks them."""
        return Response(published(), media_type="text/plain", headers=HEADERS)

    def _word(self, name: str, language: str) -> str:
        said = self._collector.survey.texts.get(name) or WORDS[name]
        return said.get(language) or said["en"]


@cache
def templates() -> Environment:
    """The templates: everything is escaped, and a name that is missing is an error."""
    found = Environment(loader=PackageLoader("deniable.web"), autoescape=True, undefined=StrictUndefined)
    found.trim_blocks = found.lstrip_blocks = True
    found.filters["places"] = places
    found.filters["up"] = rounded_up
    return found


def places(text: str) -> Markup:
    """Make an element of every {name} in a text, to be filled on the device.

    >>> places("at most {most} < 9")
    Markup('at most <b data-fill="most"></b> &lt; 9')
    """
    parts = _PLACE.split(text)
    return Markup().join(
        Markup('<b data-fill="{}"></b>').format(part) if place % 2 else part for place, part in enumerate(parts)
    )


def accepted(header: str) -> list[str]:
    """The languages of an Accept-Language header, best first.

    >>> accepted("de-CH, fr;q=0.5, en;q=0.8")
    ['de-CH', 'en', 'fr']
    """
    found = []
    for part in header[:1000].split(","):
        name, _, weight = part.strip().partition(";q=")
        try:
            found.append((float(weight or 1), name))
        except ValueError:
            continue
    return [name for _, name in sorted(found, key=lambda pair: -pair[0]) if name]


def choose(offered: Sequence[str], wanted: Sequence[str]) -> str:
    """The first wanted language that is offered, if only its main part; else the survey's own.

    >>> choose(["en", "de"], ["fr", "de-CH"])
    'de'
    """
    for each in wanted:
        for known in offered:
            if each.lower() == known.lower():
                return known
        for known in offered:
            if each.lower().partition("-")[0] == known.lower().partition("-")[0]:
                return known
    return offered[0]
