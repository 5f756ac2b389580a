"""The analyst's way in: a token or a one-time link, then a cookie that no script and no other site can use.

The cookie holds a secret made at the login, the moment it ends, and a keyed hash of both, under a key that comes from
the store. The store keeps the secret's hash, so that every worker of a service knows the login, it outlives a restart,
and it is over for everybody who has the cookie once the analyst logs out or the analyst's token is replaced.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from deniable.collection.tokens import ANALYST, LINK, LOGIN, end, new_token, opens

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from deniable.collection.storage.base import Store

COOKIE = "deniable-analyst"
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
    """Tell whether a request comes with a cookie of ours that has not ended. Asks the store."""
    ends, secret, mark = _parts(request)
    fresh = ends.isdecimal() and len(ends) < 20 and int(ends) > time.time()
    ours = fresh and hmac.compare_digest(mark.encode(), _mark(store, ends, secret).encode())
    return ours and opens(store, secret, LOGIN)


def let_in(store: Store, request: Request, answer: Response) -> Response:
    """Give the cookie. Asks the store."""
    ends, secret = str(int(time.time()) + _LASTS), new_token(store, LOGIN)
    # Behind a proxy with TLS only the browser knows that its connection is safe, and says so in Origin.
    safe = request.headers.get("origin", "").startswith("https://")
    answer.set_cookie(
        COOKIE,
        f"{ends}.{secret}.{_mark(store, ends, secret)}",
        max_age=_LASTS,
        path="/analyst",
        secure=safe,
        httponly=True,
        samesite="strict",
    )
    return answer


def let_out(store: Store, request: Request, answer: Response) -> Response:
    """End the login, and take the cookie away. Asks the store."""
    end(store, _parts(request)[1], LOGIN)
    answer.delete_cookie(COOKIE, path="/analyst", httponly=True, samesite="strict")
    return answer


def from_here(request: Request) -> bool:
    """Tell whether a form was sent by one of our own pages. Browsers say where it stood; other programs do not."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def _parts(request: Request) -> tuple[str, str, str]:
    """When it ends, the secret, and their mark; empty where there is no cookie of this shape."""
    parts = request.cookies.get(COOKIE, "").split(".")
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else ("", "", "")


def _mark(store: Store, ends: str, secret: str) -> str:
    content = f"{ends}.{secret}".encode()
    return hashlib.blake2b(content, digest_size=32, key=store.salt, person=b"analyst-login").hexdigest()
