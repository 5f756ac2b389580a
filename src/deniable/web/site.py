"""Everything a collector shows to people, beside what it says to devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.web.dashboard import Dashboard
from deniable.web.pages import Pages

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from deniable.collection.collector import Collector


def site(collector: Collector) -> list[BaseRoute]:
    """The respondent's page and the analyst's."""
    return [*Pages(collector).routes(), *Dashboard(collector).routes()]
