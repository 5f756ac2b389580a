"""A document as Markdown: the same sentences and tables, without the drawings."""

from __future__ import annotations

import re
from functools import singledispatch
from typing import TYPE_CHECKING

from deniable.reporting.document import Cards, Details, Drawing, Grid, Items, Quote, Text

if TYPE_CHECKING:
    from deniable.reporting.document import Document


def markdown(document: Document) -> str:
    """Write a document as Markdown."""
    parts = [f"# {_safe(document.title)}"]
    if document.stamp:
        parts.append(f"**{_safe(document.stamp)}**")
    if document.lead:
        parts.append(_safe(document.lead))
    for section in document.sections:
        parts.append(f"## {_safe(section.heading)}")
        parts += [text for block in section.blocks if (text := _block(block))]
    return "\n\n".join(parts) + "\n"


def _safe(text: str) -> str:
    r"""Take the power from characters that Markdown, or HTML inside it, would act on.

    >>> print(_safe("a|b <i> *c*"))
    a\|b \<i> \*c\*
    """
    return re.sub(r"([\\`*_\[\]<|#])", r"\\\1", text.replace("\n", " "))


@singledispatch
def _block(block: object) -> str:
    raise TypeError(f"a report has no blocks of type {type(block).__name__}")


@_block.register
def _(text: Text) -> str:
    return _safe(text.text)


@_block.register
def _(items: Items) -> str:
    return "\n".join(f"- {_safe(item)}" for item in items.items)


@_block.register
def _(grid: Grid) -> str:
    head = "| " + " | ".join(_safe(name) for name, _, _ in grid.columns) + " |"
    rule = "|" + "|".join("---:" if numeric else "---" for _, _, numeric in grid.columns) + "|"
    rows = [
        "| " + " | ".join(_safe(cell) for cell in row) + " |"
        for row in zip(*(cells for _, cells, _ in grid.columns), strict=True)
    ]
    return "\n".join([f"{_safe(grid.caption)}:", "", head, rule, *rows])


@_block.register
def _(quote: Quote) -> str:
    return "\n>\n".join(f"> {_safe(text.text)}" for text in quote.texts)


@_block.register
def _(_drawing: Drawing) -> str:
    return ""


@_block.register
def _(cards: Cards) -> str:
    return "\n\n".join(f"### {_safe(card.heading)}\n\n{_block(card.body)}" for card in cards.cards)


@_block.register
def _(details: Details) -> str:
    longest = max((len(run) for run in re.findall(r"`+", details.code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{_safe(details.summary)}:\n\n{fence}{details.language}\n{details.code}\n{fence}"
