"""Answers: JSON in canonical form, and problems in the shape of RFC 9457 for everything that is not well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.problem_details import RETRY_AFTER, problem

if TYPE_CHECKING:
    from deniable.device.protocol.messages import Problem

# Nothing here is a page, and nothing may be taken for one.
SAFE = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"}
FRESH = {**SAFE, "Cache-Control": "no-store"}
FOREVER = {**SAFE, "Cache-Control": "public, max-age=31536000, immutable"}

# A report is stored. The header says who says so: what stands between may answer 204 to anything.
STORED = {"Deniable": "stored"}
DONE = Response(status_code=204, headers={**FRESH, **STORED})


def json_response(content: Any, headers: dict[str, str] = FRESH) -> Response:
    """Answer with JSON."""
    return json_bytes(encode(content), headers)


def json_bytes(body: bytes, headers: dict[str, str] = FRESH) -> Response:
    """Answer with JSON that is written already."""
    return Response(body, media_type="application/json", headers=headers)


def problem_response(wrong: Problem | str, detail: str = "") -> Response:
    """Answer with a problem, given whole or by its code."""
    if isinstance(wrong, str):
        wrong = problem(wrong, detail)
    headers = dict(FRESH)
    if wrong.code in RETRY_AFTER:
        headers["Retry-After"] = str(RETRY_AFTER[wrong.code])
    if wrong.code == "unauthorized":
        headers["WWW-Authenticate"] = "Bearer"
    return Response(encode(wrong), status_code=wrong.status, media_type="application/problem+json", headers=headers)
