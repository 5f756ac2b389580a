"""From `[design]` to a design, with the key that is at fault where there is none."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from deniable.aims.aim import Wanted
from deniable.aims.default_aims import shares_and_pairs
from deniable.designs.distance_to_best import loss_of
from deniable.errors import DesignError, NotCoveredError, SurveyError, UnknownAttributeError
from deniable.surveys.designs import KINDS, design_kind
from deniable.surveys.designs.wish import Channels, Wish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.core.domain import Domain
    from deniable.designs.design import Design
    from deniable.surveys.schema import DesignEntry, PanelEntry

# Which key a detail of an error speaks of.
_AT_FAULT = {"channel": "design.channel", "requested": "epsilon", "epsilon": "epsilon"}


def build(
    domain: Domain,
    epsilon: float,
    entry: DesignEntry,
    tables: Sequence[Sequence[str]],
    panel: PanelEntry | None = None,
    *,
    wanted: tuple[Wanted, ...] = (),
) -> Design:
    """Make the design, and say which key is at fault where there is none."""
    if entry.kind not in KINDS:
        raise SurveyError(
            f"design.kind: there is no design {entry.kind!r}; there are {sorted(KINDS)}", path="design.kind"
        )
    kind = design_kind(entry.kind)
    for key in entry.__struct_fields__:
        if key != "kind" and getattr(entry, key) is not None and key not in kind.KEYS:
            raise SurveyError(f"design.{key}: a {entry.kind} design takes no {key}", path=f"design.{key}")
    for index, table in enumerate(tables):
        try:
            domain.project(table)
        except (UnknownAttributeError, DesignError) as error:
            raise SurveyError(f"tables[{index}]: {error.message}", path=f"tables[{index}]") from error
    every = everything(domain, tables, wanted)
    channels = Channels(entry.channel or "krr", panel, every, _planned(entry))
    try:
        design = kind.make(Wish(domain, epsilon, entry, tables, channels, every))
    except SurveyError:
        raise
    except DesignError as error:
        path = next((key for detail, key in _AT_FAULT.items() if detail in error.details), "design")
        raise SurveyError(f"{path}: {error.message}", path=path) from error
    for index, table in enumerate(tables):
        if not design.covers(table):
            raise SurveyError(
                f"tables[{index}]: under a {entry.kind} design no respondent is asked {' and '.join(table)} together, "
                f'so this table cannot be recovered. Use design.kind = "tables", or drop the table',
                path=f"tables[{index}]",
            )
    _check_told(design, wanted, entry.kind)
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
    domain: Domain, epsilon: float, entry: DesignEntry, every: Sequence[Wanted], panel: PanelEntry | None
) -> str | None:
    """The hash of what decides about a design that is searched for; None: it is not, or the file carries it."""
    if entry.made is not None or "optimal" not in (entry.kind, entry.channel):
        return None
    asked = [(name, domain[name].categories) for name in domain]
    said = {key: value for key, value in msgspec.structs.asdict(entry).items() if value is not None}
    content = [asked, epsilon, said, list(map(str, every)), [] if panel is None else [*panel.repeats, panel.again]]
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


def _planned(entry: DesignEntry) -> int | None:
    """How many respondents are planned, where that decides about channels."""
    if entry.respondents is None:
        return None
    if entry.channel not in ("least_variance", *([None] if entry.kind == "optimal" else [])):
        raise SurveyError(
            "design.respondents: how many are planned decides only which channel has the least variance at the least "
            'work. Say channel = "least_variance", or drop this key',
            path="design.respondents",
        )
    if entry.respondents < 1:
        raise SurveyError(
            f"design.respondents: a number of respondents is at least 1, not {entry.respondents}",
            path="design.respondents",
        )
    return entry.respondents
