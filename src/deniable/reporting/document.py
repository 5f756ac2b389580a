"""The document model of a report, before it is HTML or Markdown: sections of a few kinds of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

Column: TypeAlias = tuple[str, Sequence[str], bool]  # a heading, its cells, and whether they are numbers


@dataclass(frozen=True)
class Text:
    """A paragraph; `kind` is how it is set apart: "", "note", "lead" or "stamp"."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class Items:
    """A list."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """A table with a caption; kind "code" sets its last column as code."""

    caption: str
    columns: tuple[Column, ...]
    kind: str = ""


@dataclass(frozen=True)
class Quote:
    """Paragraphs that belong together and stand out: the privacy statement."""

    texts: tuple[Text, ...]


@dataclass(frozen=True)
class Drawing:
    """An `<svg>` element. Markdown has no place for it; the table beside it says the same."""

    svg: str


@dataclass(frozen=True)
class Card:
    """A result: its heading, its table, its drawing; or, without one, what stands in their place."""

    heading: str
    body: Grid | Text
    drawing: Drawing | None = None
    wide: bool = False


@dataclass(frozen=True)
class Cards:
    """Results side by side where there is room."""

    cards: tuple[Card, ...]


@dataclass(frozen=True)
class Details:
    """Something long that most readers skip; `language` is what it is written in."""

    summary: str
    code: str
    language: str = "json"


Block: TypeAlias = Text | Items | Grid | Quote | Drawing | Cards | Details


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """A whole report."""

    title: str
    lead: str
    sections: tuple[Section, ...]
    stamp: str = ""  # stands out above everything: that this is simulated, or a pilot's
