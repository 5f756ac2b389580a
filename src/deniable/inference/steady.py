"""Steady: where a bootstrap is drawn from when the same data are to give the same p-value wherever they are looked at.

A report, a dashboard and a command test the same reports at different times, and a p-value that differs between them
raises questions that have no answer. The seed is a hash of the counts under test, so that it does not depend on the
order of reports, nor on which other pairs are tested beside. Nothing is disguised with it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from deniable.designs.reports import Reports
from deniable.estimation.estimator import observations_of
from deniable.randomness import Seeded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.estimation.estimator import Collected


def steady(reports: Collected, attributes: Sequence[str], by: str | None = None) -> Seeded:
    """The source that these counts are tested with; with `by`, those of every public group."""
    digest = hashlib.sha256()
    parts = reports.groups(by) if by is not None and isinstance(reports, Reports) else [("", reports)]
    for group, part in parts:
        digest.update(f"group {group}\n".encode())
        told = observations_of(part, list(attributes))
        for line in sorted(f"{o.domain.names} {o.channel.name} {o.counts.ravel().tolist()}" for o in told):
            digest.update(f"{line}\n".encode())
    return Seeded(int.from_bytes(digest.digest()[:8]))
