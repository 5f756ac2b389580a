"""The designs that a plan compares: a name, and a function that makes the design for what is wanted.

A function returns None where its design makes no sense. Each is made with k-RR, and once more with the channel of least
variance; `optimal` chooses its channels itself. A kind of design is a module, imported when a plan is first made.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from deniable.designs.design import Design
    from deniable.planning.candidates.purpose import Purpose

    Maker: TypeAlias = Callable[[Purpose], Design | None]

# The name of each, and its function in the module of its kind.
HOMES = {
    "independent": f"{__name__}.independent_candidate:make",
    "joint": f"{__name__}.joint_candidate:make",
    "clusters": f"{__name__}.clusters_candidate:make",
    "sampled": f"{__name__}.sampled_candidate:make",
    "tables": f"{__name__}.tables_candidate:make",
    "views, one answer": f"{__name__}.views_candidate:one",
    "views, all answers": f"{__name__}.views_candidate:every",
    "optimal": f"{__name__}.optimal_candidate:make",
    "paired": "deniable.extensions.paired.paired_candidate:make",
}


def _at_home(home: str) -> Maker:
    """The function of a module that is imported when it is first called."""
    module, _, name = home.partition(":")

    def make(purpose: Purpose) -> Design | None:
        found: Maker = getattr(import_module(module), name)
        return found(purpose)

    return make


CANDIDATES: dict[str, Maker] = {name: _at_home(home) for name, home in HOMES.items()}


def candidate(name: str) -> Callable[[Maker], Maker]:
    """Register a way to make a design: a function of what is wanted; None where it makes no sense."""

    def register(make: Maker) -> Maker:
        CANDIDATES[name] = make
        return make

    return register
