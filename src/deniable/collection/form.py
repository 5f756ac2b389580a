"""From a survey to the two messages that a collector serves: its design, and its form."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import msgspec

from deniable.collection.messages import Attribute, Choice, Design, Form, FormItem, Plan, design_id, encode
from deniable.collection.verify import verify
from deniable.designs.blocks import Blocks
from deniable.designs.fakes import BITS
from deniable.designs.paired import Paired
from deniable.errors import DesignError

if TYPE_CHECKING:
    from datetime import datetime

    from deniable.designs.base import Design as PlannedDesign
    from deniable.surveys.items import Item
    from deniable.surveys.survey import Survey


def design_body(survey: Survey) -> bytes:
    """The design as it is served. It is verified here as every device will verify it."""
    try:
        plan = msgspec.convert(_plan(survey.design), Plan)
    except msgspec.ValidationError as error:
        raise DesignError(f"a {survey.design.kind} design cannot be served by this version: {error}") from error
    message = Design(
        version=1,
        survey=survey.name,
        epsilon=decimal_text(survey.epsilon),
        plan=plan,
        static=list(survey.static),
        public=[Attribute(item.name, list(item.variable.categories)) for item in survey.public],  # type: ignore[arg-type]
    )
    body = encode(message)
    verify(body, design_id(body))
    return body


def _plan(design: PlannedDesign) -> dict[str, Any]:
    data = design.to_dict()
    if isinstance(design, Paired):
        return _paired_plan(design, data)
    if not isinstance(design, Blocks):
        return data
    if design.mode != "ldp":
        raise DesignError("blocks without a floor keep no epsilon, and are not served", mode=design.mode)
    questions = [
        {
            "attributes": list(question.attributes),
            "channel": {
                "kind": "adaptive",
                "cells": limits.cells,
                "most_kept": limits.keep,
                "least_fake": limits.floor,
                "bits": BITS,
            },
        }
        for question, limits in zip(design.questions, design.limits, strict=True)
    ]
    kept = {key: data[key] for key in ("format", "kind", "domain", "ballots")}
    return {**kept, "questions": questions}


def _paired_plan(design: Paired, data: dict[str, Any]) -> dict[str, Any]:
    wide = [name for name, variable in design.domain.items() if len(variable) > 2]
    if wide:
        raise DesignError(f"paired questions are served with two categories each; {wide} have more", attributes=wide)
    questions = [
        {"attributes": [name], "channel": {"kind": "paired", **coins.to_dict()}} for name, coins in design.coins.items()
    ]
    return {**{key: data[key] for key in ("format", "kind", "domain", "ballots")}, "questions": questions}


def form_of(survey: Survey, design: str) -> Form:
    """The survey as respondents read it."""
    return Form(
        version=1,
        survey=survey.name,
        design=design,
        title=survey.title,
        languages=list(survey.languages),
        questions=[_form_item(item) for item in survey.questions],
        public=[_form_item(item) for item in survey.public],
        texts=dict(survey.texts),
        admission=survey.admission,
        opens=_moment(survey.opens),
        closes=_moment(survey.closes),
    )


def decimal_text(number: float) -> str:
    """Write a number as the shortest decimal that reads back as the same float, without an exponent.

    >>> decimal_text(1.0), decimal_text(0.1), decimal_text(1e-7)
    ('1', '0.1', '0.0000001')
    """
    text = f"{Decimal(repr(number)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _form_item(item: Item) -> FormItem:
    return FormItem(
        item.name,
        item.text,
        item.kind,
        [Choice(option.value, option.text) for option in item.options],
        list(item.bins),
        {name: list(values) for name, values in item.show_if.items()},
    )


def _moment(moment: datetime | None) -> Any:
    return None if moment is None else moment.isoformat()
