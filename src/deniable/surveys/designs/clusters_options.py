"""Clusters of questions, each answered together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs.kinds.clusters import Clusters
from deniable.errors import SurveyError
from deniable.surveys.designs.wish import SETS

if TYPE_CHECKING:
    from deniable.surveys.designs.wish import Wish

KEYS = ("clusters", *SETS)


def make(wish: Wish) -> Clusters:
    """The design that a file asks for."""
    if wish.entry.clusters is None:
        raise SurveyError(
            "design.clusters: a clusters design needs the list of clusters, each a list of questions",
            path="design.clusters",
        )
    return Clusters(wish.domain, wish.entry.clusters, wish.epsilon, channel=wish.channels)
