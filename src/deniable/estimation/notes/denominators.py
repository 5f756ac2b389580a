"""How many reports an answer stands on, which were left out, and why: said by one function for everything.

>>> import deniable as dn
>>> from deniable.likelihood.gather import gather
>>> design = dn.Views({name: ["no", "yes"] for name in "abc"}, k=2, epsilon=1.0)
>>> reports = design.randomize({name: ["no", "yes"] * 60 for name in "abc"}, source=dn.Seeded(1))
>>> print(used([gather(reports, ["a"])], {"without a value of region": 5}))
Used: 69 reports about a through KRR(2), counted. Left out: 51 that speak of none of these; 5 without a value of region.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.core.provenance import PEOPLE
from deniable.device.protocol.answer_encoding import NOT_ASKED
from deniable.errors import InvalidTestError
from deniable.estimation.inversion import only_covering
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from deniable.core.domain import Domain
    from deniable.core.provenance import Origin
    from deniable.designs.reports.reports import Reports
    from deniable.likelihood.evidence import Evidence

UNASKED = "of people who were not asked"
_TOLD = 4  # kinds of reports that are told by themselves


def used(every: Sequence[Evidence], left_out: Mapping[str, int] | None = None) -> str:
    """What was used of the reports of one sample or of several groups, and what was not, by the reason."""
    kinds: dict[str, int] = {}
    riding: dict[str, None] = {}
    silent = unasked = 0
    asked = [evidence.asked for evidence in every]
    for evidence in every:
        silent, unasked = silent + evidence.silent, unasked + evidence.unasked
        riding |= dict.fromkeys(evidence.nuisance)
        for group in evidence.groups:
            said = group.said
            kind = f"about {' and '.join(said.part)} through {said.channel.name}, {said.how}"
            kinds[kind] = kinds.get(kind, 0) + round(said.n)
    told = [f"{n} {kind}" for kind, n in kinds.items()]
    if len(told) > _TOLD:
        rest = list(kinds.values())[_TOLD:]
        told = [*told[:_TOLD], f"{sum(rest)} of {len(rest)} more kinds"]
    if len(kinds) == 1:
        ((kind, n),) = kinds.items()
        found = f"Used: {n} reports {kind}"
    else:
        found = f"Used: {sum(kinds.values())} reports: {'; '.join(told)}"
    if riding:
        found += f"; {', '.join(riding)} ride along"
    reasons = {UNASKED: unasked, "that speak of none of these": silent}
    for why, n in (left_out or {}).items():
        reasons[why] = reasons.get(why, 0) + n
    without = "; ".join(f"{n} {why}" for why, n in reasons.items() if n)
    return " ".join([f"{found}. Left out: {without}." if without else f"{found}.", *applies_to_all(asked)])


def applies_to_all(asked: Iterable[Domain]) -> tuple[str, ...]:
    """That an answer is about everybody, where a question was put to some and nothing says to whom.

    >>> import deniable as dn
    >>> applies_to_all([dn.Domain({"a": ["no", "yes", NOT_ASKED], "b": ["no", "yes"]})])[0].split(":")[0]
    'About everybody, with "does not apply" as one of the answers to a'
    """
    names = {name: None for domain in asked for name in unknown_askings(domain)}
    if not names:
        return ()
    told = f'About everybody, with "{NOT_ASKED}" as one of the answers to {" and ".join(names)}'
    why = "the public columns that decide who was asked, or the words of the survey, are not among what was given"
    return (f"{told}: {why}.",)


def unknown_askings(domain: Domain) -> list[str]:
    """The attributes of a table that were put to some, where nothing says to whom."""
    return [name for name, v in domain.items() if NOT_ASKED in v.categories]


def refuse_unknown_askings(domain: Domain) -> None:
    """Refuse to call attributes associated that the same people were not asked about.

    >>> import deniable as dn
    >>> refuse_unknown_askings(dn.Domain({"a": ["no", "yes", NOT_ASKED], "b": ["no", "yes"]}))
    """
    names = unknown_askings(domain)
    if len(names) > 1:
        raise InvalidTestError(
            f'{listed(names)} were put to some people only, with "{NOT_ASKED}" as an answer for the others: who was '
            f"not asked one was not asked the other, so they look associated whatever people answered. Nothing says "
            f"here who was asked. Attach the words of the survey, reports.with_labels(survey.labels) (or "
            f"Labels(show_if={{{names[0]!r}: {{column: values}}, ...}})), and let the public columns that decide ride "
            f"along, randomize(frame, keep=[...]); all is then about those who were asked",
            attributes=tuple(names),
            alternative="with_labels",
        )


def used_whole(evidence: Evidence) -> str:
    """The same of an answer that stands only on reports about the whole table."""
    whole = only_covering(evidence)
    return used([whole], {"that speak of only some of these": evidence.n - whole.n})


def asked_groups(reports: Reports, by: str, names: Sequence[str]) -> tuple[dict[Any, Reports], dict[str, int]]:
    """The groups in which somebody was asked, and how many respondents are in none of these, by the reason."""
    every = dict(reports.groups(by))
    kept = {group: part for group, part in every.items() if part.among_asked(names).people}
    unknown = reports.n - sum(part.n for part in every.values())
    unasked = sum(part.n for group, part in every.items() if group not in kept)
    return kept, {UNASKED: unasked, f"without a value of {by}": unknown}


def thin_groups(by: str, sizes: Mapping[Any, int], refused: Mapping[Any, str]) -> dict[str, int]:
    """How many respondents are in groups that are left out of a comparison because they are too few, by the reason.

    >>> thin_groups("region", {"north": 400, "moon": 1}, {"moon": "only 1 report"})
    {'of region moon (only 1 report)': 1}
    """
    return {f"of {by} {group} ({why})": sizes[group] for group, why in refused.items()}


def stands_on(n: int, names: Sequence[str], evidence: Evidence | None, origin: Origin = PEOPLE) -> str:
    """What an estimate stands on: so many reports about its table, those about parts of it, and those about neither.

    >>> stands_on(40, ["a", "b"], None)
    '40 reports about a and b'
    """
    told = f"{n} {origin.kind}reports about {' and '.join(names)}"
    if evidence is None:
        return told
    parts = evidence.n - n
    told += f", {parts} about only some of these" if parts > 0 else ""
    told += f", {evidence.silent} about other questions" if evidence.silent else ""
    return told + (f"; {evidence.unasked} people were not asked" if evidence.unasked else "")
