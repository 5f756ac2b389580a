"""What was computed is kept for a while: once for all who ask at the same time, and not again at once.

Reports arrive all the time, so results are never up to date for long. While many arrive, whatever took a second to make
is shown for the next nine: making it then takes at most a tenth of the time, however many look. Where few arrive,
nobody is in the way: whoever looks sees what there was a second ago, whatever that takes. The first thousand are shown
at once.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

T = TypeVar("T")
REST = 9.0  # times as long as it took, something is shown before it is made again
LEAST = 1.0  # seconds that it is shown at least
CALM = 100  # reports a second; fewer do not fill a server, and what is made of them is not put off
FEW = 1000  # reports up to which it is made again whenever there are more: whoever begins a survey looks at each
_MOST = 100  # things


@dataclass
class _Made:
    task: asyncio.Task[Any]
    reports: int  # of which it was made
    since: float  # when it was begun
    until: float = 0.0  # when it may be made again
    rested: float = 0.0  # when it may be made again though many reports arrive

    def is_due(self, reports: int) -> bool:
        """Whether it is to be made again, of so many reports."""
        if reports == self.reports:
            return False
        now = monotonic()
        return now >= self.rested or reports - self.reports < CALM * (now - self.since)


class Kept:
    """Keeps what was computed. Belongs to one event loop."""

    def __init__(self, reports: Callable[[], Awaitable[int]]) -> None:
        """Take what tells how many reports there are: as long as there are no more, nothing is made again."""
        self._reports = reports
        self._made: dict[Hashable, _Made] = {}

    async def get(self, name: Hashable, make: Callable[[], Awaitable[T]]) -> T:
        """What has this name; if it is being made, wait for it with the others."""
        known = self._made.get(name)
        if known is None or (known.task.done() and monotonic() >= known.until):
            reports = await self._reports()
            known = self._made.get(name)  # somebody else may have been quicker
            if known is None or (known.task.done() and known.is_due(reports)):
                known = self._begin(name, make, reports)
        found: T = await asyncio.shield(known.task)  # whoever goes away does not stop it for the others
        return found

    def _begin(self, name: Hashable, make: Callable[[], Awaitable[Any]], reports: int) -> _Made:
        if len(self._made) >= _MOST:
            self._made = {key: one for key, one in self._made.items() if not one.task.done()}
        made = self._made[name] = _Made(asyncio.ensure_future(self._make(name, make)), reports, monotonic())
        return made

    async def _make(self, name: Hashable, make: Callable[[], Awaitable[Any]]) -> Any:
        began = monotonic()
        try:
            return await make()
        except BaseException:
            self._made.pop(name, None)  # what failed is tried again
            raise
        finally:
            now = monotonic()
            if name in self._made and self._made[name].reports > FEW:
                self._made[name].until = now + LEAST
                self._made[name].rested = now + max(LEAST, REST * (now - began))
