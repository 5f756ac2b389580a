"""From `[design]` to a design, with the key that is at fault where there is none."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from deniable.aims.aim import Wanted
from deniable.aims.default_aims import shares_and_pairs
from deniable.designs.distance_to_best import loss_of
from deniable.designs.registry import DESIGNS
from deniable.designs.request import Options, Request
from deniable.errors import DesignError, InputError, NotCoveredError, SurveyError, UnknownAttributeError
from deniable.surveys.parse_survey import convert
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deniable.core.domain import Domain
    from deniable.designs.design import Design
    from deniable.surveys.schema import PanelEntry

DEFAULT = "tables"


def read_design(entry: Mapping[str, Any]) -> tuple[str, Options]:
    """The kind of design that `[design]` names, and its options."""
    said = dict(entry)
    kind = said.pop("kind", DEFAULT)
    if kind not in DESIGNS or not DESIGNS[kind].is_served:
        served = listed(name for name in sorted(DESIGNS) if DESIGNS[name].is_served)
        raise SurveyError(f"design.kind: no design {kind!r} can be served; there are {served}", path="design.kind")
    options = DESIGNS[kind].Options
    fields = {field.name: field for field in msgspec.structs.fields(options)}
    for key in said:
        if key not in fields:
            raise SurveyError(
                f"design.{key}: a {kind} design takes no {key}; it takes {listed(sorted(fields))}", path=f"design.{key}"
            )
    for key, field in fields.items():
        if field.required and key not in said:
            raise SurveyError(
                f"design.{key}: a {kind} design needs {key}: {options.described()[key]}", path=f"design.{key}"
            )
    return kind, convert(said, options, "design")


def build(
    domain: Domain,
    epsilon: float,
    chosen: tuple[str, Options],
    tables: Sequence[Sequence[str]],
    panel: PanelEntry | None = None,
    *,
    wanted: tuple[Wanted, ...] = (),
) -> Design:
    """Make the design, and say which key is at fault where there is none."""
    kind, options = chosen
    for index, table in enumerate(tables):
        try:
            domain.project(table)
        except (UnknownAttributeError, DesignError) as error:
            raise SurveyError(f"tables[{index}]: {error.message}", path=f"tables[{index}]") from error
    aims = everything(domain, tables, wanted)
    repeats, again = ((), 0.0) if panel is None else (panel.repeats, float(panel.again))
    request = Request(domain, epsilon, aims, repeats=repeats, again=again, is_served=True)
    try:
        design = DESIGNS[kind].make(request, options)
    except (DesignError, InputError) as error:
        key = options.at_fault(error)
        path = f"design.{key}" if key else "epsilon" if {"requested", "epsilon"} & set(error.details) else "design"
        raise SurveyError(f"{path}: {error.message}", path=path) from error
    for index, table in enumerate(tables):
        if not design.covers(table):
            raise SurveyError(
                f"tables[{index}]: under a {kind} design no respondent is asked {' and '.join(table)} together, "
                f'so this table cannot be recovered. Use design.kind = "tables", or drop the table',
                path=f"tables[{index}]",
            )
    _check_told(design, wanted, kind)
    return design


def everything(domain: Domain, tables: Sequence[Sequence[str]], wanted: Sequence[Wanted]) -> tuple[Wanted, ...]:
    """What a file wants: its tables, its numbers, and the shares of what is asked and not spoken of.

    Where it says nothing of the kind, every share and every pair.
    """
    if not tables and not wanted:
        return shares_and_pairs(domain)
    items = (*(Wanted.table(*table) for table in tables), *wanted)
    spoken = {name for one in items for name in one.attributes}
    return (*items, *(Wanted.shares(name) for name in domain if name not in spoken))


def searched_for(
    domain: Domain, epsilon: float, chosen: tuple[str, Options], every: Sequence[Wanted], panel: PanelEntry | None
) -> str | None:
    """The hash of what decides about a design that is searched for; None: it is not, or the file carries it."""
    kind, options = chosen
    said = msgspec.to_builtins(options)
    if "made" in said or not (DESIGNS[kind].is_chosen or said.get("channel") == "optimal"):
        return None
    asked = [(name, domain[name].categories) for name in domain]
    repeated = [] if panel is None else [*panel.repeats, panel.again]
    content = [asked, epsilon, {"kind": kind, **said}, list(map(str, every)), repeated]
    return hashlib.sha256(msgspec.json.encode(content, order="deterministic")).hexdigest()


def _check_told(design: Design, wanted: Sequence[Wanted], kind: str) -> None:
    """Refuse a design whose reports would not tell what the file says is wanted."""
    for index, one in enumerate(wanted):
        try:
            loss_of(design, [one])
        except NotCoveredError:
            raise SurveyError(
                f'wanted[{index}]: no report of a {kind} design tells {one}. Use design.kind = "optimal", or drop it',
                path=f"wanted[{index}]",
            ) from None
