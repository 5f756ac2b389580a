"""What a disguised graph can tell about one edge, and about one person."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

from deniable.device.epsilon import epsilon_of, float_above, posterior
from deniable.plotting import beliefs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

_REPORTERS = {1: "by one of its two ends", 2: "by both its ends, each with a coin of their own"}


@dataclass(frozen=True)
class EdgeStatement:
    """The privacy of a disguised graph, from the exact ratio of one report.

    =====================  =======================================================
    `edge_ratio`           ratio^reports
    `epsilon`              of an edge: ln(edge_ratio), rounded up
    `person_epsilon`       of all n - 1 pairs of a person: (n - 1) epsilon
    `posterior(b)`         b edge_ratio / (b edge_ratio + 1 - b), rounded up
    =====================  =======================================================

    Args:
        ratio: The exact ratio p / q of one report of one pair.
        reports: How many ends report each pair: 1 or 2.
        nodes: The number of nodes.
        notes: Sentences that belong beside the numbers.

    >>> print(EdgeStatement(Fraction(3), 2, 100))
    epsilon of an edge: 2.1973 (rounded up). Every pair was reported by both its ends, each with a coin of their own.
    Who believed 5% before that two people are linked can believe at most 32.15% after; who believed 50%, 90.00%.
    epsilon of a person: 217.5253. It covers all 99 pairs of one person at once; so much is no promise:
    single edges are protected here, not a person's whole list.
    Public: the list of nodes. The number of edges is not released; estimates of it come from the reports.
    """

    ratio: Fraction
    reports: int
    nodes: int
    notes: tuple[str, ...] = ()

    @property
    def edge_ratio(self) -> Fraction:
        """The most that all reports about one pair multiply anybody's odds of its being an edge."""
        return self.ratio**self.reports

    @property
    def epsilon(self) -> float:
        """Of an edge: ln(edge_ratio), rounded up."""
        return epsilon_of(self.edge_ratio)

    @property
    def person_epsilon(self) -> float:
        """Of everything a person could be linked by: (n - 1) times an edge's, rounded up."""
        return float_above((self.nodes - 1) * Fraction(self.epsilon))

    def posterior(self, prior: float) -> float:
        """Return the most anybody can believe in an edge after the reports, who believed `prior` before. Rounded up."""
        return posterior(prior, self.edge_ratio)

    def lines(self) -> tuple[str, ...]:
        """Return the statement line by line, the notes last."""
        low, high = (f"{_up(100 * self.posterior(prior), 2)}%" for prior in (0.05, 0.5))
        before = "Who believed 5% before that two people are linked"
        edge, person, pairs = _up(self.epsilon, 4), _up(self.person_epsilon, 4), self.nodes - 1
        return (
            f"epsilon of an edge: {edge} (rounded up). Every pair was reported {_REPORTERS[self.reports]}.",
            f"{before} can believe at most {low} after; who believed 50%, {high}.",
            f"epsilon of a person: {person}. It covers all {pairs} pairs of one person at once; so much is no promise:",
            "single edges are protected here, not a person's whole list.",
            "Public: the list of nodes. The number of edges is not released; estimates of it come from the reports.",
            *self.notes,
        )

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return (
            f'<section class="deniable-statement"><strong>Privacy statement</strong>{"".join(self._items())}</section>'
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the most and the least anybody can believe of one edge after the reports."""
        return beliefs(self.posterior, f"One edge: epsilon {_up(self.epsilon, 4)}", ax)

    def _items(self) -> Iterator[str]:
        return (f"<p>{escape(line)}</p>" for line in self.lines())


def _up(number: float, places: int) -> str:
    """Print with so many decimals, rounded up: a printed promise is never better than the true one."""
    whole, decimals = divmod(math.ceil(Fraction(number) * 10**places), 10**places)
    return f"{whole}.{decimals:0{places}d}"
