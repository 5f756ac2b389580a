"""Stamped: what is made of reports says where these come from, as the estimates of them do.

A test or a measure of simulated reports, or of a pilot's, is no result, and looks like one wherever it is put. So every
function that answers from reports, or from an estimate, adds a sentence to what a reader must know: a `Stamp`, of which
tables that leave without their notes take a word into a column. What else lasts of an estimate (`Lasting`: that its
sources differ) is said of the measures that are made of it, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from deniable.core.provenance import PEOPLE
from deniable.core.summary import Lasting, Shown, Stamp
from deniable.designs.reports.reordered import Reported
from deniable.estimation.estimate import Estimate
from deniable.estimation.report_sources import origin_of

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
        everything = (*args, *named.values())
        stamps = [stamp for given in everything for stamp in _stamps(given)]
        lasting = [said for given in everything if isinstance(given, Estimate) for said in _lasting(given)]
        return cast("R", _marked(found, [*lasting, *stamps[:1]])) if stamps or lasting else found

    return call


def _stamps(given: object) -> list[Stamp]:
    """Where something comes from that was handed in: reports, what was estimated of them, or another result."""
    origin = PEOPLE
    if isinstance(given, Estimate):
        origin = given.origin
    elif isinstance(given, Reported):
        origin = origin_of(given)
    elif isinstance(given, Mapping | Sequence) and (sources := _sources(given)):
        origin = origin_of(sources)
    elif isinstance(given, Shown):
        notes = getattr(given, "notes", ())
        return [note for note in notes if isinstance(note, Stamp)] if isinstance(notes, tuple) else []
    return [Stamp(said, origin.stamp) for said in origin.note]


def _sources(given: Mapping[Any, Any] | Sequence[Any]) -> list[Any]:
    """Several sources, in a list or by the group that they are of; none where something else was given."""
    if isinstance(given, str):
        return []
    parts = list(given.values()) if isinstance(given, Mapping) else list(given)
    every = [one for part in parts for one in (part if isinstance(part, list | tuple) else [part])]
    return every if all(isinstance(one, Reported) for one in every) else []


def _lasting(estimate: Estimate) -> list[Lasting]:
    """What was said of an estimate, but for its stamp, and holds of what is made of it."""
    return [said for said in estimate.warnings if isinstance(said, Lasting) and not isinstance(said, Stamp)]


def _marked(found: Any, stamps: Sequence[Lasting]) -> Any:
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
            known = any(isinstance(note, Stamp) for note in notes)
            more = [said for said in stamps if said not in notes and not (known and isinstance(said, Stamp))]
            return replace(found, **{name: (*notes, *more)}) if more else found
    return found
