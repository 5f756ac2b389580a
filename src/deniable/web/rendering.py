"""The analyst's pages: templates, and the policy they are shown under."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from deniable.core.summary import share
from deniable.device.privacy_statement import rounded_up
from deniable.web.dashboard.page_data import pairs_of, shares_of
from deniable.web.page.static_files import integrity
from deniable.web.pages import GUARDED

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {**GUARDED, "Content-Security-Policy": POLICY}


@cache
def templates() -> Environment:
    """The templates: everything is escaped, and a name that is missing is an error."""
    found = Environment(loader=PackageLoader("deniable.web"), autoescape=True, undefined=StrictUndefined)
    found.trim_blocks = found.lstrip_blocks = True
    found.globals["integrity"] = integrity
    found.filters["up"] = rounded_up
    found.filters["share"] = share
    found.globals |= {"shares_of": shares_of, "pairs_of": pairs_of}
    return found
