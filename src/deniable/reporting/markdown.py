"""A document as Markdown: the same sentences and tables, without the drawings."""

from __future__ import annotations

import re
from functools import singledispatch
from typing import TYPE_CHECKING

from deniable.core.markup import markdown_text
from deniable.reporting.document import Cards, Details, Drawing, Grid, Items, Quote, Text

if TYPE_CHECKING:
    from deniable.reporting.document import Document


def markdown(document: Document) -> str:
    """Write a document as Markdown."""
    parts = [f"# {markdown_text(document.title)}"]
    if document.stamp:
        parts.append(f"**{markdown_text(document.stamp)}**")
    if document.lead:
        parts.append(markdown_text(document.lead))
    for section in document.sections:
        parts.append(f"## {markdown_text(section.heading)}")
        parts += [text for block in section.blocks if (text := _block(block))]
    return "\n\n".join(parts) + "\n"


@singledispatch
def _block(block: object) -> str:
    raise TypeError(f"a report has no blocks of type {type(block).__name__}")


@_block.register
def _(text: Text) -> str:
    return markdown_text(text.text)


@_block.register
def _(items: Items) -> str:
    return "\n".join(f"- {markdown_text(item)}" for item in items.items)


@_block.register
def _(grid: Grid) -> str:
    head = "| " + " | ".join(markdown_text(name) for name, _, _ in grid.columns) + " |"
    rule = "|" + "|".join("---:" if numeric else "---" for _, _, numeric in grid.columns) + "|"
    rows = [
        "| " + " | ".join(markdown_text(cell) for cell in row) + " |"
        for row in zip(*(cells for _, cells, _ in grid.columns), strict=True)
    ]
    return "\n".join([f"{markdown_text(grid.caption)}:", "", head, rule, *rows])


@_block.register
def _(quote: Quote) -> str:
    return "\n>\n".join(f"> {markdown_text(text.text)}" for text in quote.texts)


@_block.register
def _(_drawing: Drawing) -> str:
    return ""


@_block.register
def _(cards: Cards) -> str:
    return "\n\n".join(f"### {markdown_text(card.heading)}\n\n{_block(card.body)}" for card in cards.cards)


@_block.register
def _(details: Details) -> str:
    longest = max((len(run) for run in re.findall(r"`+", details.code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{markdown_text(details.summary)}:\n\n{fence}{details.language}\n{details.code}\n{fence}"
