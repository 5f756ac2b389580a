"""The papers and their items."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from deniable.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reproduction.item import Item

_PAPERS = ("rrba", "jrr", "wang", "rr-ind-joint", "choose")


@dataclass(frozen=True)
class Paper:
    """A paper: its short name, title and reference, and its items in the order of the paper."""

    name: str
    title: str
    reference: str
    items: tuple[Item, ...]


def paper(name: str) -> Paper:
    """Load a paper by its short name."""
    if name not in _PAPERS:
        raise InputError(f"there is no paper {name!r}; choose from {', '.join(['all', *_PAPERS])}", name=name)
    room = f"reproduction.{name.replace('-', '_')}"
    package = import_module(room)
    title, _, reference = (package.__doc__ or "").strip().partition("\n")
    items = tuple(import_module(f"{room}.{item.replace('-', '_')}").ITEM for item in package.ITEMS)
    return Paper(name, title.rstrip("."), " ".join(reference.split()), items)


def papers() -> Iterator[Paper]:
    """All of them."""
    return (paper(name) for name in _PAPERS)


def find(paper_name: str, item_name: str | None = None) -> list[Item]:
    """The items meant by a paper's name ("all" for every paper) and an item's name (none for all of the paper)."""
    if paper_name == "all":
        return [item for each in papers() for item in each.items]
    items = paper(paper_name).items
    if item_name is None:
        return list(items)
    found = [item for item in items if item.name == item_name]
    if not found:
        names = ", ".join(item.name for item in items)
        raise InputError(f"{paper_name} has no item {item_name!r}; it has {names}", name=item_name)
    return found
