"""Tables that nobody was asked about: three-way tables out of pairs, engine beside engine, on Survey and Alarm.

Survey: all 20 triples. Alarm: the triples of an attribute and two of its parents, where dependence is strong. Distances
are total variation from the table of the very records that were disguised, averaged over the triples.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.benchmark import Claim, Measurement
from deniable import Reports, Seeded, Table, Views, estimate, synthesize
from deniable.datasets import Network, network
from deniable.errors import MissingExtraError
from deniable.estimation.joint_tables.graphical_model import fit_graphical
from deniable.estimation.joint_tables.uncovered_tables import ENGINES, product_is_nearer
from deniable.likelihood.gather import tabulated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from deniable.estimation.joint_tables.uncovered_tables import Engine
    from deniable.likelihood.evidence import Evidence

Triple = tuple[str, ...]
ENGINES_SHOWN = ("product", "qp", "l1", "ipf", "loglinear")
CASES = (("survey", 120_000, 1.0), ("alarm", 80_000, 1.0), ("alarm", 80_000, 4.0))


def counted(codes: NDArray[np.integer], source: Network, attributes: Sequence[str]) -> Table:
    """The records' own table."""
    part = source.domain.project(attributes)
    cells = np.ravel_multi_index(
        tuple(codes[:, axis].astype(np.int64) for axis in source.domain.axes(attributes)), part.shape
    )
    return Table(part, np.bincount(cells, minlength=part.cells).reshape(part.shape)).normalize()


def distance(table: Table, truth: Table) -> float:
    """Total variation: half the sum of absolute differences."""
    return float(np.abs((table - truth).values).sum() / 2)


def families(source: Network) -> list[Triple]:
    """Each attribute with two of its parents."""
    return [(name, *pair) for name in source.domain for pair in combinations(source.parents[name], 2)]


@dataclass(eq=False)
class Case:
    """A network, so many respondents who each answered one random pair, and what is measured about their triples."""

    name: str
    n: int
    epsilon: float
    rows: list[tuple[object, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.network = network(self.name)
        domain = self.network.domain
        self.triples = list(combinations(domain.names, 3)) if self.name == "survey" else families(self.network)
        self.codes = self.network.codes(self.n, Seeded(1))
        design = Views(domain, k=2, epsilon=self.epsilon)
        self.reports = Reports.of_codes(design, *design.randomize_codes(self.codes, source=Seeded(2)))
        self.truths = [counted(self.codes, self.network, triple) for triple in self.triples]

    def add(self, engine: str, run: Callable[[], Sequence[Table]]) -> None:
        """Run an engine on all triples; one that is not installed leaves a note."""
        start = process_time()
        try:
            tables = run()
        except MissingExtraError as error:
            self.notes.append(f"{engine}: {error}")
            return
        seconds = (process_time() - start) / len(tables)
        apart = float(np.mean([distance(t, truth) for t, truth in zip(tables, self.truths, strict=True)]))
        self.rows.append((self.name, self.n, self.epsilon, engine, len(tables), apart, seconds))

    def measure(self) -> None:
        """Every engine, and how often the result itself says that the product is likely nearer."""
        told = [tabulated(self.reports, triple) for triple in self.triples]
        for engine in ENGINES_SHOWN:
            self.add(engine, partial(_each, ENGINES[engine], told))
        self.add("graphical", self._graphical)
        warned = sum(map(product_is_nearer, told))
        nearer = f"{warned} of {len(told)} results say that the product is likely nearer"
        self.notes.append(f"{self.name}, epsilon {self.epsilon:g}: {nearer}.")

    def _graphical(self) -> list[Table]:
        model = fit_graphical(tabulated(self.reports, self.network.domain.names))
        return [model.table(triple) for triple in self.triples]

    def claim(self) -> Claim:
        """How long `estimate` takes, counting and warning included."""
        each = []
        for triple in self.triples:
            start = process_time()
            estimate(self.reports, triple)
            each.append(process_time() - start)
        if self.name == "survey":
            return Claim("survey: all three-way tables", sum(each), 5, "s", at_most=True)
        what = f"{self.name}, epsilon {self.epsilon:g}: slowest three-way table"
        return Claim(what, max(each), 0.3, "s", at_most=True)

    def quality(self) -> str:
        """How near the pairs of synthetic records are to those of the real ones, and to their own estimates."""
        domain = self.network.domain
        made = domain.encode(synthesize(self.reports, len(self.codes), source=Seeded(3)))
        pairs = list(combinations(domain.names, 2))
        synthetic = [counted(made, self.network, pair) for pair in pairs]
        real = [distance(t, counted(self.codes, self.network, p)) for t, p in zip(synthetic, pairs, strict=True)]
        own = [
            distance(t, estimate(self.reports, p, method="mle").table) for t, p in zip(synthetic, pairs, strict=True)
        ]
        return (
            f"Synthetic records of {self.name}, total variation a pair: {np.mean(real):.4f} on average and "
            f"{max(real):.4f} at most from the real records, {np.mean(own):.4f} and {max(own):.4f} from each pair's "
            f"own estimate."
        )


def _each(engine: Engine, told: Sequence[Evidence]) -> list[Table]:
    return [engine(one)[0] for one in told]


def measure(cases: Sequence[tuple[str, int, float]] = CASES) -> Measurement:
    """Run every engine on (network, respondents, epsilon)."""
    names = ("network", "respondents", "epsilon", "engine", "triples", "distance", "CPU s a triple")
    rows: list[tuple[object, ...]] = []
    claims, notes = [], []
    for name, n, epsilon in cases:
        case = Case(name, n, epsilon)
        case.measure()
        rows += case.rows
        claims.append(case.claim())
        notes += case.notes + ([case.quality()] if name == "survey" else [])
    columns = {column: [row[i] for row in rows] for i, column in enumerate(names)}
    return Measurement("Three-way tables out of pairs", columns, claims, list(dict.fromkeys(notes)))


def main() -> int:
    """Measure and print; 0 when the claims are met."""
    return measure().show()


if __name__ == "__main__":
    sys.exit(main())
