"""The shape of survey.toml: which keys there are and what type each holds. What they mean is checked in `check`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

Text: TypeAlias = str | dict[str, str]
"""A text that respondents read: one string, or one for each language."""

Name: TypeAlias = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
Language: TypeAlias = Annotated[str, Meta(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$")]
Admission: TypeAlias = Literal["open", "invited", "blind"]


class Entry(Struct, forbid_unknown_fields=True, frozen=True):
    """A table of the file, which takes the keys that it names and no other."""


class ChoiceEntry(Entry, frozen=True):
    """A choice whose text differs from the value that is counted."""

    value: str
    text: Text


class PublicEntry(Entry, frozen=True):
    """One attribute that travels in clear, outside epsilon."""

    name: Name
    text: Text
    choices: tuple[str | ChoiceEntry, ...]


class PanelEntry(Entry, frozen=True):
    """A panel: the same people are asked again, and devices keep the disguises of what it repeats."""

    name: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
    people: Annotated[int, Meta(ge=1, lt=1 << 31)]
    repeats: Annotated[tuple[Name, ...], Meta(min_length=1)]
    again: int | float = 2.0


class SurveyEntry(Entry, frozen=True):
    """The whole file."""

    format: Literal[1]
    name: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
    title: Text
    epsilon: int | float
    questions: Annotated[tuple[dict[str, Any], ...], Meta(min_length=1, max_length=200)]  # `questions` reads each
    languages: Annotated[tuple[Language, ...], Meta(min_length=1)] = ("en",)
    design: dict[str, Any] = {}  # its kind, and what that kind takes: `build_design` reads it
    tables: tuple[tuple[str, ...], ...] = ()
    wanted: tuple[str, ...] = ()
    public: tuple[PublicEntry, ...] = ()
    admission: Admission = "open"
    panel: PanelEntry | None = None
    opens: datetime | None = None
    closes: datetime | None = None
    published: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    texts: dict[str, Text] = {}
