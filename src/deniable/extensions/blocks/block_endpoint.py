"""Blocks over HTTP: the open one, and the whole chain for whoever wants to follow it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from deniable.errors import StoreError
from deniable.extensions.blocks.served_blocks import Chain
from deniable.web.http.query_parameters import Address
from deniable.web.http.responses import json_bytes, problem_response

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response

    from deniable.collection.collector import Collector

_PAGE = 100
_PAGE_BYTES = 1 << 20


class BlockApi:
    """The addresses of blocks."""

    def __init__(self, collector: Collector) -> None:
        """Take the collector that answers."""
        self._collector = collector

    def routes(self) -> list[Address]:
        """Address by address."""
        return [
            Address("/v1/designs/{design}/block", self.show_open),
            Address("/v1/designs/{design}/blocks", self.show_chain, takes=("after",)),
        ]

    def _chain(self, request: Request) -> Chain | None:
        found = self._collector.sessions.get(request.path_params["design"])
        return found if isinstance(found, Chain) else None

    async def show_open(self, request: Request) -> Response:
        """The block that reports are made in now."""
        chain = self._chain(request)
        if chain is None:
            return problem_response("not-found")
        try:
            block = chain.fresh
            return json_bytes((await asyncio.to_thread(chain.current) if block is None else block).canonical())
        except StoreError:
            return problem_response("unavailable")

    async def show_chain(self, request: Request) -> Response:
        """Blocks that follow the number `after`, at most a hundred, and not much more than a megabyte."""
        chain = self._chain(request)
        after = request.query_params.get("after", "-1")
        if chain is None or not after.removeprefix("-").isdecimal() or len(after) > 9:
            return problem_response("not-found")
        try:
            found = await asyncio.to_thread(chain.after, int(after), _PAGE)
        except StoreError:
            return problem_response("unavailable")
        return json_bytes(b"[" + b",".join(_page(block.canonical() for block in found)) + b"]")


def _page(blocks: Iterable[bytes]) -> list[bytes]:
    """As many blocks as fit on a page, and at least one: blocks of large questions are large."""
    page: list[bytes] = []
    size = 0
    for block in blocks:
        size += len(block)
        if page and size > _PAGE_BYTES:
            break
        page.append(block)
    return page
