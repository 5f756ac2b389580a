"""The kinds of design, and the module of each: it is imported when a design of its kind is first read or looked up."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from deniable.errors import DesignError
from deniable.text import listed

if TYPE_CHECKING:
    from deniable.designs.design import Design

HOMES = {
    "design": "base",
    "independent": "independent",
    "joint": "joint",
    "clusters": "clusters",
    "sampled": "sampled",
    "views": "views",
    "optimal": "optimal",
    "blocks": "blocks.design",
    "paired": "paired.design",
    "paired_items": "paired.items",
}


def design_kind(kind: object) -> type[Design]:
    """The class of a kind of design.

    >>> design_kind("joint").__name__
    'Joint'
    """
    if not isinstance(kind, str) or kind not in HOMES:
        raise DesignError(f"unknown kind of design {kind!r}; known are {listed(sorted(HOMES))}", kind=kind)
    made = vars(import_module(f"deniable.designs.{HOMES[kind]}")).values()
    found: type[Design] = next(each for each in made if isinstance(each, type) and each.__dict__.get("kind") == kind)
    return found
