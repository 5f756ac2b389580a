"""The block protocol on counts, many surveys at once.

A survey is a row. In every block B people come, drawn from the row's population; each keeps the truth with probability
p, else sends a fake from the row's current T. What people there were is remembered, since the paper compares with the
table of the records themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np

from deniable import Domain, Mixture, Observation, Seeded, Views, estimate
from deniable.datasets import Network, network
from reproduction.simulated_counts import jensen_shannon, projected_rows, tally

if TYPE_CHECKING:
    from numpy.typing import NDArray

Update = Literal["pooled", "last"]
N, BLOCK = 8000, 250
_RECORDS = 100_000  # of a network too large for its joint table


@dataclass(frozen=True, eq=False)
class Surveys:
    """What came in: reports and fakes by block (blocks, rows, cells), and the people (rows, cells)."""

    reports: NDArray[np.float64]
    fakes: NDArray[np.float64]
    people: NDArray[np.float64]
    keep: float

    @property
    def n(self) -> float:
        """People a survey."""
        return float(self.people[0].sum())

    @property
    def blocks(self) -> NDArray[np.float64]:
        """Every block's own unbiased estimate, as shares."""
        shares = self.reports / self.reports.sum(axis=2, keepdims=True)
        return (shares - (1 - self.keep) * self.fakes) / self.keep

    @property
    def pooled(self) -> NDArray[np.float64]:
        """Reading "pooled": all blocks count."""
        return self.blocks.mean(axis=0)

    @property
    def last_two(self) -> NDArray[np.float64]:
        """Reading "literal": the mean of the last two blocks, section 5."""
        return self.blocks[-2:].mean(axis=0)

    @property
    def last_fakes(self) -> NDArray[np.float64]:
        """Reading "version 1": all reports, but only the last T subtracted (eq 4 with the total n)."""
        shares = self.reports.sum(axis=0) / self.n
        return (shares - (1 - self.keep) * self.fakes[-1]) / self.keep

    def likeliest(self) -> NDArray[np.float64]:
        """Reading "EM": maximum likelihood over all blocks."""
        domain = Domain({"cell": range(self.reports.shape[2])})
        rows = []
        for reports, fakes in zip(self.reports.swapaxes(0, 1), self.fakes.swapaxes(0, 1), strict=True):
            blocks = [
                Observation(domain, Mixture(self.keep, own.tolist()), counts)
                for own, counts in zip(fakes, reports, strict=True)
            ]
            rows.append(estimate(blocks, "cell", "mle").values)
        return np.array(rows)

    def l2(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The distance of estimated counts from those of the people, one a survey."""
        return np.sqrt(((shares * self.n - self.people) ** 2).sum(axis=1))

    def js(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The Jensen-Shannon distance (root of the divergence) of the projected estimate from the people's shares."""
        return jensen_shannon(projected_rows(shares).T, (self.people / self.n).T)


def survey(
    rng: np.random.Generator,
    pi: NDArray[np.float64],
    keep: float,
    *,
    n: int = N,
    block: int = BLOCK,
    update: Update = "pooled",
) -> Surveys:
    """Run the protocol for every row of pi."""
    rows, cells = pi.shape
    fakes = np.full((rows, cells), 1 / cells)
    reports, used, people = [], [], np.zeros((rows, cells))
    total = np.zeros((rows, cells))
    for _ in range(n // block):
        came = rng.multinomial(block, pi)
        kept = rng.binomial(came, keep)
        sent = kept + rng.multinomial(block - kept.sum(axis=1), fakes)
        reports.append(sent)
        used.append(fakes)
        people += came
        own = (sent / block - (1 - keep) * fakes) / keep
        total += own
        fakes = projected_rows(own if update == "last" else total / len(used))
        fakes = fakes / fakes.sum(axis=1, keepdims=True)
    return Surveys(np.array(reports, dtype=np.float64), np.array(used), people, keep)


def views(domain: Domain, k: int = 2) -> list[list[tuple[str, ...]]]:
    """The views of some attributes: combinations of k of them, no attribute twice in a view."""
    design = Views(domain, k, answer="all")
    return [[design.questions[index].attributes for index in ballot] for ballot in design.ballots]


@cache
def records(name: str) -> tuple[Network, NDArray[np.integer]]:
    """A network and many records of it."""
    source = network(name)
    return source, source.codes(_RECORDS, Seeded(1))


def binary_tables(name: str, k: int, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Shares of k-way tables of binary attributes, a row a table: all combinations in turn, or random ones."""
    source, codes = records(name)
    binary = [axis for axis, variable in enumerate(source.domain.values()) if len(variable) == 2]
    every = list(combinations(binary, k))
    chosen = [every[i] for i in rng.permutation(len(every))]
    tables = [tally(codes[:, list(axes)], (2,) * k).ravel() / len(codes) for axes in chosen[: min(count, len(every))]]
    return np.array([tables[i % len(tables)] for i in range(count)])
