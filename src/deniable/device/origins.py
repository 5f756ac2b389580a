"""Origins of a survey (where it is answered), and the fingerprint by which people compare what they were shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_ORIGIN = re.compile(r"(https?)://([a-z0-9.-]+|\[[0-9a-f:.]+\])(:([1-9][0-9]{0,4}))?")
_DEFAULT_PORTS = {"http": "80", "https": "443"}


def is_origin(text: str) -> bool:
    """Tell whether a text is an origin as browsers write it: lower case, no default port, nothing behind it.

    >>> is_origin("https://survey.example.org"), is_origin("https://survey.example.org:443"), is_origin("https://a/b")
    (True, False, False)
    """
    found = _ORIGIN.fullmatch(text)
    return found is not None and found[4] != _DEFAULT_PORTS[found[1]] and int(found[4] or 1) < 1 << 16


def is_for(audience: Sequence[str], url: str) -> bool:
    """Tell whether reports may be sent to an address.

    On loopback neither port nor name is told apart: whoever listens there is on the respondent's own machine.

    >>> is_for(["https://a.example"], "https://A.example:443/path"), is_for(["https://a.example"], "https://b.example")
    (True, False)
    >>> is_for(["http://localhost"], "http://127.0.0.1:8000")
    True
    """
    here = origin_of(url)
    return here in audience or (_host(here) in _LOOPBACK and any(_host(entry) in _LOOPBACK for entry in audience))


def origin_of(url: str) -> str:
    """The origin of an address, as browsers write it."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = "" if parts.port in (None, {"http": 80, "https": 443}.get(parts.scheme)) else f":{parts.port}"
    return f"{parts.scheme}://[{host}]{port}" if ":" in host else f"{parts.scheme}://{host}{port}"


def _host(origin: str) -> str:
    found = _ORIGIN.fullmatch(origin)
    return "" if found is None else found[2]


def fingerprint(name: str) -> str:
    """The beginning of a hash, for people to compare.

    >>> fingerprint("0123456789abcdef" * 4)
    '0123-4567-89ab-cdef'
    """
    return "-".join(name[start : start + 4] for start in range(0, 16, 4))
