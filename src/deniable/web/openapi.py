"""The OpenAPI document: schemas come from the message types themselves, so they cannot fall behind."""

from __future__ import annotations

from typing import Any

import msgspec

from deniable import __version__
from deniable.collection.messages import (
    MOST_BATCH,
    Application,
    Design,
    Entry,
    Form,
    Found,
    Issuer,
    Problem,
    Receipt,
    Report,
    Seeking,
    Signed,
)
from deniable.collection.problems import PROBLEMS

_TYPES = (Report, Receipt, Problem, Design, Form, Issuer, Application, Signed, Entry, Seeking, Found)


def document() -> dict[str, Any]:
    """The whole document."""
    _, components = msgspec.json.schema_components(_TYPES, ref_template="#/components/schemas/{name}")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "deniable collector",
            "version": __version__,
            "description": "Takes disguised answers in. Nothing about the sender is stored or logged.",
        },
        "paths": {
            "/v1/survey": {"get": _operation("The survey as respondents read it.", {"200": _json("Form")})},
            "/v1/designs/{design}": {
                "get": _operation(
                    "A design by its hash: the integers that a device verifies and runs.",
                    {"200": _json("Design"), "404": _problem("unknown-design")},
                    [_DESIGN],
                )
            },
            "/v1/reports": {"post": _reports()},
            "/v1/designs/{design}/block": {
                "get": _operation(
                    "The open block of a design in blocks: the integers that reports are made with now.",
                    {"200": _any("application/json"), **_problems("not-found", "unavailable")},
                    [_DESIGN],
                )
            },
            "/v1/designs/{design}/blocks": {
                "get": _operation(
                    "The chain of blocks, a hundred at a time.",
                    {"200": _any("application/json"), **_problems("not-found", "unavailable")},
                    [_DESIGN, _AFTER],
                )
            },
            "/v1/partners": {
                "post": _message(
                    "Ask for a partner to share coins with, until there is one or the wait is over.",
                    "Seeking",
                    {"200": _json("Found"), **_problems("malformed", "unknown-design", "too-large", "busy")},
                )
            },
            "/v1/issuer": {
                "get": _operation(
                    "The key that blind tokens are signed with.",
                    {"200": _json("Issuer"), "404": _problem("not-found")},
                )
            },
            "/v1/tokens": {
                "post": _message(
                    "Get a blinded token signed for an invitation; the same one again gets the same signature.",
                    "Application",
                    {
                        "200": _json("Signed"),
                        **_problems("malformed", "not-invited", "used", "too-large", "unavailable"),
                    },
                )
            },
            "/v1/entries": {
                "post": _message(
                    "Admit the one report whose id is the hash of a signed token.",
                    "Entry",
                    {
                        "204": {"description": "It is admitted."},
                        **_problems("malformed", "not-invited", "too-large", "unavailable"),
                    },
                )
            },
            "/v1/results": {
                "get": _operation(
                    "Estimates with standard errors and intervals.",
                    {"200": _any("application/json"), "401": _problem("unauthorized"), "422": _problem("unfit")},
                    [_TABLE],
                    secured=True,
                )
            },
            "/v1/results.csv": {
                "get": _operation(
                    "The same as CSV.",
                    {"200": _any("text/csv"), "401": _problem("unauthorized"), "422": _problem("unfit")},
                    [_TABLE],
                    secured=True,
                )
            },
            "/health": {
                "get": _operation(
                    "Whether reports can be stored.",
                    {"200": _any("application/json"), "503": _problem("unavailable")},
                )
            },
        },
        "components": {
            "schemas": components,
            "securitySchemes": {"analyst": {"type": "http", "scheme": "bearer"}},
        },
    }


_DESIGN = {
    "name": "design",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
}
_AFTER = {
    "name": "after",
    "in": "query",
    "required": False,
    "description": "The number of the last block that is known already.",
    "schema": {"type": "integer", "minimum": -1, "maximum": 99999999},
}
_TABLE = {
    "name": "table",
    "in": "query",
    "required": False,
    "description": "Attributes whose joint table is wanted, joined by commas; may be given several times.",
    "schema": {"type": "array", "items": {"type": "string"}},
}


def _reports() -> dict[str, Any]:
    one = {"$ref": "#/components/schemas/Report"}
    operation = _operation(
        "Send one report, or a batch. An answer comes after the reports are on disk. Sending the same bytes again is "
        "harmless and gets the same answer.",
        {
            "200": {**_json("Receipt"), "description": "A batch: what was not stored, in order, and why."},
            "204": {"description": "One report: it is stored."},
            **_problems("malformed", "closed", "unknown-design", "conflict", "closed-block"),
            **_problems("too-large", "unfit", "busy"),
            **_problems("unavailable", "full"),
        },
    )
    schema = {"oneOf": [one, {"type": "array", "maxItems": MOST_BATCH, "items": one}]}
    return {**operation, "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _message(summary: str, name: str, responses: dict[str, Any]) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{name}"}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    return {**_operation(summary, responses), "requestBody": body}


def _problems(*codes: str) -> dict[str, Any]:
    return {str(PROBLEMS[code][0]): _problem(code) for code in codes}


def _operation(
    summary: str,
    responses: dict[str, Any],
    parameters: list[dict[str, Any]] | None = None,
    *,
    secured: bool = False,
) -> dict[str, Any]:
    found: dict[str, Any] = {"summary": summary, "responses": responses}
    if parameters:
        found["parameters"] = parameters
    if secured:
        found["security"] = [{"analyst": []}]
    return found


def _json(name: str) -> dict[str, Any]:
    return {
        "description": name,
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}},
    }


def _any(kind: str) -> dict[str, Any]:
    return {"description": "As said.", "content": {kind: {}}}


def _problem(code: str) -> dict[str, Any]:
    return {
        "description": PROBLEMS[code][1],
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
