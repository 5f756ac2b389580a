"""Everything a collector shows to people, beside what it says to devices. Apart, as it loads what pages need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.web.dashboard.dashboard import Dashboard
from deniable.web.page.static_files import page_routes

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from deniable.collection.collector import Collector


def site(collector: Collector) -> list[BaseRoute]:
    """The respondent's page and the analyst's."""
    return [*page_routes(), *Dashboard(collector).routes()]
