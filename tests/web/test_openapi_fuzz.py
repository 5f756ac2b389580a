"""Schemathesis reads the OpenAPI document and tries every address of four surveys with what fits and what does not.

Whether the document allows a request or forbids it, the answer has a documented status, type and shape, and is never
the server's own failure. Hypothesis derives its examples without chance here, so every run sends the same.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from copy import deepcopy

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from chequered import is_tried
from deniable.device.protocol.admission_token import token_id
from deniable.extensions.blocks.served_blocks import Chain
from deniable.web.api.openapi import document
from small_survey import BLOCKS, PAIRED, small_survey

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
FEWER = int(os.environ.get("DENIABLE_EXAMPLES", "3"))  # of each address; `make faults` sends many more
REPORTS = {"open": 7, "blind": 14, "blocks": 7, "pairs": 7}  # times as many of these; more where few get past the door
KINDS = {
    "open": small_survey(),
    "blind": small_survey(admission="blind"),
    "blocks": small_survey(BLOCKS),
    "pairs": small_survey(PAIRED),
}
# What must have been reached at least once: otherwise everything was turned away at the door, and nothing was tried.
REACHED = {
    "open": {"POST /v1/reports": {200, 204, 400, 404, 422}, "GET /v1/results": {200, 422}},
    "blind": {"POST /v1/reports": {200, 400, 403}, "GET /v1/issuer": {200}, "POST /v1/tokens": {400, 403}},
    "blocks": {"POST /v1/reports": {200, 400, 422}, "GET /v1/designs/{design}/blocks": {200, 404}},
    "pairs": {"POST /v1/reports": {200, 204, 400}, "POST /v1/partners": {200, 400, 404}},
}


def narrowed(running):
    """The document with this survey's own names as the only ones: so that requests get past the first check."""
    found, collector = deepcopy(document()), running.collector
    schemas = found["components"]["schemas"]
    design = {"type": "string", "enum": [collector.design_id, "0" * 64]}
    for name in ("Report", "Seeking"):
        schemas[name]["properties"]["design"] = design
    fields = schemas["Report"]["properties"]
    fields["ballot"] = {"type": "integer", "enum": [0]}
    fields["version"] = {"type": "integer", "enum": [2]}
    if collector.survey.admission != "blind":
        fields["token"] = fields["signature"] = {"enum": [None]}
    else:  # a token that nobody signed
        fields["id"] = {"type": "string", "enum": [token_id(bytes(64))]}
        fields["token"], fields["signature"] = ({"enum": ["00" * size]} for size in (64, 256))
        schemas["Report"]["required"] += ["token", "signature"]
    in_blocks = isinstance(collector.session, Chain)
    code = {"type": "integer", "minimum": 0, "maximum": 2 if in_blocks else 1}
    asked = len(collector.survey.design.ballots[0])
    fields["answers"] = {"type": "array", "items": code, "minItems": asked, "maxItems": asked + 1}
    fields["public"] = {"type": "array", "items": code, "maxItems": 1}
    fields["block"] = {"enum": [collector.session.current().id, "0" * 64] if in_blocks else [None]}
    if collector.entrance.issuer is not None:
        invitations = collector.entrance.invite(2)
        schemas["Application"]["properties"]["invitation"] = {"type": "string", "enum": [*invitations, "none"]}
    for path in found["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", []):
                if parameter["name"] == "design":
                    parameter["schema"] = design
                if parameter["name"] == "table":
                    parameter["schema"]["items"] = {"type": "string", "enum": ["a", "b", "a,b", "c"]}
    return found


def probe(operation, mode, running, session, examples):
    """Send an operation's examples, check every answer, and count the statuses."""
    statuses = Counter()

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case):
        secured = "security" in operation.definition.raw
        # Analysts' addresses are tried as the analyst: what a stranger gets there is tested elsewhere.
        headers = {"Authorization": f"Bearer {running.token}"} if secured else None
        answer = case.call_and_validate(running.url, session, headers, checks=CHECKS)
        statuses[answer.status_code] += 1

    send()
    return statuses


def alone(found):
    """The same document with one address, where one report may be sent but no batch."""
    reports = deepcopy(found["paths"]["/v1/reports"])
    reports["post"]["requestBody"]["content"]["application/json"]["schema"] = {"$ref": "#/components/schemas/Report"}
    return {**found, "paths": {"/v1/reports": reports}}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_is_as_documented(kind, serve):
    found = defaultdict(Counter)
    with serve(KINDS[kind]) as running, requests.Session() as session:
        whole = narrowed(running)
        schemas = [schemathesis.openapi.from_dict(one) for one in (whole, alone(whole))]
        every = [result.ok() for schema in schemas for result in schema.get_all_operations()]
        # What a kind of survey is asked for, and of the other addresses every other one; in `make faults` all.
        row, least = list(KINDS).index(kind), REACHED[kind] if FEWER == 3 else {one.label for one in every}
        for operation in (one for at, one in enumerate(every) if one.label in least or is_tried(row, at)):
            takes = operation.definition.raw.keys() & {"parameters", "requestBody"}
            examples = REPORTS[kind] * FEWER if operation.path == "/v1/reports" else FEWER
            # Where nothing is sent, nothing can be sent wrongly.
            for mode in GenerationMode if takes else [GenerationMode.POSITIVE]:
                found[operation.label] += probe(operation, mode, running, session, examples)
        assert running.collector.writer.alive
        assert running.collector.store.counts(1) == running.collector.store.recount(1)
    missed = {label: wanted - found[label].keys() for label, wanted in REACHED[kind].items()}
    assert not any(missed.values()), (missed, found)
