"""From a survey to what a collector serves: its form (the words), and its design, which names the form by its hash."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import msgspec

from deniable.device.design_terms import is_edge
from deniable.device.protocol.canonical_json import encode
from deniable.device.protocol.messages import (
    VERSION,
    Announcement,
    Bins,
    BlockRule,
    Choices,
    Design,
    Entry,
    Form,
    FormItem,
    Plan,
    PublicItem,
    Rule,
    design_id,
)
from deniable.device.protocol.messages import Item as ItemMessage
from deniable.device.verify import verify
from deniable.errors import DesignError, SurveyError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from deniable.device.protocol.messages import Coder
    from deniable.surveys.items import Item
    from deniable.surveys.survey import Survey

LOOPBACK = ("http://localhost",)  # whom a survey is for that is not said to be for anybody else
UPDATE: Final = "pooled"  # the fakes of the next block follow from all reports so far


def design_body(
    survey: Survey,
    audience: Sequence[str] = LOOPBACK,
    *,
    issuer: str | None = None,
    replaces: str | None = None,
    form: Form | None = None,
) -> bytes:
    """The design as it is served to devices that reach the collector at these origins; its words are those of `form`.

    It is verified here as every device will verify it.
    """
    try:
        plan = msgspec.convert(survey.design.plan(), Plan)
    except msgspec.ValidationError as error:
        raise DesignError(f"a {survey.design.kind} design cannot be served by this version: {error}") from error
    size = survey.design.served_in_blocks()
    message = Design(
        version=VERSION,
        survey=survey.name,
        epsilon=decimal_text(survey.epsilon),
        plan=plan,
        items=tuple(_item(item, survey) for item in survey.questions),
        public=tuple(
            PublicItem(item.name, item.kind, _coder(item), tuple(map(_category, item.variable.categories)))
            for item in survey.public
        ),
        panel=survey.panel,
        admission=survey.admission,
        issuer=issuer,
        audience=tuple(sorted(set(audience))),
        blocks=None if size is None else BlockRule(size, UPDATE),
        weights=survey.design.weights,
        wave=None,
        replaces=replaces,
        published=survey.published,
        texts=design_id(form_body(survey) if form is None else encode(form)),
    )
    body = encode(message)
    verify(body, design_id(body))
    return body


def _item(item: Item, survey: Survey) -> ItemMessage:
    public = {each.name: each.variable.categories for each in survey.public}
    rules = tuple(
        Rule(name, tuple(_category(each) for each in public[name] if each in wanted))
        for name, wanted in item.show_if.items()
    )
    return ItemMessage(item.name, item.kind, _coder(item), rules)


def _coder(item: Item) -> Coder:
    if not item.bins:
        return Choices()
    return Bins(tuple(_plain(edge, f"an edge of the bins of {item.name!r}") for edge in item.bins))


def _plain(number: float, what: str) -> str:
    text = decimal_text(number)
    if not is_edge(text):
        raise SurveyError(
            f"{what} is {text}; it can have up to 15 digits before the point and 15 behind it", path="questions"
        )
    return text


def _category(category: Any) -> str | int | bool:
    assert isinstance(category, str | int)  # survey files know texts only
    return category


def form_of(survey: Survey) -> Form:
    """The survey's words, as its file says them."""
    return Form(
        version=2,
        survey=survey.name,
        languages=survey.languages,
        title=dict(survey.title),
        questions=tuple(map(_words, survey.questions)),
        public=tuple(map(_words, survey.public)),
        texts={name: dict(words) for name, words in survey.texts.items()},
    )


def form_body(survey: Survey) -> bytes:
    """The same as it is served, and as its hash stands in the design, where nothing was corrected."""
    return encode(form_of(survey))


def words_mark(texts: str) -> str:
    """Under which name a store keeps the words with this hash: results are then shown in them, by whatever program."""
    return f"words {texts}"


def _words(item: Item) -> FormItem:
    words = FormItem(item.name, dict(item.text), tuple(dict(option.text) for option in item.options))
    if item.entry is None:
        return words
    low, high, step = (None if each is None else _plain(each, f"a number of {item.name!r}") for each in item.entry)
    return msgspec.structs.replace(words, entry=Entry(low, high, step))


def announcement(survey: Survey, design: str) -> Announcement:
    """Which design is served, and when."""
    return Announcement(version=2, design=design, opens=_moment(survey.opens), closes=_moment(survey.closes))


def decimal_text(number: float) -> str:
    """Write a number as the shortest decimal that reads back as the same float, without an exponent.

    >>> decimal_text(1.0), decimal_text(0.1), decimal_text(1e-7), decimal_text(-0.0)
    ('1', '0.1', '0.0000001', '0')
    """
    text = f"{Decimal(repr(number)):f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
