"""What an estimate is made from, as callers hand it in: reports, tallies, counts, one source or several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.domain import Domain
from deniable.core.input_coercion import has_labels
from deniable.core.labels import UNKNOWN, Labels
from deniable.core.provenance import PEOPLE, Origin
from deniable.designs.observation import Observation
from deniable.designs.reports.reordered import in_one_order
from deniable.designs.reports.reports import Reports
from deniable.errors import InputError
from deniable.estimation.notes.corrected_words import correction_notes
from deniable.likelihood.gather import Reported
from deniable.text import listed

if TYPE_CHECKING:
    from deniable.channels.channel import Channel
    from deniable.estimation.estimate import Estimate

# What was collected: reports, what a simulation tallied, counts; or several of these, pooled.
Collected = Reported | Sequence[Reported]
ANSWER = "answer"  # what the attribute is called where only counts are known


def sources_of(reports: Collected) -> Sequence[Reported]:
    """What was handed in, one by one."""
    return [reports] if isinstance(reports, Reported) else reports


def origin_of(reports: Collected) -> Origin:
    """Whether reports are simulated or a pilot's: of several, all together. Counts know it if they were told."""
    return sum((source.origin or Origin(reports=round(source.n)) for source in sources_of(reports)), PEOPLE)


def labels_of(reports: Collected) -> Labels:
    """The words of the first reports that have any."""
    known = (source.labels for source in sources_of(reports) if isinstance(source, Reports))
    return next((labels for labels in known if labels.texts), UNKNOWN)


def with_what_is_known(found: Estimate, reports: Collected, names: Sequence[str]) -> Estimate:
    """An estimate with the words of its reports, where these come from, and what was corrected meanwhile."""
    warnings = (*found.warnings, *correction_notes(sources_of(reports), names))
    return replace(found, labels=labels_of(reports), origin=origin_of(reports), warnings=warnings)


def collected_from(reports: Any, attributes: object) -> Collected:
    """What was handed in, if anything can be estimated from it; else the line to write."""
    if isinstance(reports, Reported):
        return reports
    asked = repr(attributes) if isinstance(attributes, str) else "..."
    if isinstance(reports, str | Path):
        raise InputError(
            f"estimates are made from reports, not from the name of a file: write "
            f"estimate(open_reports({str(reports)!r}), {asked})"
        )
    if hasattr(reports, "columns"):
        raise InputError(
            f"a data frame does not say how its answers were disguised: write estimate(Reports(frame, design), "
            f"{asked}) with the design that made it, or, if it is not disguised at all, Table.count(frame, domain)"
        )
    held = list(reports) if isinstance(reports, list | tuple) else []
    if not held or not all(isinstance(each, Reported) for each in held):
        raise InputError(
            f"estimates are made from reports (or several), not from {type(reports).__name__}; counts go with their "
            f"channel, as in estimate([60, 40], Warner(0.8)), single answers with prevalence(answers, Warner(0.8))"
        )
    return in_one_order(held)


def names_of(reports: Any, attributes: str | Iterable[str] | None) -> list[str]:
    """The names of the attributes whose table is wanted."""
    if attributes is not None:
        if not isinstance(attributes, str | Iterable):
            raise InputError(f"attributes are named, such as 'smokes' or ['smokes', 'sleep'], not {attributes!r}")
        return [attributes] if isinstance(attributes, str) else list(attributes)
    first = sources_of(reports)[0]
    known = list(first.domain if isinstance(first, Observation) else first.design.domain)
    if len(known) == 1:
        return known
    raise InputError(
        f"say whose table is wanted, such as estimate(reports, {known[0]!r}); for every attribute by itself, "
        f"{{name: estimate(reports, name) for name in reports.design.domain}}",
        attributes=tuple(known),
    )


def group_column(by: Any) -> str | None:
    """The one public column to group by; a list of it will do."""
    if isinstance(by, list | tuple):
        if len(by) != 1:
            raise InputError(
                f"groups are those of one public column, not of {listed(by)}: combine them into a column of their own, "
                f"and let that ride along with randomize(frame, keep=[...])"
            )
        by = by[0]
    return None if by is None else str(by)


def refuse_public(reports: object, names: Sequence[str]) -> None:
    """A public attribute is nothing to be estimated: it is known. Say how the others are found within its groups."""
    if not isinstance(reports, Reports):
        return
    public = [name for name in names if name in reports.public_names and name not in reports.design.domain]
    if not public:
        return
    others = [name for name in names if name not in public]
    if not others:
        raise InputError(f"{public[0]!r} is public: it was not disguised, and counting it needs no estimate")
    written = repr(others[0]) if len(others) == 1 else repr(others)
    raise InputError(
        f"{public[0]!r} is public: it travels in clear, so the others are estimated within each of its groups. Write "
        f"estimate(reports, {written}, by={public[0]!r}), or on the command line --table {','.join(others)} --by "
        f"{public[0]}",
        attribute=public[0],
    )


def counted_question(counts: Any, channel: Channel) -> Observation:
    """How often each report to one question came."""
    categories = getattr(channel, "categories", None) or tuple(range(channel.inputs))
    domain = Domain({ANSWER: categories})
    if has_labels(counts, categories) or hasattr(counts, "columns"):
        return Observation(domain, channel, counts)
    numbers = np.asarray(counts)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iuf" or len(numbers) != channel.outputs:
        raise InputError(
            f"with a channel go counts, how often each of its {channel.outputs} reports came, such as "
            f"estimate({[10] * min(channel.outputs, 4)}, channel); single answers go to prevalence(answers, channel)"
        )
    if (numbers < 0).any() or (numbers != np.round(numbers)).any():
        raise InputError(f"counts are whole numbers and not negative, not {numbers.tolist()}")
    return Observation(domain, channel, numbers.astype(np.int64).reshape(channel.output_shape))
