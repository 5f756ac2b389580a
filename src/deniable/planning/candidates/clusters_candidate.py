"""Clusters of what is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs.kinds.clusters import Clusters
from deniable.planning.candidates.purpose import MOST_CELLS

if TYPE_CHECKING:
    from deniable.planning.candidates.purpose import Purpose


def make(purpose: Purpose) -> Clusters | None:
    """Attributes that share a table share a cluster."""
    asked = purpose.asked
    cluster = {name: [name] for name in asked}
    for table in purpose.tables:
        joined = list(dict.fromkeys(name for attribute in table for name in cluster[attribute]))
        cluster |= dict.fromkeys(joined, joined)
    parts = [list(names) for names in dict.fromkeys(tuple(cluster[name]) for name in asked)]
    sensible = 1 < len(parts) < len(asked) and all(asked.project(part).cells <= MOST_CELLS for part in parts)
    return Clusters(asked, parts, purpose.epsilon, channel=purpose.channel) if sensible else None
