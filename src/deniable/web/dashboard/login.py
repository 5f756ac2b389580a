"""The analyst's way in: a token or a one-time link, then a cookie that no script and no other site can use.

The cookie holds a secret made at the login, the moment it ends, and a keyed hash of both, under a key that comes from
the store. The store keeps the secret's hash until the login is over, so that every worker of a service knows the login,
it outlives a restart, and it is over for everybody who has the cookie once the analyst logs out or the analyst's token
is replaced.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from deniable.collection.bearer_tokens import ANALYST, LINK, end_login, is_login, new_login, new_token, opens

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from deniable.storage.store import Store

MOST_WRONG = 10  # wrong logins in a row that are told so; then only some a minute are
_REFILL = 6.0  # seconds for one more
COOKIE = "deniable-analyst"
_LASTS = 12 * 3600  # seconds


class Throttle:
    """Answers for wrong logins: some at once, then one in a while. A login that is right is never kept waiting.

    It knows no address, so it must not be a way to lock the analyst out; and a token of 256 bits is guessed by nobody,
    however often they may try. What it keeps small is what trying can cost.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with all answers there are."""
        self._clock, self._left, self._counted = clock, float(MOST_WRONG), clock()

    def allows(self) -> bool:
        """Take one answer, if there is one."""
        now = self._clock()
        self._left = min(MOST_WRONG, self._left + (now - self._counted) / _REFILL)
        self._counted = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


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
    return store.save(f"link {hashlib.sha256(link.encode()).hexdigest()}", mine) == mine


def is_known(store: Store, request: Request) -> bool:
    """Tell whether a request comes with a cookie of ours that has not ended. Asks the store."""
    ends, secret, mark = _parts(request)
    fresh = ends.isdecimal() and len(ends) < 20 and int(ends) > time.time()
    ours = fresh and hmac.compare_digest(mark.encode(), _mark(store, ends, secret).encode())
    return ours and is_login(store, secret, int(ends))


def is_safe(request: Request) -> bool:
    """Tell whether the browser's connection has TLS: behind a proxy only that one and the browser know.

    Whoever says so without TLS gets a cookie that their browser does not send back, and harms nobody else.
    """
    told = request.headers.get("origin", ""), request.headers.get("x-forwarded-proto", "") + "://"
    return any(text.startswith("https://") for text in told)


def let_in(store: Store, answer: Response, *, secure: bool) -> Response:
    """Give the cookie, over TLS only if `secure`. Asks the store."""
    now = int(time.time())
    ends = str(now + _LASTS)
    secret = new_login(store, now, now + _LASTS)
    answer.set_cookie(
        COOKIE,
        f"{ends}.{secret}.{_mark(store, ends, secret)}",
        max_age=_LASTS,
        path="/analyst",
        secure=secure,
        httponly=True,
        samesite="strict",
    )
    return answer


def let_out(store: Store, request: Request, answer: Response) -> Response:
    """End the login, and take the cookie away. Asks the store."""
    end_login(store, _parts(request)[1])
    answer.delete_cookie(COOKIE, path="/analyst", httponly=True, samesite="strict")
    return answer


def from_here(request: Request) -> bool:
    """Tell whether a form was sent by one of our own pages. Browsers say where it stood; other programs do not."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin")
    try:
        return origin is None or urlsplit(origin).netloc == request.headers.get("host")
    except ValueError:  # no address at all, as "http://["
        return False


def _parts(request: Request) -> tuple[str, str, str]:
    """When it ends, the secret, and their mark; empty where there is no cookie of this shape."""
    parts = request.cookies.get(COOKIE, "").split(".")
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else ("", "", "")


def _mark(store: Store, ends: str, secret: str) -> str:
    content = f"{ends}.{secret}".encode()
    return hashlib.blake2b(content, digest_size=32, key=store.salt, person=b"analyst-login").hexdigest()
