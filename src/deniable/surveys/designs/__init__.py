"""The designs of a survey file, a module each: it is imported when a file first asks for its kind.

A kind says which keys of `[design]` it takes beside `kind`, and makes the design out of what the file asks for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Collection

    from deniable.designs.design import Design
    from deniable.surveys.designs.wish import Wish

# The module of each kind. Those of an extension stand with it.
KINDS = {
    "tables": f"{__name__}.tables_options",
    "independent": f"{__name__}.independent_options",
    "joint": f"{__name__}.joint_options",
    "sampled": f"{__name__}.sampled_options",
    "clusters": f"{__name__}.clusters_options",
    "views": f"{__name__}.views_options",
    "optimal": f"{__name__}.optimal_options",
    "blocks": "deniable.extensions.blocks.blocks_options",
    "paired": "deniable.extensions.paired.paired_options",
}


class DesignKind(Protocol):
    """What the module of a kind has."""

    KEYS: Collection[str]

    def make(self, wish: Wish) -> Design:
        """The design that a file asks for."""
        ...


def design_kind(kind: str) -> DesignKind:
    """The module of a kind of design."""
    return cast("DesignKind", import_module(KINDS[kind]))
