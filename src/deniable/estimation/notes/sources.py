"""Sources: what was collected, one by one, and what is known of all of them together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from deniable.core.labels import UNKNOWN, Labels
from deniable.core.provenance import PEOPLE, Origin
from deniable.designs.observation import Observation
from deniable.designs.reports.reports import Reports
from deniable.designs.reports.tallies import Tallies
from deniable.estimation.notes.corrected_words import correction_notes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.estimation.estimate import Estimate
    from deniable.estimation.estimator import Collected


def sources_of(reports: Collected) -> Sequence[Reports | Tallies | Observation]:
    """What was handed in, one by one."""
    return [reports] if isinstance(reports, Reports | Tallies | Observation) else reports


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
