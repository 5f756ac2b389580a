"""A document as one HTML file: everything escaped, nothing loaded from elsewhere, no script."""

from __future__ import annotations

from functools import singledispatch
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from deniable.reporting.document import Card, Cards, Details, Drawing, Grid, Items, Quote, Section, Text

if TYPE_CHECKING:
    from deniable.reporting.document import Document


def html(document: Document) -> str:
    """Lay a document out as a page."""
    style = files("deniable.reporting").joinpath("report.css").read_text(encoding="utf-8")
    stamp = _block(Text(document.stamp, "stamp")) if document.stamp else ""
    lead = _block(Text(document.lead, "lead")) if document.lead else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(document.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        f"<header>\n<h1>{escape(document.title)}</h1>\n{stamp}{lead}</header>\n"
        f"{''.join(map(_section, document.sections))}</main>\n</body>\n</html>\n"
    )


def _section(section: Section) -> str:
    body = "".join(_block(block) for block in section.blocks)
    return f"<section>\n<h2>{escape(section.heading)}</h2>\n{body}</section>\n"


@singledispatch
def _block(block: object) -> str:
    raise TypeError(f"a report has no blocks of type {type(block).__name__}")


@_block.register
def _(text: Text) -> str:
    named = f' class="{text.kind}"' if text.kind else ""
    return f"<p{named}>{escape(text.text)}</p>\n"


@_block.register
def _(items: Items) -> str:
    listed = "".join(f"<li>{escape(item)}</li>\n" for item in items.items)
    return f"<ul>\n{listed}</ul>\n"


@_block.register
def _(grid: Grid) -> str:
    kinds = [' class="number"' if numeric else "" for _, _, numeric in grid.columns]
    head = "".join(
        f'<th scope="col"{align}>{escape(name)}</th>' for (name, _, _), align in zip(grid.columns, kinds, strict=True)
    )
    body = "".join(
        "<tr>" + "".join(f"<td{align}>{escape(text)}</td>" for text, align in zip(row, kinds, strict=True)) + "</tr>\n"
        for row in zip(*(cells for _, cells, _ in grid.columns), strict=True)
    )
    named = f' class="{grid.kind}"' if grid.kind else ""
    # A table that is wider than a phone is scrolled in its own frame, with the keyboard too.
    caption = escape(grid.caption)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}"><table{named}>\n'
        f"<caption>{caption}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n"
    )


@_block.register
def _(quote: Quote) -> str:
    return f'<div class="statement">{"".join(map(_block, quote.texts))}</div>\n'


@_block.register
def _(drawing: Drawing) -> str:
    return f"<figure>{drawing.svg}</figure>\n"


@_block.register
def _(cards: Cards) -> str:
    return f'<div class="estimates">{"".join(map(_card, cards.cards))}</div>\n'


def _card(card: Card) -> str:
    wide = " wide" if card.wide else ""
    heading = f"<h3>{escape(card.heading)}</h3>\n"
    drawing = "" if card.drawing is None else _block(card.drawing)
    body = f"<div>{_block(card.body)}</div>\n{drawing}"
    return f'<article class="estimate{wide}">\n{heading}{body}</article>\n'


@_block.register
def _(details: Details) -> str:
    return f"<details><summary>{escape(details.summary)}</summary><pre>{escape(details.code)}</pre></details>\n"
