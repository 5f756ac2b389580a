"""Everything a collector can find wrong, each with its HTTP status and a sentence: RFC 9457's `type` and `title`."""

from __future__ import annotations

from deniable.device.protocol.canonical_json import S, decode
from deniable.device.protocol.messages import Problem
from deniable.errors import MessageError

PREFIX = "urn:deniable:problem:"

# code: (status, title). The codes are part of the protocol; titles may be reworded.
PROBLEMS: dict[str, tuple[int, str]] = {
    "malformed": (400, "This is not a message of this protocol."),
    "unknown-field": (400, "The message has a field that this version does not know."),
    "unknown-version": (400, "The message is of a version that this collector does not know."),
    "repeated-key": (400, "The message has a key twice."),
    "unknown-parameter": (400, "The address has a query parameter that means nothing here."),
    "unauthorized": (401, "This needs an analyst's token."),
    "not-invited": (403, "This survey takes reports by invitation, and this is none of those it gave out."),
    "closed": (403, "The survey does not take reports at this time."),
    "not-found": (404, "There is nothing here."),
    "unknown-design": (404, "This collector never served that design."),
    "method-not-allowed": (405, "This address does not take that method."),
    "too-slow": (408, "The request did not arrive in time; send the same bytes again."),
    "conflict": (409, "Another report has the same id."),
    "reworded": (409, "The words of this survey were changed before anybody had answered it under the earlier ones."),
    "used": (409, "This invitation was used for another token."),
    "too-large": (413, "The request is larger than this collector reads."),
    "unfit": (422, "The report does not fit its design."),
    "unknown-block": (422, "The report names a block that was not published for its design."),
    "busy": (429, "More reports are waiting than can be stored now; send the same bytes again in a moment."),
    "failed": (500, "Something went wrong on this side."),
    "unavailable": (503, "Reports cannot be stored at this time; send the same bytes again later."),
    "full": (507, "There is no space left to store reports in; send the same bytes again later."),
}
# What no second try with the same bytes can change: only these settle a report as not taken.
FINAL = frozenset(
    (
        "malformed",
        "unknown-field",
        "unknown-version",
        "repeated-key",
        "not-invited",
        "unknown-design",
        "conflict",
        "reworded",
        "too-large",
        "unfit",
        "unknown-block",
    )
)
RETRY_AFTER = {"busy": 1, "unavailable": 5, "full": 60}


def problem(code: str, detail: str = "") -> Problem:
    """Make a problem.

    >>> problem("conflict").status, problem("conflict").code
    (409, 'conflict')
    """
    status, title = PROBLEMS[code]
    return Problem(PREFIX + code, title, status, detail)


def read(body: bytes, kind: type[S], *, most: int) -> S | Problem:
    """Read a message as strictly as a device would; what cannot be read becomes a problem.

    >>> from deniable.device.protocol.messages import Report
    >>> read(b"{}", Report, most=100).code
    'malformed'
    """
    try:
        return decode(body, kind, most=most)
    except MessageError as error:
        code = str(error.details["code"])
        return problem(code if code in PROBLEMS else "malformed", error.message)
