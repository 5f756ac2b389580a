"""The analyst's way in: a token or a one-time link, then a cookie that no script and no other site can use.

The cookie is not stored anywhere: it names the moment it ends and carries a keyed hash of that, under a key that comes
from the store. So every worker of a service knows it, and it outlives a restart.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from deniable.collection.tokens import ANALYST, new_token, opens

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from deniable.collection.storage.base import Store

COOKIE = "deniable-analyst"
LINK = "link"
_LASTS = 12 * 3600  # seconds


def new_link(store: Store) -> str:
    """Make the path of a link that lets somebody in, once."""
    return f"/analyst/login?link={new_token(store, LINK)}"


def may_enter(store: Store, *, token: str = "", link: str = "") -> bool:
    """Tell whether this is the analyst's token, or a link that nobody has used yet; now it is used."""
    if token:
        return opens(store, token, ANALYST)
    if not link or not opens(store, link, LINK):
        return False
    mine = secrets.token_bytes(16)
    return store.keep(f"link {hashlib.sha256(link.encode()).hexdigest()}", mine) == mine


def is_known(store: Store, request: Request) -> bool:
    """Tell whether a request comes with a cookie of ours that has not ended."""
    ends, _, mark = request.cookies.get(COOKIE, "").partition(".")
    fresh = ends.isdecimal() and len(ends) < 20 and int(ends) > time.time()
    return fresh and hmac.compare_digest(mark.encode(), _mark(store, ends).encode())


def let_in(store: Store, request: Request, answer: Response) -> Response:
    """Give the cookie."""
    ends = str(int(time.time()) + _LASTS)
    # Behind a proxy with TLS only the browser knows that its connection is safe, and says so in Origin.
    safe = request.headers.get("origin", "").startswith("https://")
    answer.set_cookie(
        COOKIE,
        f"{ends}.{_mark(store, ends)}",
        max_age=_LASTS,
        path="/analyst",
        secure=safe,
        httponly=True,
        samesite="strict",
    )
    return answer


def let_out(answer: Response) -> Response:
    """Take the cookie away."""
    answer.delete_cookie(COOKIE, path="/analyst", httponly=True, samesite="strict")
    return answer


def from_here(request: Request) -> bool:
    """Tell whether a form was sent by one of our own pages. Browsers say where it stood; other programs do not."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def _mark(store: Store, ends: str) -> str:
    return hashlib.blake2b(ends.encode(), digest_size=32, key=store.salt, person=b"analyst-login").hexdigest()
