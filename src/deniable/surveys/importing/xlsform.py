"""XLSForm questionnaires (ODK, KoboToolbox): `select_one` lists and ranges, from an Excel file."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING, Any

from deniable.core.untrusted_files import clipped, refuse_large_zip
from deniable.errors import InputError, MissingExtraError
from deniable.surveys.importing.import_survey import Draft, Text
from deniable.text import listed

if TYPE_CHECKING:
    from pathlib import Path

    Row = dict[str, str]

_OPENS, _CLOSES = re.compile(r"^begin[ _](group|repeat)$"), re.compile(r"^end[ _](group|repeat)$")
_MOST_ROWS, _MOST_COLUMNS = 20_000, 500  # of a sheet
_SILENT = {"start", "end", "today", "deviceid", "calculate", "audit", "username", "phonenumber", "email", "hidden"}
_NUMBER = 'a number needs bins: ask it as kind = "number" with bins = [...]'
_PLACE = "a place cannot be disguised as it is; offer a list of places"
_DATE = "a date cannot be disguised as it is; offer a list of periods"
_REASONS = {
    "select_multiple": "several answers at once are no category; ask for each by itself",
    "select_one_from_file": "its answers are in another file; list them in the sheet named choices",
    "integer": _NUMBER,
    "decimal": _NUMBER,
    "text": "what is typed freely cannot be disguised; offer a list of answers",
    "rank": "an order is no category",
    "note": "it asks nothing",
    **dict.fromkeys(("date", "time", "dateTime", "datetime"), _DATE),
    **dict.fromkeys(("geopoint", "geotrace", "geoshape"), _PLACE),
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
    if "label::" in " ".join(row_keys := list(sheets["survey"][0] if sheets["survey"] else [])):
        unknown = [key for key in row_keys if key.startswith("label::") and _language(key) is None]
        if unknown:
            draft.left_out.append(
                f"{listed(unknown)}: a heading says its language by a code, such as label::English (en); texts of one "
                f"heading are taken, in no language."
            )
    inside: list[Row] = []  # the groups and repeats around a row
    for row in sheets["survey"]:
        kind = row.get("type", "").strip()
        if _OPENS.match(kind):
            inside.append(row)
        elif _CLOSES.match(kind):
            inside = inside[:-1]
        elif kind and kind not in _SILENT:
            _take(draft, row, lists, inside)
    return draft


def _take(draft: Draft, row: Row, lists: dict[str, list[Any]], inside: list[Row]) -> None:
    kind, _, which = row["type"].strip().partition(" ")
    name, before = row.get("name", ""), len(draft.questions)
    if any("repeat" in part["type"] for part in inside):
        return draft.skip(name, "it is asked as often as there is something to tell; here everybody is asked once")
    text = _label(row) or name
    if kind == "select_one":
        draft_list, _, other = which.partition(" ")
        choices = lists.get(draft_list, [])
        if other.strip() in ("or_other", "or other", "or specify other"):
            draft.left_out.append(f'{name!r} had an "other" answer to type in, which is left out.')
        if len(choices) < 2:
            draft.skip(name, f"its list {which!r} has fewer than two answers")
        else:
            draft.add(name, text, kind="choice", choices=choices)
    elif kind == "range":
        limits = {
            key: int(value) for key, value in re.findall(r"(\w+)=(-?\d{1,9})(?![\d.])", row.get("parameters", ""))
        }
        if limits.get("step", 1) != 1 or "." in row.get("parameters", ""):
            draft.skip(name, "ranges go in steps of one here")
        else:
            draft.add(name, text, kind="scale", first=limits.get("start", 0), last=limits.get("end", 10))
    elif kind == "acknowledge":
        draft.add(name, text, kind="yes-no")
    else:
        draft.skip(name, _REASONS.get(kind, f"questions of type {kind!r} have no fixed list of answers"))
    if len(draft.questions) > before:
        _say_what_changes(draft, name, row, inside)
    return None


def _say_what_changes(draft: Draft, name: str, row: Row, inside: list[Row]) -> None:
    if any(part.get("relevant") for part in (row, *inside)):
        draft.ask_everybody(name, "relevant")
    if row.get("choice_filter"):
        draft.left_out.append(f"{name!r} offers all its answers here: a list that depends on answers would show them.")
    if row.get("required", "").lower() not in ("yes", "true", "true()", "1"):
        draft.skippable.append(name)
    if any(key.startswith("hint") and words for key, words in row.items()):
        draft.hints.append(name)


def _choice(row: Row) -> Any:
    value, text = row.get("name", ""), _label(row)
    return value if text in (None, value) else {"value": value, "text": text}


def _label(row: Row) -> Text | None:
    """`label`, or one for each `label::English (en)`."""
    translated: dict[str | None, str] = {}
    for key, words in row.items():
        if words and key.startswith("label::"):
            translated[_language(key)] = words
    known = {language: words for language, words in translated.items() if language is not None}
    if known and len(known) == len(translated):
        return known
    return row.get("label") or next(iter(translated.values()), None)


def _language(heading: str) -> str | None:
    """The code that `label::English (en)` or `label::en` ends with."""
    found = re.match(r"^label::(?:.*\((\w[\w-]*)\)|(\w+))$", heading)
    code = (found[1] or found[2]).lower() if found else ""
    return code if re.fullmatch(r"[a-z]{2,3}(-[a-z0-9]+)*", code) else None


def _sheets(path: Path) -> dict[str, list[Row]]:
    """Every sheet as rows of texts by heading; empty rows are left out."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError(
            "Excel files need openpyxl, which is not installed: pip install 'deniable[files]'", extra="files"
        ) from None
    try:
        refuse_large_zip(path)
        with closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book:
            return {sheet.title.lower(): _rows(sheet) for sheet in book.worksheets}
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - a damaged file fails in many ways
        raise InputError(f"{path} is not a readable Excel file: {clipped(error)}", file=str(path)) from None


def _rows(sheet: Any) -> list[Row]:
    """A sheet's rows. A file may say of any cell that it is the millionth; all before it would be built."""
    lines: list[list[str]] = []
    for line in sheet.iter_rows(max_row=_MOST_ROWS + 1, max_col=_MOST_COLUMNS, values_only=True):
        if len(lines) == _MOST_ROWS:
            raise InputError(f"the sheet {sheet.title!r} has more than {_MOST_ROWS} rows, which no questionnaire has")
        lines.append([_cell(cell) for cell in line])
    if not lines:
        return []
    return [dict(zip(lines[0], line, strict=False)) for line in lines[1:] if any(line)]


def _cell(value: Any) -> str:
    """A cell's text; Excel keeps 1 as 1.0."""
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
