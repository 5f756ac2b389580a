"""Stamped: what is made of reports says where these come from, as the estimates of them do.

A test or a measure of simulated reports, or of a pilot's, is no result, and looks like one wherever it is put. So every
function that answers from reports, or from an estimate, adds a sentence to what a reader must know: a `Stamp`, of which
tables that leave without their notes take a word into a column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from deniable.designs.reports import Reports
from deniable.designs.tallies import Tallies
from deniable.estimation.estimate import Estimate
from deniable.estimation.sources import origin_of
from deniable.origin import PEOPLE
from deniable.summary import Shown, Stamp

if TYPE_CHECKING:
    from collections.abc import Callable

    P = ParamSpec("P")
    R = TypeVar("R")

_NOTES = ("notes", "warnings", "everybody", "left_out", "used")  # where results keep what a reader must know


def stamped(function: Callable[P, R]) -> Callable[P, R]:
    """The same function, whose results say where the reports come from that they are made of."""

    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> R:
        found = function(*args, **named)
        stamps = [stamp for given in (*args, *named.values()) for stamp in _stamps(given)]
        return cast("R", _marked(found, stamps[:1])) if stamps else found

    return call


def _stamps(given: object) -> list[Stamp]:
    """Where something comes from that was handed in: reports, what was estimated of them, or another result."""
    origin = PEOPLE
    if isinstance(given, Estimate):
        origin = given.origin
    elif isinstance(given, Reports | Tallies):
        origin = origin_of(given)
    elif isinstance(given, Sequence) and given and all(isinstance(one, Reports | Tallies) for one in given):
        origin = origin_of(cast("Any", given))
    elif isinstance(given, Shown):
        notes = getattr(given, "notes", ())
        return [note for note in notes if isinstance(note, Stamp)] if isinstance(notes, tuple) else []
    return [Stamp(said, origin.stamp) for said in origin.note]


def _marked(found: Any, stamps: Sequence[Stamp]) -> Any:
    if not is_dataclass(found) or isinstance(found, type):
        return found
    parts = {one.name for one in fields(found)}
    if "measures" in parts:
        return replace(found, measures=tuple(_marked(one, stamps) for one in cast("Any", found).measures))
    if "tests" in parts:  # of which each may be taken out
        found = replace(found, tests=tuple(_marked(one, stamps) for one in cast("Any", found).tests))
    for name in _NOTES:
        if name in parts:
            notes = getattr(found, name)
            if any(isinstance(note, Stamp) for note in notes):
                return found
            return replace(found, **{name: (*notes, *stamps)})
    return found
