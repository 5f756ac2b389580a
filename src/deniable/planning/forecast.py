"""`plan`: which design answers the questions best, at the same epsilon for every respondent.

Candidates are in a registry: a name and a function that makes the design for what is wanted (or None where it makes no
sense). For each, the standard errors that every wanted table would have are computed from the channels; nothing is
simulated. Tables of different size are compared by their error relative to the average cell.

Each design is judged with k-RR, and once more with the channel of least variance where that is another one (sets, for
questions with many possible answers).

Paired respondents (JRR) are a candidate too, at the same *claimed* epsilon. Their true one is larger, often infinite,
so they come after all others whatever their errors, and are never recommended.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.choice import Choice, best_channel
from deniable.designs.base import Design, Question
from deniable.designs.clusters import Clusters
from deniable.designs.independent import Independent
from deniable.designs.joint import Joint
from deniable.designs.paired.design import Paired
from deniable.designs.sampled import Sampled
from deniable.designs.views import Views
from deniable.device.statement import rounded_up
from deniable.domain import Domain
from deniable.errors import DesignError, InputError, NotCoveredError, UnknownAttributeError
from deniable.estimation.estimator import estimate
from deniable.estimation.fit.efficient import MOST_CELLS as EFFICIENT_CELLS
from deniable.estimation.fit.efficient import efficient_from
from deniable.frozen import Frozen
from deniable.planning.expected import expected_evidence, expected_observations
from deniable.planning.pairing import added_variance, best_pairs, told
from deniable.results import frame_of, panels
from deniable.summary import Shown, Summary, Written, number, share
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.domain import Category
    from deniable.estimation.estimate import Estimate
    from deniable.results import Frame
    from deniable.tables.table import Table

Tables = tuple[tuple[str, ...], ...]
_MOST_CELLS = 4096  # a joint question with more possible answers is not proposed
_MOST_BALLOTS = 20_000


@dataclass(frozen=True)
class Wanted:
    """What a plan is made for.

    Attributes:
        domain: all attributes.
        epsilon: what each respondent may spend in total.
        tables: the wanted tables.
        n: the number of respondents.
        truth: the assumed joint table; None for even shares.
        channel: the kind of channel that questions go through.
    """

    domain: Domain
    epsilon: float
    tables: Tables
    n: int
    truth: Table | None = None
    channel: Choice = "krr"

    @cached_property
    def asked(self) -> Domain:
        """The attributes that some table needs, in the domain's order: nobody is asked about others."""
        needed = {name for table in self.tables for name in table}
        return self.domain.project([name for name in self.domain if name in needed])


CANDIDATES: dict[str, Callable[[Wanted], Design | None]] = {}


def candidate(name: str) -> Callable[[Any], Any]:
    """Register a way to make a design: a function of what is wanted; None where it makes no sense."""

    def register(make: Any) -> Any:
        CANDIDATES[name] = make
        return make

    return register


@candidate("independent")
def _independent(wanted: Wanted) -> Design | None:
    return Independent(wanted.asked, wanted.epsilon, channel=wanted.channel)


@candidate("joint")
def _joint(wanted: Wanted) -> Design | None:
    asked = wanted.asked
    return (
        Joint(asked, wanted.epsilon, channel=wanted.channel) if len(asked) > 1 and asked.cells <= _MOST_CELLS else None
    )


@candidate("clusters")
def _clusters(wanted: Wanted) -> Design | None:
    """Attributes that share a table share a cluster."""
    asked = wanted.asked
    cluster = {name: [name] for name in asked}
    for table in wanted.tables:
        joined = list(dict.fromkeys(name for attribute in table for name in cluster[attribute]))
        cluster |= dict.fromkeys(joined, joined)
    parts = [list(names) for names in dict.fromkeys(tuple(cluster[name]) for name in asked)]
    sensible = 1 < len(parts) < len(asked) and all(asked.project(part).cells <= _MOST_CELLS for part in parts)
    return Clusters(asked, parts, wanted.epsilon, channel=wanted.channel) if sensible else None


@candidate("sampled")
def _sampled(wanted: Wanted) -> Design | None:
    return Sampled(wanted.asked, wanted.epsilon, channel=wanted.channel) if len(wanted.asked) > 1 else None


@candidate("tables")
def _one_table(wanted: Wanted) -> Design | None:
    """Each respondent answers one of the wanted tables, drawn by their device, with the whole budget."""
    parts = [wanted.asked.project(table) for table in dict.fromkeys(wanted.tables)]
    if len(parts) < 2 or all(len(part) == 1 for part in parts) or max(part.cells for part in parts) > _MOST_CELLS:
        return None  # one table is the joint design, single attributes are the sampled one
    questions = [Question(part.names, best_channel(part.cells, wanted.epsilon, wanted.channel)) for part in parts]
    return Design(wanted.asked, questions, [[index] for index in range(len(questions))])


def _views(wanted: Wanted, answer: Any) -> Design | None:
    asked, k = wanted.asked, max(len(table) for table in wanted.tables)
    if k < 2 or k >= len(asked):
        return None
    cells = sorted((len(variable) for variable in asked.values()), reverse=True)[:k]
    return (
        Views(asked, k, wanted.epsilon, answer=answer, channel=wanted.channel) if prod(cells) <= _MOST_CELLS else None
    )


@candidate("views, one answer")
def _views_one(wanted: Wanted) -> Design | None:
    return _views(wanted, "one")


@candidate("views, all answers")
def _views_all(wanted: Wanted) -> Design | None:
    return _views(wanted, "all")


@candidate("paired")
def _paired(wanted: Wanted) -> Design | None:
    """Coins shared by pairs of respondents; only for tables of one attribute."""
    if all(len(table) > 1 for table in wanted.tables):
        return None
    return best_pairs(wanted.asked, wanted.epsilon, wanted.n, wanted.truth)


@dataclass(frozen=True, eq=False)
class Candidate(Frozen):
    """A design and what it would achieve.

    Attributes:
        name: its name in the registry.
        design: the design itself.
        std_error: root mean square of the cells' standard errors, a table each; NaN where it does not cover the table.
        reports: how many respondents answer about the table, a table each.
        cost: how many times as many respondents it needs as direct questions to everybody, a table each.
        gain: for paired respondents, the variance over that of the same coins unpaired, a table each; else 1.
    """

    name: str
    design: Design
    std_error: tuple[float, ...]
    reports: tuple[float, ...]
    cost: tuple[float, ...]
    gain: tuple[float, ...]

    @property
    def is_paired(self) -> bool:
        """Whether its epsilon is only a claimed one: such a design is shown, but never recommended."""
        return self.design.pairs_reports

    @property
    def covers_all(self) -> bool:
        """Whether every wanted table can be estimated."""
        return not np.isnan(self.std_error).any()


@dataclass(frozen=True, eq=False, repr=False)
class Forecast(Shown, Frozen):
    """Candidates side by side.

    Attributes:
        tables: the wanted tables.
        candidates: best first; then those that do not cover every table; paired respondents last.
        n: the number of respondents.
        epsilon: what each of them spends at most.
    """

    domain: Domain
    tables: Tables
    candidates: tuple[Candidate, ...]
    n: int
    epsilon: float
    truth: Table | None = None

    @property
    def recommended(self) -> Design:
        """The design with the smallest error."""
        return self.candidates[0].design

    def error(self, one: Candidate) -> float:
        """A candidate's error relative to the average cell, root mean square over the tables it covers."""
        relative = [e * self.domain.project(t).cells for e, t in zip(one.std_error, self.tables, strict=True)]
        return float(np.sqrt(np.nanmean(np.square(relative)))) if not np.isnan(relative).all() else np.inf

    def summary(self) -> Summary:
        """The candidates, a row each: the true epsilon, and what to expect of every table."""
        columns: dict[str, list[Any]] = {
            "design": [c.name for c in self.candidates],
            "true epsilon": [_epsilon(c.design) for c in self.candidates],
        }
        for i, table in enumerate(self.tables):
            columns[" x ".join(table)] = [share(c.std_error[i], 2) for c in self.candidates]
        columns["relative"] = [_relative(self.error(c)) for c in self.candidates]
        return Summary(columns, self.notes())

    def notes(self) -> list[str]:
        """What the numbers mean and what follows, a sentence each."""
        best = self.candidates[0]
        meaning = (
            f"Expected standard errors (root mean square over a table's cells) with {self.n} respondents; relative: to "
            f"the average cell, over all tables. A dash: nobody would be asked these attributes together."
        )
        lines = [meaning, f"Recommended: {best.name}."]
        costs = [c for c in best.cost if not np.isnan(c)]
        if costs:
            few, many = f"{min(costs):.0f}", f"{max(costs):.0f}"
            lines.append(
                f"For the same errors, direct questions would need {few if few == many else f'{few} to {many}'} times "
                f"fewer respondents: that is what epsilon {self.epsilon:g} costs."
            )
        if not best.covers_all:
            lines.append("No candidate covers every table.")
        return [*lines, *(told(c.design, c.gain) for c in self.candidates if isinstance(c.design, Paired))]

    def to_frame(self) -> Frame:
        """Write the forecast as a data frame: a row a candidate and table."""
        rows = [(c, i) for c in self.candidates for i in range(len(self.tables))]
        return frame_of(
            {
                "design": [c.name for c, _ in rows],
                "epsilon": [float(c.design.epsilon) for c, _ in rows],
                "table": ["*".join(self.tables[i]) for _, i in rows],
                "std_error": [c.std_error[i] for c, i in rows],
                "reports": [c.reports[i] for c, i in rows],
                "cost": [c.cost[i] for c, i in rows],
            }
        )

    def __repr__(self) -> str:
        return f"<Forecast of {len(self.candidates)} designs for {self.n} respondents: {self.candidates[0].name}>"

    def at(self, epsilon: float | None = None, n: int | None = None) -> Forecast:
        """The same plan for another epsilon or another number of respondents."""
        return plan(
            self.domain,
            self.epsilon if epsilon is None else epsilon,
            self.tables,
            self.n if n is None else n,
            truth=self.truth,
        )

    def plot(self, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
        """Draw each candidate's relative error against the number of respondents and against its true epsilon."""
        axes = panels(axes, 2, size=(9, 4))
        sizes = self.n * np.logspace(-1, 1, 9)
        grid = self.epsilon * np.logspace(-0.6, 0.6, 7)
        by_epsilon: dict[str, list[tuple[float, float]]] = {}
        for epsilon in grid:
            forecast = self.at(epsilon=float(epsilon))
            for one in forecast.candidates:
                by_epsilon.setdefault(one.name, []).append((float(epsilon), forecast.error(one)))
        for one in self.candidates:
            if one.covers_all and not one.is_paired:
                # Variances are inverse to the number of respondents, so errors to its root.
                axes[0].loglog(sizes, self.error(one) * np.sqrt(self.n / sizes), label=one.name)
                axes[1].loglog(*np.array(by_epsilon[one.name]).T, label=one.name)
        axes[0].set_xlabel(f"respondents (epsilon {self.epsilon:g})")
        axes[1].set_xlabel(f"epsilon ({self.n} respondents)")
        axes[1].set_xticks(grid[::2], [f"{epsilon:.2g}" for epsilon in grid[::2]])
        axes[1].set_xticks([], minor=True)
        axes[0].set_ylabel("standard error / average cell")
        axes[1].legend(fontsize="small")
        return axes


def plan(
    domain: Domain | Mapping[str, Iterable[Category]],
    epsilon: float,
    tables: Sequence[str | Sequence[str]],
    n: int,
    *,
    truth: Table | None = None,
) -> Forecast:
    """Compare designs at the same epsilon a respondent, for the tables that are wanted.

    Args:
        domain: the attributes and their categories.
        epsilon: what each respondent may spend in total.
        tables: the tables wanted, each a list of attributes (or one attribute).
        n: the number of respondents.
        truth: an assumed joint table; even shares by default (and for attributes it does not hold).

    >>> wanted = [["a", "b"], ["b", "c"]]
    >>> forecast = plan({"a": [0, 1], "b": [0, 1], "c": [0, 1]}, 1.0, wanted, 10_000)
    >>> forecast.candidates[0].name
    'tables'
    """
    known = domain if isinstance(domain, Domain) else Domain(domain)
    several = [tables] if isinstance(tables, str) else tables
    asked: Tables = tuple((table,) if isinstance(table, str) else tuple(table) for table in several)
    if not asked or not all(asked):
        raise InputError('name the tables you want, such as tables=[["sex", "income"]]')
    if not epsilon > 0 or not isfinite(epsilon):
        raise InputError(f"epsilon must be positive and finite, not {epsilon!r}", epsilon=epsilon)
    if n != int(n) or n < 2:
        raise InputError(f"a forecast needs at least 2 respondents, and a whole number of them, not {n!r}", n=n)
    for table in asked:
        known.project(table)
    wanted = Wanted(known, epsilon, asked, int(n), truth)
    found = [_judge(name, design, wanted) for name, design in _designs(wanted)]
    if all(one.is_paired for one in found):
        raise DesignError(f"no registered design can be made for {listed(known)} at epsilon {epsilon:g}")
    forecast = Forecast(known, asked, tuple(found), wanted.n, epsilon, truth)
    ranked = sorted(found, key=lambda c: (c.is_paired, int(np.isnan(c.std_error).sum()), forecast.error(c)))
    return Forecast(known, asked, tuple(ranked), wanted.n, epsilon, truth)


def _designs(wanted: Wanted) -> Iterator[tuple[str, Design]]:
    """Every design that can be made, with k-RR and, where it is another one, with the channel of least variance."""
    for name, make in CANDIDATES.items():
        plain = _made(make, wanted)
        sharper = _made(make, replace(wanted, channel="least_variance"))
        if plain is not None:
            yield name, plain
        if sharper is not None and sharper != plain:
            yield f"{name}, least variance", sharper


def _made(make: Callable[[Wanted], Design | None], wanted: Wanted) -> Design | None:
    try:
        design = make(wanted)
    except DesignError:
        return None  # it cannot be made for this domain and epsilon; the others say what can
    return design if design is not None and len(design.ballots) <= _MOST_BALLOTS else None


def _judge(name: str, design: Design, wanted: Wanted) -> Candidate:
    errors, reports, costs, gains = [], [], [], []
    for table in wanted.tables:
        try:
            observations = expected_observations(design, wanted.truth, wanted.n, table)
        except (NotCoveredError, UnknownAttributeError):
            errors.append(np.nan)
            reports.append(0.0)
            costs.append(np.nan)
            gains.append(np.nan)
            continue
        found = estimate(observations, table, method="inversion")
        shares, plain = found.unbiased.values, float(_variances(found, design, wanted, table).mean())
        added = added_variance(design, table[0], shares, wanted.n) if isinstance(design, Paired) else np.zeros(1)
        variance = plain + float(added.mean())
        errors.append(float(np.sqrt(variance)))
        reports.append(float(found.n))
        costs.append(variance / float((shares * (1 - shares)).mean() / wanted.n))
        gains.append(variance / plain)
    return Candidate(name, design, tuple(errors), tuple(reports), tuple(costs), tuple(gains))


def _epsilon(design: Design) -> Written:
    """A promise, which is never rounded down."""
    return Written(design.epsilon, rounded_up(design.epsilon))


def _relative(error: float) -> Written:
    return Written(error, f"{error:.2f}" if np.isfinite(error) else number(error))


def _variances(found: Estimate, design: Design, wanted: Wanted, table: tuple[str, ...]) -> NDArray[np.float64]:
    """The cells' variances that `estimate` would state: those of the efficient estimate, where it makes one."""
    if design.pairs_reports:
        return found.dispersion.variances
    evidence, truth = expected_evidence(design, wanted.truth, wanted.n, table)
    if evidence.cells > EFFICIENT_CELLS:
        return found.dispersion.variances
    pooled = efficient_from(evidence, truth.values)
    return pooled.variances if pooled.determined else found.dispersion.variances
