"""XLSForm questionnaires (ODK, KoboToolbox): `select_one` lists and ranges, from an Excel file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from deniable.errors import InputError, MissingExtraError
from deniable.surveys.imported import Draft, Text

if TYPE_CHECKING:
    from pathlib import Path

    Row = dict[str, str]

_STRUCTURE = re.compile(r"^(begin|end)[ _](group|repeat)$|^(note|start|end|today|deviceid|calculate|audit|username)$")
_REASONS = {
    "select_multiple": "several answers at once are no category; ask for each by itself",
    "integer": 'a number needs bins: ask it as kind = "number" with bins = [...]',
    "decimal": 'a number needs bins: ask it as kind = "number" with bins = [...]',
    "text": "what is typed freely cannot be disguised; offer a list of answers",
    "rank": "an order is no category",
}


def read_xlsform(path: Path) -> Draft:
    """Read a form's Excel file."""
    sheets = _sheets(path)
    if "survey" not in sheets:
        raise InputError(f"{path} is not an XLSForm: it has no sheet named survey", file=str(path))
    lists: dict[str, list[Any]] = {}
    for row in sheets.get("choices", []):
        lists.setdefault(row.get("list_name", row.get("list name", "")), []).append(_choice(row))
    settings = (sheets.get("settings") or [{}])[0]
    draft = Draft(settings.get("form_title") or path.stem)
    for row in sheets["survey"]:
        _take(draft, row, lists)
    return draft


def _take(draft: Draft, row: Row, lists: dict[str, list[Any]]) -> None:
    kind, _, which = row.get("type", "").strip().partition(" ")
    name = row.get("name", "")
    if not kind or _STRUCTURE.match(row["type"].strip()):
        return
    text = _label(row) or name
    if row.get("relevant"):
        draft.left_out.append(
            f"{name!r} is asked of everybody here: a rule that depends on answers would show them (relevant)."
        )
    if kind == "select_one":
        choices = lists.get(which.split()[0] if which else "", [])
        if len(choices) < 2:
            draft.skip(name, f"its list {which!r} has fewer than two answers")
        else:
            draft.add(name, text, kind="choice", choices=choices)
    elif kind == "range":
        limits = {key: int(value) for key, value in re.findall(r"(\w+)=(-?\d+)(?![\d.])", row.get("parameters", ""))}
        if limits.get("step", 1) != 1 or "." in row.get("parameters", ""):
            draft.skip(name, "ranges go in steps of one here")
        else:
            draft.add(name, text, kind="scale", first=limits.get("start", 0), last=limits.get("end", 10))
    elif kind == "acknowledge":
        draft.add(name, text, kind="yes-no")
    else:
        draft.skip(name, _REASONS.get(kind, f"questions of type {kind!r} have no fixed list of answers"))


def _choice(row: Row) -> Any:
    value, text = row.get("name", ""), _label(row)
    return value if text in (None, value) else {"value": value, "text": text}


def _label(row: Row) -> Text | None:
    """`label`, or one for each `label::English (en)`."""
    translated = {}
    for key, words in row.items():
        found = re.match(r"^label::(?:.*\((\w[\w-]*)\)|(\w+))$", key)
        if found and words:
            translated[(found[1] or found[2]).lower()] = words
    if translated and all(re.fullmatch(r"[a-z]{2,3}(-[a-z0-9]+)*", language) for language in translated):
        return translated
    return row.get("label") or next(iter(translated.values()), None)


def _sheets(path: Path) -> dict[str, list[Row]]:
    """Every sheet as rows of texts by heading; empty rows are left out."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError(
            "Excel files need openpyxl, which is not installed: pip install 'deniable[files]'", extra="files"
        ) from None
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except Exception as error:  # noqa: BLE001 - a damaged file fails in many ways
        raise InputError(f"{path} is not a readable Excel file: {error}", file=str(path)) from None
    try:
        return {sheet.title.lower(): _rows(sheet) for sheet in book.worksheets}
    finally:
        book.close()


def _rows(sheet: Any) -> list[Row]:
    lines = [[_cell(cell) for cell in line] for line in sheet.iter_rows(values_only=True)]
    if not lines:
        return []
    return [dict(zip(lines[0], line, strict=False)) for line in lines[1:] if any(line)]


def _cell(value: Any) -> str:
    """A cell's text; Excel keeps 1 as 1.0."""
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
