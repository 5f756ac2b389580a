"""Bins: what the ranges between edges are called, and which edges such names tell.

A bin holds its lower edge and not its upper one. Its name says both, so that a list of categories is all that has to be
kept of bins.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_BIN = re.compile(rf"< {_NUMBER}|{_NUMBER} to < {_NUMBER}|>= {_NUMBER}")


def bin_names(edges: Sequence[float]) -> list[str]:
    """Name the bins between edges, one more than these.

    >>> bin_names([18, 65])
    ['< 18', '18 to < 65', '>= 65']
    """
    shown = [f"{edge:.12g}" for edge in edges]
    inner = [f"{low} to < {high}" for low, high in pairwise(shown)]
    return [f"< {shown[0]}", *inner, f">= {shown[-1]}"]


def bin_ends(name: object) -> tuple[float, float] | None:
    """Where a bin begins and ends, by its name; None for what is no bin.

    >>> bin_ends("18 to < 65"), bin_ends(">= 65"), bin_ends("old")
    ((18.0, 65.0), (65.0, inf), None)
    """
    found = _BIN.fullmatch(name) if isinstance(name, str) else None
    if found is None:
        return None
    below, low, high, above = found.groups()
    if below:
        return -math.inf, float(below)
    return (float(above), math.inf) if above else (float(low), float(high))


def edges_told(names: Iterable[object]) -> list[float]:
    """The edges of the bins that a list of names begins with, one more than they are; none where they do not follow.

    >>> edges_told(["< 18", "18 to < 65", ">= 65", "prefer not to say"])
    [-inf, 18.0, 65.0, inf]
    >>> edges_told(["young", "old"]), edges_told(["< 18", ">= 65"])
    ([], [])
    """
    edges: list[float] = []
    for name in names:
        ends = bin_ends(name)
        if ends is None:
            break
        if edges and edges[-1] != ends[0]:
            return []
        edges = [*(edges or [ends[0]]), ends[1]]
    return edges if all(low < high for low, high in pairwise(edges)) else []


def bins_in_order(names: Sequence[object]) -> tuple[list[int], list[float]] | None:
    """The places of names of bins from the lowest to the highest, and their edges; None unless they follow each other.

    >>> bins_in_order([">= 65", "< 18", "18 to < 65"])
    ([1, 2, 0], [-inf, 18.0, 65.0, inf])
    """
    ends = [found for name in names if (found := bin_ends(name)) is not None]
    if len(ends) < len(names) or not ends:
        return None
    order = sorted(range(len(ends)), key=lambda place: ends[place])
    edges = edges_told([names[place] for place in order])
    return (order, edges) if edges else None


def are_edges(given: object) -> bool:
    """Whether these are edges between bins: at least one number, finite and rising, and told apart by their names."""
    if not isinstance(given, list | tuple) or not given:
        return False
    if any(isinstance(edge, bool) or not isinstance(edge, int | float) or not math.isfinite(edge) for edge in given):
        return False
    return all(low < high for low, high in pairwise(float(f"{edge:.12g}") for edge in given))
