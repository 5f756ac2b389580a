"""Query parameters: an address answers to those that it names, and refuses a request with any other."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from starlette.routing import Route

from deniable.text import listed
from deniable.web.http.responses import problem_response

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.types import Receive, Scope, Send


class Address(Route):
    """A route that takes some query parameters and no other: whoever asks for more would take the answer for it.

    Pages that people are sent a link to are plain routes: mail programs and networks add marks of their own to links.
    """

    def __init__(
        self,
        path: str,
        endpoint: Callable[..., Any],
        *,
        methods: Sequence[str] | None = None,
        takes: Sequence[str] = (),
        repeats: Sequence[str] = (),
    ) -> None:
        """Take what a route takes, the names of the parameters that it answers to, and which may stand repeatedly."""
        super().__init__(path, endpoint, methods=methods)
        self._takes, self._once = takes, set(takes) - set(repeats)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or say which of its parameters means nothing here."""
        given = Counter(name for name, _ in parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        strange = next((name for name in given if name not in self._takes), None)
        twice = next((name for name in given if name in self._once and given[name] > 1), None)
        if strange is not None:
            known = f"known are {listed(self._takes)}" if self._takes else "this address takes none"
            said = f"There is no parameter {strange[:40]!r} here; {known}."
        elif twice is not None:
            said = f"The parameter {twice!r} stands here {given[twice]} times; it is taken once."
        else:
            await super().handle(scope, receive, send)
            return
        await problem_response("unknown-parameter", said)(scope, receive, send)
