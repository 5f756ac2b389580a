"""The OpenAPI document: schemas come from the message types themselves, so they cannot fall behind."""

from __future__ import annotations

from typing import Any

import msgspec

from deniable.device.protocol.fake_blocks import Block
from deniable.device.protocol.messages import (
    MOST_BATCH,
    Announcement,
    Application,
    Design,
    Form,
    Found,
    Issuer,
    Problem,
    Receipt,
    Report,
    Seeking,
    Signed,
)
from deniable.device.protocol.problem_details import PROBLEMS
from deniable.version import __version__
from deniable.web.api.results_endpoint import RefusedTable, Results, ResultTable

_TYPES = (
    Results,
    ResultTable,
    RefusedTable,
    Report,
    Receipt,
    Problem,
    Announcement,
    Design,
    Block,
    Form,
    Issuer,
    Application,
    Signed,
    Seeking,
    Found,
)
_BAD_MESSAGE = ("malformed", "unknown-field", "unknown-version", "repeated-key", "too-large", "too-slow", "busy")


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
            "/v1/survey": {"get": _operation("Which design is served, and when.", {"200": _json("Announcement")})},
            "/v1/simulated": {
                "get": _operation(
                    "Whether reports are shown that are not simulated: simulations keep away from them.",
                    {"200": _content(_object(others={"type": "boolean"})), **_problems("unavailable")},
                )
            },
            "/v1/forms/{form}": {
                "get": _operation(
                    "The survey's words by their hash, which the design names.",
                    {"200": _json("Form"), **_problems("not-found")},
                    [{**_DESIGN, "name": "form"}],
                )
            },
            "/v1/designs/{design}": {
                "get": _operation(
                    "A design by its hash: the integers that a device verifies and runs.",
                    {"200": _json("Design"), **_problems("unknown-design", "not-found")},
                    [_DESIGN],
                )
            },
            "/v1/reports": {"post": _reports()},
            "/v1/designs/{design}/block": {
                "get": _operation(
                    "The open block of a design in blocks: the integers that reports are made with now.",
                    {"200": _json("Block"), **_problems("not-found", "unavailable")},
                    [_DESIGN],
                )
            },
            "/v1/designs/{design}/blocks": {
                "get": _operation(
                    "The chain of blocks, a hundred at a time, or fewer that are large; an empty page is its end.",
                    {"200": _content(_list("Block", 100)), **_problems("not-found", "unavailable")},
                    [_DESIGN, _AFTER],
                )
            },
            "/v1/partners": {
                "post": _message(
                    "Ask for a partner to share coins with, until there is one or the wait is over.",
                    _ref("Seeking"),
                    {"200": _json("Found"), **_problems(*_BAD_MESSAGE, "unknown-design")},
                )
            },
            "/v1/issuer": {
                "get": _operation(
                    "The key that blind tokens are signed with.",
                    {"200": _json("Issuer"), **_problems("not-found")},
                )
            },
            "/v1/tokens": {
                "post": _message(
                    "Get a blinded token signed for an invitation; the same one again gets the same signature.",
                    _ref("Application"),
                    {
                        "200": _json("Signed"),
                        **_problems(*_BAD_MESSAGE, "closed", "not-invited", "used", "unavailable"),
                    },
                )
            },
            "/v1/results": {"get": _results("Estimates with standard errors and intervals.", _json("Results"))},
            "/v1/results.csv": {"get": _results("The same as CSV.", _content({"type": "string"}, "text/csv"))},
            "/health": _health("Whether reports can be stored: the same as /health/ready."),
            "/health/ready": _health("Whether reports can be stored now, tried against the store."),
            "/health/live": _health("Whether the process runs, whatever its store does."),
        },
        "components": {
            "schemas": _portable(components),
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


_LEVEL = {
    "name": "level",
    "in": "query",
    "required": False,
    "description": "The confidence level of intervals; 0.95 where it is not said.",
    "schema": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
}


def _object(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _portable(schema: Any) -> Any:
    r"""The same schema with patterns as JSON Schema reads them: ^ and $ for Python's \A and \Z."""
    if isinstance(schema, dict):
        return {
            key: value.replace(r"\A", "^").replace(r"\Z", "$") if key == "pattern" else _portable(value)
            for key, value in schema.items()
        }
    return [_portable(value) for value in schema] if isinstance(schema, list) else schema


def _reports() -> dict[str, Any]:
    return _message(
        "Send one report, or a batch. An answer comes after the reports are on disk. Sending the same bytes again is "
        "harmless and gets the same answer. With ?simulated they are marked as made up.",
        {"oneOf": [_ref("Report"), _list("Report", MOST_BATCH)]},
        {
            "200": {**_json("Receipt"), "description": "A batch: what was not stored, in order, and why."},
            "204": {"description": "One report: it is stored."},
            **_problems(*_BAD_MESSAGE, "closed", "not-invited", "unknown-design", "conflict"),
            **_problems("unfit", "unknown-block", "unavailable", "full"),
        },
    )


def _results(summary: str, good: dict[str, Any]) -> dict[str, Any]:
    operation = _operation(
        summary, {"200": good, **_problems("unauthorized", "unfit", "unavailable")}, [_TABLE, _LEVEL]
    )
    return {**operation, "security": [{"analyst": []}]}


def _health(summary: str) -> dict[str, Any]:
    good = _content({"type": "object", "properties": {"status": {"const": "ok"}}})
    return {"get": _operation(summary, {"200": good, **_problems("unavailable")})}


def _message(summary: str, schema: dict[str, Any], responses: dict[str, Any]) -> dict[str, Any]:
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    return {**_operation(summary, responses), "requestBody": body}


def _operation(
    summary: str, responses: dict[str, Any], parameters: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """An operation. Every one refuses a query parameter that it does not name."""
    found: dict[str, Any] = {"summary": summary, "responses": _with_strange(responses)}
    return {**found, "parameters": parameters} if parameters else found


def _with_strange(responses: dict[str, Any]) -> dict[str, Any]:
    (strange,) = _problems("unknown-parameter").items()
    status, told = strange
    said = " ".join(each["description"] for each in (responses.get(status), told) if each)
    return responses | {status: told | {"description": said}}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(name: str, most: int) -> dict[str, Any]:
    return {"type": "array", "maxItems": most, "items": _ref(name)}


def _json(name: str) -> dict[str, Any]:
    return {**_content(_ref(name)), "description": name}


def _content(schema: dict[str, Any], kind: str = "application/json") -> dict[str, Any]:
    return {"description": "As said.", "content": {kind: {"schema": schema}}}


def _problems(*codes: str) -> dict[str, Any]:
    """What can be wrong, by status; several reasons may have the same one."""
    titles: dict[str, list[str]] = {}
    for code in codes:
        status, title = PROBLEMS[code]
        titles.setdefault(str(status), []).append(f"`{code}`: {title}")
    return {
        status: {**_content(_ref("Problem"), "application/problem+json"), "description": " ".join(reasons)}
        for status, reasons in titles.items()
    }
