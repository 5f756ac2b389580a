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
    "independent": "independent.make",
    "joint": "joint.make",
    "clusters": "clusters.make",
    "sampled": "sampled.make",
    "tables": "tables.make",
    "views, one answer": "views.one",
    "views, all answers": "views.every",
    "optimal": "optimal.make",
    "paired": "paired.make",
}


def _at_home(home: str) -> Maker:
    """The function of a module that is imported when it is first called."""
    module, _, name = home.partition(".")

    def make(purpose: Purpose) -> Design | None:
        found: Maker = getattr(import_module(f"{__name__}.{module}"), name)
        return found(purpose)

    return make


CANDIDATES: dict[str, Maker] = {name: _at_home(home) for name, home in HOMES.items()}


def candidate(name: str) -> Callable[[Maker], Maker]:
    """Register a way to make a design: a function of what is wanted; None where it makes no sense."""

    def register(make: Maker) -> Maker:
        CANDIDATES[name] = make
        return make

    return register
