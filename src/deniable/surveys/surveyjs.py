"""SurveyJS questionnaires: radio groups, drop-downs, yes-or-no and ratings, on pages and in panels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from deniable.errors import InputError
from deniable.surveys.imported import Draft, Text

if TYPE_CHECKING:
    from pathlib import Path

_NO_ANSWERS = {"html", "image", "expression"}
# Answers that are switched on by a flag: the flags, the answer, where its words are, and the words without those.
_EXTRA = (
    (("hasNone", "showNoneItem"), "none", "noneText", "None"),
    (("showDontKnowItem",), "dontknow", "dontKnowText", "Don't know"),
)
_REASONS = {
    "checkbox": "several answers at once are no category; ask for each by itself",
    "tagbox": "several answers at once are no category; ask for each by itself",
    "ranking": "an order is no category",
    "text": "what is typed freely cannot be disguised; offer a list of answers",
    "comment": "what is typed freely cannot be disguised; offer a list of answers",
    "file": "a file cannot be disguised",
    "signaturepad": "a signature cannot be disguised",
}


def read_surveyjs(path: Path) -> Draft:
    """Read a questionnaire's JSON file."""
    try:
        data = msgspec.json.decode(path.read_bytes())
    except msgspec.DecodeError as error:
        raise InputError(f"{path} is not JSON: {error}", file=str(path)) from None
    if not isinstance(data, dict) or not {"pages", "elements", "questions"} & set(data):
        raise InputError(f"{path} is not a SurveyJS questionnaire: it has neither pages nor elements", file=str(path))
    draft = Draft(_text(data.get("title")) or path.stem)
    for element in _elements(data):
        _take(draft, element)
    return draft


def _elements(part: dict[str, Any]) -> list[dict[str, Any]]:
    """All questions, whatever pages and panels they stand in."""
    found: list[dict[str, Any]] = []
    for child in [child for key in ("pages", "elements", "questions") for child in _list(part, key)]:
        if isinstance(child, dict):
            found += _elements(child) if "type" not in child or child["type"] == "panel" else [child]
    return found


def _take(draft: Draft, element: dict[str, Any]) -> None:
    kind, name = str(element["type"]), str(element.get("name", "question"))
    text = _text(element.get("title")) or name
    if kind in _NO_ANSWERS:
        return
    if element.get("visibleIf"):
        draft.left_out.append(
            f"{name!r} is asked of everybody here: a rule that depends on answers would show them (visibleIf)."
        )
    if kind == "boolean":
        draft.add(name, text, kind="yes-no")
    elif kind == "rating" and "rateValues" not in element:
        draft.add(name, text, kind="scale", first=_whole(element, "rateMin", 1), last=_whole(element, "rateMax", 5))
    elif kind in ("radiogroup", "dropdown", "rating", "buttongroup", "imagepicker"):
        choices = [_choice(choice) for choice in _list(element, "choices" if "choices" in element else "rateValues")]
        choices += [
            _choice({"value": value, "text": element.get(words) or said})
            for show, value, words, said in _EXTRA
            if any(element.get(flag) for flag in show) and value not in choices
        ]
        if element.get("hasOther") or element.get("showOtherItem"):
            draft.left_out.append(f'{name!r} had an "other" answer to type in, which is left out.')
        if len(choices) < 2:
            draft.skip(name, "it lists fewer than two answers (lists from an address are not fetched)")
        else:
            rest = {"prefer_not_to_say": True} if element.get("showRefuseItem") else {}
            draft.add(name, text, kind="scale" if kind == "rating" else "choice", choices=choices, **rest)
    else:
        draft.skip(name, _REASONS.get(kind, f"questions of type {kind!r} have no fixed list of answers"))


def _list(part: dict[str, Any], key: str) -> list[Any]:
    value = part.get(key, [])
    if not isinstance(value, list):
        raise InputError(f"{key!r} of {part.get('name', 'the questionnaire')!r} must be a list, not {value!r:.60}")
    return value


def _whole(element: dict[str, Any], key: str, default: int) -> int:
    value = element.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{key!r} of {element.get('name', 'a rating')!r} must be a whole number, not {value!r:.60}")
    return value


def _choice(choice: Any) -> Any:
    if not isinstance(choice, dict):
        return str(choice)
    value = str(choice.get("value", ""))
    text = _text(choice.get("text"))
    return value if text in (None, value) else {"value": value, "text": text}


def _text(text: Any) -> Text | None:
    """A text, or one for each language; SurveyJS calls the first one "default", and we "en"."""
    if isinstance(text, dict):
        return {("en" if language == "default" else language): str(words) for language, words in text.items()} or None
    return str(text) if text else None
