"""CORS (the Fetch standard): letting the page speak to a collector from an origin that the collector does not own.

The respondent's page may be hosted by somebody whom respondents trust more than the people who run the survey.
Everything that the protocol says to devices may be read from anywhere, and anything may be sent from anywhere, as it is
by other programs. No cookie goes along, and none would be looked at. Results are not part of this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response

from deniable.web.http.responses import SAFE

if TYPE_CHECKING:
    from starlette.types import Message, Scope, Send

_ASKED = b"access-control-request-method"
_ALLOWED = [(b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", b"Retry-After, Deniable")]
# Sent as every other answer here is: through `shared`.
PREFLIGHT = Response(
    status_code=204,
    headers={
        **SAFE,
        "Access-Control-Allow-Methods": "GET, POST",
        "Access-Control-Allow-Headers": "Content-Type",
        "Access-Control-Max-Age": "86400",
    },
)


def is_shared(scope: Scope) -> bool:
    """Whether an address is one that devices speak to."""
    return scope["type"] == "http" and scope["path"].startswith("/v1/") and not scope["path"].startswith("/v1/results")


def is_preflight(scope: Scope) -> bool:
    """Whether a browser asks if it may send what a page from elsewhere wants to send."""
    return scope["method"] == "OPTIONS" and any(name == _ASKED for name, _ in scope["headers"])


def shared(send: Send) -> Send:
    """Let pages from everywhere read an answer."""

    async def say(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *_ALLOWED]}
        await send(message)

    return say
