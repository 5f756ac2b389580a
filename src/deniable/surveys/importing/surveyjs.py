"""SurveyJS questionnaires: radio groups, drop-downs, yes-or-no and ratings, on pages and in panels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.core.untrusted_files import parse_json, read_bytes
from deniable.errors import InputError
from deniable.surveys.importing.import_survey import Draft, Text

if TYPE_CHECKING:
    from pathlib import Path

_NO_ANSWERS = {"html", "image", "expression"}
_REPEATED = "it is asked as often as there is something to tell; here everybody is asked once"
# Answers that are switched on by a flag: the flags, the answer, where its words are, and the words without those.
_EXTRA = (
    (("hasNone", "showNoneItem"), "none", "noneText", "None"),
    (("showDontKnowItem",), "dontknow", "dontKnowText", "Don't know"),
)
_FREE = "what is typed freely cannot be disguised; offer a list of answers"
_SEVERAL = "several answers at once are no category; ask for each by itself"
_REASONS = {
    "checkbox": _SEVERAL,
    "tagbox": _SEVERAL,
    "matrixdropdown": _SEVERAL,
    "ranking": "an order is no category",
    "text": _FREE,
    "comment": _FREE,
    "multipletext": _FREE,
    "file": "a file cannot be disguised",
    "signaturepad": "a signature cannot be disguised",
    "paneldynamic": _REPEATED,
    "matrixdynamic": _REPEATED,
}
_TYPED = {
    **dict.fromkeys(("number", "range"), 'a number needs bins: ask it as kind = "number" with bins = [...]'),
    **dict.fromkeys(
        ("date", "datetime-local", "datetime", "month", "week", "time"),
        "a date cannot be disguised as it is; offer a list of periods",
    ),
}
_MOST_STEPS = 101  # a scale with more of them is a number


def read_surveyjs(path: Path) -> Draft:
    """Read a questionnaire's JSON file."""
    data = parse_json(read_bytes(path, "questionnaire"), str(path), object)
    if not isinstance(data, dict) or not {"pages", "elements", "questions"} & set(data):
        raise InputError(f"{path} is not a SurveyJS questionnaire: it has neither pages nor elements", file=str(path))
    draft = Draft(_text(data.get("title")) or path.stem)
    for element in _elements(data):
        _take(draft, element)
    for key in ("triggers", "calculatedValues"):
        if data.get(key):
            draft.left_out.append(f"The {key} are left out: what happens after an answer would show it.")
    return draft


def _elements(part: dict[str, Any], rules: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """All questions, whatever pages and panels they stand in; a rule of these is one of theirs."""
    found: list[dict[str, Any]] = []
    for child in [child for key in ("pages", "elements", "questions") for child in _list(part, key)]:
        if isinstance(child, dict):
            rule = (*rules, *[str(child[key]) for key in ("visibleIf", "enableIf") if child.get(key)])
            is_part = "type" not in child or child["type"] == "panel"
            found += _elements(child, rule) if is_part else [{**child, "visibleIf": " and ".join(rule)}]
    return found


def _take(draft: Draft, element: dict[str, Any]) -> None:
    kind, name = str(element["type"]), str(element.get("name", "question"))
    before = len(draft.questions)
    if kind in _NO_ANSWERS:
        return draft.skip(name, "it asks nothing")
    if kind == "matrix":
        _take_rows(draft, name, element)
    else:
        _take_one(draft, kind, name, element)
    if len(draft.questions) > before:
        if element["visibleIf"]:
            draft.ask_everybody(name, "visibleIf")
        if not element.get("isRequired") and not element.get("showRefuseItem"):
            draft.skippable.append(name)
        if element.get("description"):
            draft.hints.append(name)
    return None


def _take_one(draft: Draft, kind: str, name: str, element: dict[str, Any]) -> None:
    text = _text(element.get("title")) or name
    rest = {"prefer_not_to_say": True} if element.get("showRefuseItem") else {}
    if kind == "boolean":
        words = (("no", "labelFalse"), ("yes", "labelTrue"))
        said = [_choice({"value": value, "text": element.get(key)}) for value, key in words]
        worded = any(isinstance(choice, dict) for choice in said)
        draft.add(name, text, **({"kind": "choice", "choices": said} if worded else {"kind": "yes-no"}))
    elif kind == "rating" and not element.get("rateValues"):
        first, step = _whole(element, "rateMin", 1), max(1, _whole(element, "rateStep", 1))
        counted = first + step * (_whole(element, "rateCount", 5) - 1)
        last = counted if "rateCount" in element else _whole(element, "rateMax", 5)
        _take_steps(draft, name, text, range(first, last + 1, step))
    elif kind == "slider" and element.get("sliderType", "single") == "single":
        first, last, step = (_whole(element, key, usual) for key, usual in (("min", 0), ("max", 100), ("step", 1)))
        _take_steps(draft, name, text, range(first, last + 1, max(1, step)))
    elif kind in ("radiogroup", "dropdown", "rating", "buttongroup", "imagepicker"):
        choices = _choices(element)
        if element.get("hasOther") or element.get("showOtherItem"):
            draft.left_out.append(f'{name!r} had an "other" answer to type in, which is left out.')
        if element.get("multiSelect"):
            draft.skip(name, _SEVERAL)
        elif len(choices) < 2:
            draft.skip(name, "it lists fewer than two answers (lists from an address are not fetched)")
        else:
            draft.add(name, text, kind="scale" if kind == "rating" else "choice", choices=choices, **rest)
    elif kind == "text" and str(element.get("inputType")) in _TYPED:
        draft.skip(name, _TYPED[str(element["inputType"])])
    else:
        draft.skip(name, _REASONS.get(kind, f"questions of type {kind!r} are not known here"))


def _take_steps(draft: Draft, name: str, text: Text, steps: range) -> None:
    many = (steps[-1] - steps[0]) // steps.step + 1 if steps else 0  # there may be too many for len()
    if many < 2:
        draft.skip(name, "a scale goes up from its first step to its last, and this one does not")
    elif many > _MOST_STEPS:
        draft.skip(name, f"a scale has at most {_MOST_STEPS} steps, and this one {many}; {_TYPED['number']}")
    elif steps.step == 1:
        draft.add(name, text, kind="scale", first=steps[0], last=steps[-1])
    else:
        draft.add(name, text, kind="scale", choices=[str(step) for step in steps])


def _take_rows(draft: Draft, name: str, element: dict[str, Any]) -> None:
    """A question for every row of a matrix."""
    columns, rows = ([_choice(part) for part in _list(element, key)] for key in ("columns", "rows"))
    if len(columns) < 2 or not rows:
        return draft.skip(name, "a matrix needs rows, and at least two columns to choose from")
    title = _text(element.get("title")) or name
    for row in rows:
        value, text = (row["value"], row["text"]) if isinstance(row, dict) else (row, row)
        draft.add(f"{name}_{value}", _joined(title, text), kind="choice", choices=columns)
    return None


def _joined(title: Text, row: Text) -> Text:
    """What a row asks, in every language of either."""
    if isinstance(title, str) and isinstance(row, str):
        return f"{title}: {row}"
    languages = dict.fromkeys([*(title if isinstance(title, dict) else ()), *(row if isinstance(row, dict) else ())])
    return {known: f"{_in(title, known)}: {_in(row, known)}" for known in languages}


def _in(text: Text, language: str) -> str:
    return text if isinstance(text, str) else text.get(language) or next(iter(text.values()))


def _choices(element: dict[str, Any]) -> list[Any]:
    choices = [_choice(choice) for choice in _list(element, "choices" if "choices" in element else "rateValues")]
    return choices + [
        _choice({"value": value, "text": element.get(words) or said})
        for show, value, words, said in _EXTRA
        if any(element.get(flag) for flag in show) and value not in choices
    ]


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
