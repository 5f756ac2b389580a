"""The respondent's page as it is served: one file for everybody, and the files that it is made of, to be read.

Nothing about a survey is in it. Its words, its questions and whether it is open come as messages of the protocol, which
the program in the page checks. The policy in the header is that of the page itself, but for what only a header can say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from deniable.web.http.responses import SAFE
from deniable.web.page.respondent_page import PAGE, header_policy
from deniable.web.page.static_files import HASHES, PROGRAM, asset, asset_routes, published

if TYPE_CHECKING:
    from starlette.requests import Request

# What every page here says to the browser, the analyst's as well.
GUARDED = {
    **SAFE,
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


def headers() -> dict[str, str]:
    """The headers of the respondent's page."""
    return {**GUARDED, "Content-Security-Policy": header_policy(asset(PAGE).decode())}


def page_routes() -> list[Route]:
    """Address by address."""
    said = headers()

    async def show(_request: Request) -> Response:
        return Response(asset(PAGE), media_type="text/html", headers=said)

    async def show_hashes(_request: Request) -> Response:
        return Response(published(), media_type="text/plain", headers=GUARDED)

    return [Route("/", show), Route(f"/static/{HASHES}", show_hashes), *asset_routes(*PROGRAM)]
