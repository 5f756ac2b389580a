"""Blind tokens over HTTP: the issuer's key, and a signature for an invitation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.device.protocol.messages import MOST_ADMISSION_BYTES, Problem
from deniable.web.api.post_reports import bounded_body
from deniable.web.http.query_parameters import Address
from deniable.web.http.responses import json_bytes, json_response, problem_response

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from deniable.collection.collector import Collector


class Admission:
    """The addresses of admission."""

    def __init__(self, collector: Collector) -> None:
        """Take the collector that answers."""
        self._collector = collector

    def routes(self) -> list[Address]:
        """Address by address."""
        return [
            Address("/v1/issuer", self.show_issuer),
            Address("/v1/tokens", self.sign_token, methods=["POST"]),
        ]

    async def show_issuer(self, _request: Request) -> Response:
        """The public key that tokens are signed with."""
        issuer = self._collector.entrance.issuer
        return problem_response("not-found") if issuer is None else json_bytes(issuer.message)

    async def sign_token(self, request: Request) -> Response:
        """Sign a blinded token, once for each invitation."""
        body = await bounded_body(request.receive, MOST_ADMISSION_BYTES)
        if body is None:
            return problem_response("too-large")
        found = await self._collector.sign(body)
        return problem_response(found) if isinstance(found, Problem) else json_response(found)
