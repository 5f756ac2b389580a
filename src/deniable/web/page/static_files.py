"""Static files: the respondent's page and its program as they are served, their published hashes, a style.

Nothing about a survey is in it. Its words, its questions and whether it is open come as messages of the protocol, which
the program in the page checks. The policy in the header is that of the page itself, but for what only a header can say.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from deniable.web.http.responses import SAFE
from deniable.web.page.respondent_page import PAGE, header_policy, modules

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

MODULE = "deniable.mjs"
# Everything that runs on a respondent's device. The page holds all of it; these are the same files, to be read.
PROGRAM = (MODULE, *(name for name in modules() if name != MODULE))
HASHES = "programs.sha256"
_TYPES = {".mjs": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
# Asked for anew each time, answered "unchanged" by its hash: an update reaches everybody at once.
_CACHED = {**SAFE, "Cache-Control": "no-cache", "Cross-Origin-Resource-Policy": "same-origin"}


@cache
def asset(name: str) -> bytes:
    """A file's bytes, as they lie in the package."""
    return files("deniable.web").joinpath("static", name).read_bytes()


def sha256(name: str) -> str:
    """A file's published hash."""
    return hashlib.sha256(asset(name)).hexdigest()


def published() -> str:
    """The hashes of the page and of its program, as sha256sum writes and checks them."""
    return "".join(f"{sha256(name)}  {name}\n" for name in (PAGE, *PROGRAM))


def integrity(name: str) -> str:
    """The same for an `integrity` attribute: the browser takes no other bytes."""
    return "sha256-" + base64.b64encode(hashlib.sha256(asset(name)).digest()).decode()


def asset_routes(*names: str) -> list[Route]:
    """The addresses of some files."""
    return [Route(f"/static/{name}", _server(name)) for name in names]


def _server(name: str) -> Callable[[Request], Awaitable[Response]]:
    kind = _TYPES[name[name.rindex(".") :]]
    headers = {**_CACHED, "ETag": f'"{sha256(name)}"'}

    async def serve(request: Request) -> Response:
        if request.headers.get("if-none-match") == headers["ETag"]:
            return Response(status_code=304, headers=headers)
        return Response(asset(name), media_type=kind, headers=headers)

    return serve


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
