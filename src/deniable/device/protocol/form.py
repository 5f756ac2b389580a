"""Reading a form: the words must be those that the design names, and fit it."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from msgspec import UNSET

from deniable.device.protocol.canonical_json import decode, encode
from deniable.device.protocol.messages import MOST_FORM_BYTES, Form, design_id
from deniable.device.protocol.word_corrections import check as check_corrections
from deniable.device.refusal import refuse
from deniable.device.replaceable_words import AROUND, PLAIN
from deniable.device.text_safety import MOST_AROUND, MOST_CHOICE, MOST_QUESTION, alike, crossed, fault
from deniable.errors import MessageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.device.protocol.answer_encoding import Coded
    from deniable.device.protocol.messages import FormItem
    from deniable.device.verified_design import VerifiedDesign


def read_form(body: bytes, design: VerifiedDesign) -> Form:
    """Read a form as it came from a server: it must be the one that the design names, and fit it."""
    if design_id(body) != design.message.texts:
        refuse("wrong-texts", "the words are not those that the design names")
    try:
        form = decode(body, Form, most=MOST_FORM_BYTES)
    except MessageError as error:
        refuse(str(error.details["code"]), "the bytes are not words that this program knows")
    if encode(form) != body:
        refuse("not-canonical", "the words are not written in their canonical form")
    for items, variables in ((form.questions, tuple(design.domain.values())), (form.public, design.public)):
        if [item.name for item in items] != [variable.name for variable in variables]:
            refuse("form-unfit", "the words are not about the design's attributes in their order")
        if [len(item.choices) for item in items] != [len(variable) for variable in variables]:
            refuse("form-unfit", "there is not one text for every category")
    _check_entries(form.questions, design.asked_coded)
    _check_entries(form.public, design.public_coded)
    every = [form.title, *form.texts.values()]
    for item in [*form.questions, *form.public]:
        every += [item.text, *item.choices]
    if len(set(form.languages)) != len(form.languages) or any(set(words) != set(form.languages) for words in every):
        refuse("form-unfit", "there is not one text for every language")
    _check_texts(form)
    if form.survey != design.message.survey or not set(form.texts) <= {*AROUND, *PLAIN}:
        refuse("form-unfit", "the words are for another survey, or some stand where the program's own belong")
    check_corrections(form, design.message.replaces, {*AROUND, *PLAIN})
    return form


def _check_texts(form: Form) -> None:
    items = [*form.questions, *form.public]
    texts = [(words, MOST_QUESTION) for words in (form.title, *(item.text for item in items))]
    texts += [(words, MOST_CHOICE) for item in items for words in item.choices]
    texts += [(words, MOST_AROUND) for words in form.texts.values()]
    if any(fault(text, most) for words, most in texts for text in words.values()):
        refuse("form-unfit", "a text is not what it seems, or too long to be read")
    for item in items:
        if any(alike([words[language] for words in item.choices]) for language in form.languages):
            refuse("form-unfit", f"two answers about {item.name!r} cannot be told apart")
        if crossed(item.choices):
            refuse("form-unfit", f"an answer about {item.name!r} is called as another one in another language")


def _check_entries(items: Sequence[FormItem], coded: Sequence[Coded]) -> None:
    for item, attribute in zip(items, coded, strict=True):
        if item.entry is UNSET:
            continue
        low, high, step = item.entry.min, item.entry.max, item.entry.step
        in_order = low is None or high is None or Decimal(low) < Decimal(high)
        if not attribute.edges or not in_order or (step is not None and Decimal(step) <= 0):
            refuse("form-unfit", "what is said of how a number is typed is for no number, or makes no sense")
