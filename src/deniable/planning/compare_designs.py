"""`compare`: the same simulated people through several designs and estimators, and how far each comes from the truth.

A plan computes what to expect of designs from their channels. Here it is tried: in every repeat people are drawn from
the population, each design disguises these same people as it would disguise any table, and each method estimates the
wanted tables from the reports. Beside them stands what the people themselves would have said undisguised.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from deniable.aims.default_aims import shares_and_pairs
from deniable.core.data_frames import as_frame
from deniable.core.randomness import SECURE, Seeded
from deniable.core.results import frame_of, panels
from deniable.core.summary import Shown, Summary, Written
from deniable.core.table import Table, as_population
from deniable.errors import DeniableError, InputError
from deniable.estimation.estimator import estimate
from deniable.frozen import Frozen
from deniable.text import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.core.data_frames import People
    from deniable.core.distance import Distance
    from deniable.core.domain import Domain
    from deniable.core.randomness import Source
    from deniable.core.results import Frame
    from deniable.designs.design import Design
    from deniable.designs.reports.reports import Reports
    from deniable.estimation.choose_method import Method

    _Key: TypeAlias = tuple[str, str, tuple[str, ...]]  # a design, a method, a table

UNDISGUISED = "undisguised"
_MOST_COLUMNS = 4  # of tables, before they are averaged by their number of attributes


@dataclass(frozen=True)
class Compared(Frozen):
    """One design with one method, for one wanted table.

    Attributes:
        design: its name; "undisguised" for what the people said themselves.
        method: how it was estimated.
        epsilon: what a respondent's whole report tells at most, truly; infinite undisguised.
        claimed_epsilon: what a publication claims of such a design, where that is another number.
        table: the attributes.
        distance: from the population's table, the mean over repeats; NaN where the design does not tell the table.
        std_error: of that mean, from the repeats.
        reason: why it is not told, in words.
    """

    design: str
    method: str
    epsilon: float
    claimed_epsilon: float
    table: tuple[str, ...]
    distance: float
    std_error: float
    reason: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown, Frozen):
    """Designs and methods side by side, on the same people.

    Attributes:
        rows: one a design, method and wanted table.
        kind: the distance, as `Table.distance` names it.
        n: how many people were drawn in each repeat.
        repeats: how many times.
    """

    rows: tuple[Compared, ...]
    kind: Distance
    n: int
    repeats: int

    @property
    def tables(self) -> tuple[tuple[str, ...], ...]:
        """The wanted tables."""
        return tuple(dict.fromkeys(row.table for row in self.rows))

    def _by_design(self) -> dict[tuple[str, str], list[Compared]]:
        found: dict[tuple[str, str], list[Compared]] = {}
        for row in self.rows:
            found.setdefault((row.design, row.method), []).append(row)
        return found

    def summary(self) -> Summary:
        """A row a design and method, a column a wanted table: the mean distance and its simulation error."""
        lines = self._by_design()
        first = [rows[0] for rows in lines.values()]
        columns: dict[str, list[Any]] = {
            "design": [design for design, _ in lines],
            "method": [method for _, method in lines],
            "true epsilon": [_told(row, row.epsilon) for row in first],
        }
        if any(row.claimed_epsilon != row.epsilon for row in first):
            columns["claimed"] = [_told(row, row.claimed_epsilon) for row in first]
        if len(self.tables) <= _MOST_COLUMNS:
            for place, table in enumerate(self.tables):
                columns[" x ".join(table)] = [_written(rows[place]) for rows in lines.values()]
        else:
            for size in sorted({len(table) for table in self.tables}):
                alike = [[row.distance for row in rows if len(row.table) == size] for rows in lines.values()]
                columns[counted(size, "attribute")] = [float(np.mean(each)) for each in alike]
        shown = (
            "+- the simulation's own standard error."
            if len(self.tables) <= _MOST_COLUMNS
            else "each column over all tables of so many attributes; to_frame(), or --json, has each."
        )
        meaning = (
            f"Distances ({self.kind}) from the population's tables: means over {self.repeats} draws of {self.n} "
            f"simulated people, the same ones for every design, {shown}"
        )
        reasons = dict.fromkeys(f"{row.design}: {row.reason}" for row in self.rows if row.reason)
        return Summary(columns, [meaning, *reasons])

    def to_frame(self) -> Frame:
        """A row a design, method and wanted table."""
        names = ("design", "method", "epsilon", "claimed_epsilon", "distance", "std_error")
        columns = {name: [getattr(row, name) for row in self.rows] for name in names}
        return frame_of({"table": ["*".join(row.table) for row in self.rows], **columns})

    def __repr__(self) -> str:
        return f"<Comparison of {len(self._by_design())} designs and methods: {self.repeats} x {self.n} people>"

    def plot(self, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
        """Draw the distances, a panel a wanted table and a row a design and method."""
        lines = self._by_design()
        drawn = panels(axes, len(self.tables), size=(3.2 * len(self.tables) + 2, 1.2 + 0.35 * len(lines)))
        for place, (one, table) in enumerate(zip(drawn, self.tables, strict=True)):
            rows = [each[place] for each in lines.values()]
            one.errorbar(
                [row.distance for row in rows], range(len(rows)), xerr=[row.std_error for row in rows], fmt="o"
            )
            one.set_yticks(range(len(rows)), [f"{design}, {method}" for design, method in lines], parse_math=False)
            one.set_xlim(left=0)
            one.set_xlabel(f"{' x '.join(table)}: {self.kind} from the truth", parse_math=False)
        drawn[0].invert_yaxis()
        return drawn


def _told(row: Compared, epsilon: float) -> float:
    """An epsilon; none where nothing was disguised."""
    return np.nan if row.design == UNDISGUISED else epsilon


def _written(row: Compared) -> Written:
    return Written(row.distance, "-" if np.isnan(row.distance) else f"{row.distance:.4f} +- {row.std_error:.4f}")


def compare(
    truth: Table | People,
    designs: Mapping[str, Design] | Iterable[Design],
    wanted: Sequence[str | Sequence[str]] | None = None,
    *,
    n: int,
    repeats: int = 20,
    methods: Sequence[Method] = ("auto",),
    distance: Distance = "tv",
    source: Source = SECURE,
) -> Comparison:
    """Disguise the same simulated people by several designs, and compare what is estimated with the truth.

    Args:
        truth: the population: a table over all attributes, or a data frame of people, from which rows are drawn.
        designs: the designs by name, or just the designs, which are then called what their classes are.
        wanted: the tables, each a list of attributes (or one attribute); by default every share and every pair.
        n: how many people are drawn in each repeat.
        repeats: how often people are drawn and disguised.
        methods: how tables are estimated, as `estimate` names it.
        distance: how far apart tables are, as `Table.distance` names it; of shares.
        source: give `dn.Seeded(7)` to draw the same again.

    >>> from deniable import Independent, Joint, Seeded, Table
    >>> truth = Table({"a": ["no", "yes"], "b": ["no", "yes"]}, [[0.5, 0.1], [0.1, 0.3]])
    >>> designs = [Joint(truth.domain, 1.0), Independent(truth.domain, 1.0)]
    >>> found = compare(truth, designs, [["a", "b"]], n=2000, repeats=5, source=Seeded(1))
    >>> [row.design for row in sorted(found.rows, key=lambda row: row.distance)]
    ['undisguised', 'Joint', 'Independent']
    """
    by_name = _named(designs)
    domain = next(iter(by_name.values())).domain
    if any(set(design.domain) != set(domain) for design in by_name.values()):
        raise InputError("the designs are of different attributes; compare those that ask the same people the same")
    if n < 2 or repeats < 2:
        raise InputError(f"at least 2 people and 2 repeats show anything, not {n} and {repeats}", n=n, repeats=repeats)
    tables = _tables(wanted, domain)
    people = _People(truth, domain)
    shares = {table: people.shares(table) for table in tables}
    seeds = source.stream().generator()
    measured: dict[_Key, list[float]] = {}
    reasons: dict[_Key, str] = {}
    for _ in range(repeats):
        drawn = people.draw(n, seeds)
        for table in tables:
            said = Table.count(drawn, domain.project(table)).normalize()
            measured.setdefault((UNDISGUISED, "counted", table), []).append(said.distance(shares[table], distance))
        for name, design in by_name.items():
            reports = design.randomize(drawn, source=Seeded(int(seeds.integers(2**63))))
            for method, table in product(methods, tables):
                apart, reason = _distance(reports, method, shares[table], distance)
                if reason:
                    reasons.setdefault((name, method, table), reason)
                measured.setdefault((name, method, table), []).append(apart)
        if len(reasons) == len(by_name) * len(methods) * len(tables):
            raise InputError(f"no design tells any of the tables. The first says: {next(iter(reasons.values()))}")
    told = {UNDISGUISED: (np.inf, np.inf)} | {
        name: (float(design.epsilon), float(getattr(design, "claimed_epsilon", design.epsilon)))
        for name, design in by_name.items()
    }
    rows = [
        Compared(
            *(name, method, *told[name], table),
            float(np.mean(each)),
            float(np.std(each, ddof=1) / len(each) ** 0.5),
            reasons.get((name, method, table), ""),
        )
        for (name, method, table), each in measured.items()
    ]
    return Comparison(tuple(rows), distance, n, repeats)


def _distance(reports: Reports, method: Method, truth: Table, kind: Distance) -> tuple[float, str]:
    """How far the estimated shares are from the truth, or why that cannot be said."""
    try:
        return estimate(reports, truth.attributes, method=method).table.normalize().distance(truth, kind), ""
    except DeniableError as error:
        return np.nan, str(error)


def _named(designs: Mapping[str, Design] | Iterable[Design]) -> dict[str, Design]:
    """The designs by name; of a class that is there twice, numbered."""
    if hasattr(designs, "items"):
        found = dict(designs.items())
    else:
        found = {}
        for design in designs:
            called = type(design).__name__
            again = sum(type(other) is type(design) for other in found.values())
            found[f"{called} {again + 1}" if again else called] = design
    if not found or not all(hasattr(design, "randomize") and hasattr(design, "domain") for design in found.values()):
        raise InputError("compare takes designs, such as [dn.Joint(domain, 1.0), dn.Views(domain, k=2, epsilon=1.0)]")
    return found


def _tables(wanted: Sequence[str | Sequence[str]] | None, domain: Domain) -> list[tuple[str, ...]]:
    if wanted is None:
        return [one.attributes for one in shares_and_pairs(domain)]
    found = [
        (one,) if isinstance(one, str) else tuple(one) for one in ([wanted] if isinstance(wanted, str) else wanted)
    ]
    if not found or not all(found):
        raise InputError('name the tables you want, such as [["sex", "income"], "income"]')
    for table in found:
        domain.project(table)
    return found


class _People:
    """A population from which people are drawn: cells of a table, or rows of a frame."""

    def __init__(self, truth: Table | People, domain: Domain) -> None:
        self._domain = domain
        if isinstance(truth, Table):
            missing = [name for name in domain if name not in truth.domain]
            if missing:
                raise InputError(f"the truth says nothing of {listed(missing)}, which the designs ask about")
            shares = as_population(truth, domain).project(domain.names)
            self._codes: NDArray[Any] = np.stack(np.unravel_index(np.arange(shares.values.size), shares.shape), axis=1)
            self._chances = shares.values.ravel()
        else:
            self._codes = domain.encode(as_frame(truth, domain.names))
            self._chances = np.full(len(self._codes), 1 / len(self._codes))

    def draw(self, n: int, rng: np.random.Generator) -> pa.Table:
        """So many people, with replacement, as a data frame."""
        return pa.table(self._domain.decode(self._codes[rng.choice(len(self._codes), size=n, p=self._chances)]))

    def shares(self, attributes: Sequence[str]) -> Table:
        """What is true of the population."""
        part = self._domain.project(attributes)
        cells = np.ravel_multi_index(self._codes[:, self._domain.axes(attributes)].T, part.shape)
        return Table(part, np.bincount(cells, self._chances, part.cells)).normalize()
