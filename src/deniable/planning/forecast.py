"""`plan`: which design answers the questions best, at the same epsilon for every respondent.

Candidates are in a registry (`candidates`). For each, the standard errors that the wanted numbers would have are
computed from the channels; nothing is simulated. Designs are compared by the summed variance of all wanted numbers,
each times its weight: that is what the floor bounds, so that it can be said how far each is from the best any design
could do.

Each design is judged with k-RR, and once more with the channel of least variance where that is another one (sets or
block designs, for questions with many possible answers). Of channels whose variances are alike, the one is taken whose
reports are counted and estimated with the least work at the planned number of respondents.

Paired respondents (JRR) are a candidate too, where they can be served: at the same true epsilon, which is larger than
the one their theorem claims. Their reports depend on each other, so the floor does not hold for them; they come after
all others whatever their errors, and are never recommended.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.choice import planned_for
from deniable.designs.optimal import best_floor, floor_at
from deniable.device.epsilon import require_number
from deniable.device.statement import rounded_up
from deniable.domain import Domain
from deniable.errors import DesignError, InputError, NotCoveredError, UnknownAttributeError
from deniable.estimation.estimator import estimate
from deniable.estimation.fit.efficient import MOST_CELLS as EFFICIENT_CELLS
from deniable.frozen import Frozen
from deniable.keywords import answering
from deniable.optimal.guess import Guess
from deniable.optimal.language import gathered
from deniable.optimal.wanted import Wanted
from deniable.planning.candidates import CANDIDATES, candidate
from deniable.planning.candidates.purpose import Purpose
from deniable.planning.expected import expected_evidence, expected_observations, expected_variances
from deniable.results import frame_of, panels
from deniable.summary import Shown, Summary, Written, number, share
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes

    from deniable.designs.base import Design
    from deniable.designs.observation import Observation
    from deniable.domain import Category
    from deniable.optimal.floor import Floor
    from deniable.optimal.guess import Truth
    from deniable.results import Frame

__all__ = ["CANDIDATES", "Candidate", "Forecast", "candidate", "plan"]

_MOST_BALLOTS = 20_000


@dataclass(frozen=True, eq=False)
class Candidate(Frozen):
    """A design and what it would achieve.

    Attributes:
        name: its name in the registry.
        design: the design itself.
        std_error: root mean square of the numbers' standard errors, one for each wanted item (every cell of a table
            is such a number; a mean's scores have range 1); NaN where nobody would tell it.
        reports: how many respondents answer about all of the item's attributes.
        cost: how many times as many respondents it needs as direct questions to everybody, an item each.
        gain: for paired respondents, the variance over that of the same coins unpaired, an item each; else 1.
        loss: n times the summed variance of all wanted numbers, each times its weight; NaN where some are not told.
    """

    name: str
    design: Design
    std_error: tuple[float, ...]
    reports: tuple[float, ...]
    cost: tuple[float, ...]
    gain: tuple[float, ...]
    loss: float

    @property
    def is_paired(self) -> bool:
        """Whether its reports depend on each other, two by two: such a design is shown, but never recommended."""
        return self.design.pairs_reports

    @property
    def covers_all(self) -> bool:
        """Whether everything that is wanted can be estimated."""
        return not np.isnan(self.std_error).any()


@dataclass(frozen=True, eq=False, repr=False)
class Forecast(Shown, Frozen):
    """Candidates side by side.

    Attributes:
        wanted: what the survey is made for.
        candidates: best first; then those that do not tell everything; paired respondents last.
        n: the number of respondents.
        epsilon: what each of them spends at most.
    """

    domain: Domain
    wanted: tuple[Wanted, ...]
    candidates: tuple[Candidate, ...]
    n: int
    epsilon: float
    truth: Guess | None = None

    @property
    def tables(self) -> tuple[tuple[str, ...], ...]:
        """The attributes of each wanted item."""
        return tuple(one.attributes for one in self.wanted)

    @property
    def names(self) -> tuple[str, ...]:
        """The wanted items, as they are written in headings."""
        return tuple(str(one).replace(" * ", " x ") for one in self.wanted)

    @property
    def recommended(self) -> Design:
        """The design with the smallest summed variance."""
        return self.candidates[0].design

    def error(self, one: Candidate) -> float:
        """A candidate's standard error, root mean square over all wanted numbers that it tells, weights counted."""
        counts = [len(item.rows(self.domain)) for item in self.wanted]
        parts = [
            (m * item.weight, m * item.weight * e**2)
            for m, item, e in zip(counts, self.wanted, one.std_error, strict=True)
        ]
        told = [part for part in parts if not np.isnan(part[1])]
        return float(np.sqrt(sum(v for _, v in told) / sum(m for m, _ in told))) if told else np.inf

    @cached_property
    def floor(self) -> Floor | None:
        """What no design at this epsilon goes below; None where that cannot be computed."""
        try:
            if self.truth is None:
                return best_floor(self.domain, self.wanted, self.epsilon)
            return floor_at(self.domain, self.wanted, self.epsilon, self.truth)
        except InputError:
            return None  # too many cells for a floor at a guess

    def times(self, one: Candidate) -> float:
        """How many times as many respondents a candidate needs as the best possible design, at most; NaN if unknown."""
        known = self.floor is not None and not one.is_paired
        return self.floor.times(one.loss) if known and self.floor is not None else np.nan

    def summary(self) -> Summary:
        """The candidates, a row each: the true epsilon, and what to expect of every table."""
        columns: dict[str, list[Any]] = {
            "design": [c.name for c in self.candidates],
            "true epsilon": [_epsilon(c.design) for c in self.candidates],
        }
        for i, name in enumerate(self.names):
            columns[name] = [share(c.std_error[i], 2) for c in self.candidates]
        columns["times the best"] = [_times(self.times(c)) for c in self.candidates]
        return Summary(columns, self.notes())

    def notes(self) -> list[str]:
        """What the numbers mean and what follows, a sentence each."""
        best = self.candidates[0]
        meaning = (
            f"Expected standard errors (root mean square over a table's cells) with {self.n} respondents; times the "
            f"best: how many times as many respondents as the best possible design a design needs, at most. A dash: "
            f"nobody would tell it{self._uncompared()}."
        )
        lines = [meaning, f"Recommended: {best.name}{self._reason()}."]
        if self.floor is not None and best.covers_all and not best.is_paired:
            lines.append(f"It {self.floor.distance(best.loss)}.")
        costs = [c for c in best.cost if not np.isnan(c)]
        if costs:
            few, many = f"{min(costs):.0f}", f"{max(costs):.0f}"
            lines.append(
                f"For the same errors, direct questions would need {few if few == many else f'{few} to {many}'} times "
                f"fewer respondents: that is what epsilon {self.epsilon:g} costs."
            )
        if not best.covers_all:
            lines.append("No candidate tells everything that is wanted.")
        return [*lines, *(note for c in self.candidates for note in c.design.planning_notes(c.gain))]

    def _uncompared(self) -> str:
        """What else a dash means where times the best are told: that there is nothing to compare with."""
        if self.floor is None:
            return ", or, under times the best, that the best is not known"
        if any(one.is_paired and one.covers_all for one in self.candidates):
            return "; pairs are not compared with the best, which is that of reports that do not depend on each other"
        return ""

    def _reason(self) -> str:
        """Why the recommended design is the best, in plain words, where it is the optimal one."""
        best, *others = self.candidates
        if not best.design.is_chosen:
            return ""
        next_best = next((one for one in others if one.covers_all and not one.is_paired), None)
        why = ", which asks everybody one question, those that tell most of what you want most often"
        if next_best is None:
            return why
        spared = 1 - best.loss / next_best.loss
        return f"{why}; for the same errors the next best ({next_best.name}) needs {1 / (1 - spared):.2f} times as many"

    def to_frame(self) -> Frame:
        """Write the forecast as a data frame: a row a candidate and wanted item."""
        rows = [(c, i) for c in self.candidates for i in range(len(self.tables))]
        return frame_of(
            {
                "design": [c.name for c, _ in rows],
                "epsilon": [float(c.design.epsilon) for c, _ in rows],
                "table": [str(self.wanted[i]).replace(" * ", "*") for _, i in rows],
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
            self.wanted,
            self.n if n is None else n,
            truth=self.truth,
        )

    def plot(self, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
        """Draw each candidate's standard error against the number of respondents and against its true epsilon."""
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
        axes[0].set_ylabel("standard error")
        axes[1].legend(fontsize="small")
        return axes


@answering
def plan(
    domain: Domain | Mapping[str, Iterable[Category]],
    epsilon: float,
    tables: Wanted | str | Sequence[Wanted | str | Sequence[str]] | None = None,
    n: int | None = None,
    *,
    truth: Truth | None = None,
    also: Mapping[str, Design] | None = None,
) -> Forecast:
    """Compare designs at the same epsilon a respondent, for what is wanted.

    Args:
        domain: the attributes and their categories.
        epsilon: what each respondent may spend in total.
        tables: what is wanted: tables, each a list of attributes (or one attribute); and any other numbers, as `Wanted`
            or as texts such as "mean(age)" (`deniable.optimal.language`); every attribute by itself by default.
        n: the number of respondents.
        truth: a guess: a table, shares by attribute, or a list of these, over which variances are averaged (`Guess`);
            even shares by default, and for attributes it does not hold.
        also: designs of your own to be judged beside them, by name.

    >>> wanted = [["a", "b"], ["b", "c"]]
    >>> forecast = plan({"a": [0, 1], "b": [0, 1], "c": [0, 1]}, 1.0, wanted, 10_000)
    >>> {candidate.name for candidate in forecast.candidates[:2]} == {"tables", "optimal"}  # they need as many
    True
    """
    known = domain if isinstance(domain, Domain) else Domain(domain)
    if n is None:
        raise InputError("say how many respondents there will be: plan(domain, epsilon, n=2000)")
    if tables is None:
        tables = list(known)
    if not tables or not (isinstance(tables, str | Wanted) or all(tables)):
        raise InputError('name the tables you want, such as tables=[["sex", "income"]]')
    asked = gathered(tables)
    require_number(epsilon)
    if not epsilon > 0 or not isfinite(epsilon):
        raise InputError(f"epsilon must be positive and finite, not {epsilon!r}", epsilon=epsilon)
    if n != int(n) or n < 2:
        raise InputError(f"a forecast needs at least 2 respondents, and a whole number of them, not {n!r}", n=n)
    for one in asked:
        one.rows(known)
    guess = None if truth is None else Guess.of(known, truth)
    purpose = Purpose(known, epsilon, asked, int(n), guess, None if guess is None else guess.populations[0])
    found = [_judge(name, design, purpose) for name, design in (*_designs(purpose), *(also or {}).items())]
    if all(one.is_paired for one in found):
        raise DesignError(f"no registered design can be made for {listed(known)} at epsilon {epsilon:g}")
    forecast = Forecast(known, asked, tuple(found), purpose.n, epsilon, guess)
    ranked = sorted(found, key=lambda c: (c.is_paired, int(np.isnan(c.std_error).sum()), forecast.error(c)))
    return Forecast(known, asked, tuple(ranked), purpose.n, epsilon, guess)


def _designs(purpose: Purpose) -> Iterator[tuple[str, Design]]:
    """Every design that can be made, with k-RR and, where it is another one, with the channel of least variance."""
    seen: list[object] = []
    for name, make in CANDIDATES.items():
        plain = _made(make, purpose)
        sharper = _made(make, replace(purpose, channel=planned_for(purpose.n)))
        found = [(name, plain), (f"{name}, least variance", None if sharper == plain else sharper)]
        for title, design in found:
            if design is None:
                continue
            asked = (design.questions, design.ballots, design.weights)
            if not design.is_chosen or asked not in seen:  # where another is the best, it is called that
                seen.append(asked)
                yield title, design


def _made(make: Callable[[Purpose], Design | None], purpose: Purpose) -> Design | None:
    try:
        design = make(purpose)
    except DesignError:
        return None  # it cannot be made for this domain and epsilon; the others say what can
    return design if design is not None and len(design.ballots) <= _MOST_BALLOTS else None


def _judge(name: str, design: Design, purpose: Purpose) -> Candidate:
    parts = [_averaged(design, purpose, one) for one in purpose.wanted]
    errors, reports, costs, gains, losses = zip(*parts, strict=True)
    return Candidate(name, design, errors, reports, costs, gains, float(np.sum(losses)))


def _averaged(design: Design, purpose: Purpose, one: Wanted) -> tuple[float, float, float, float, float]:
    """One wanted item over all populations of the guess, each with its weight: variances, costs and losses."""
    if purpose.guess is None:
        return _judged(design, purpose, one)
    each = [_judged(design, replace(purpose, truth=population), one) for population in purpose.guess.populations]
    error, reports, cost, gain, loss = (
        float(np.average(column, weights=purpose.guess.weights)) for column in zip(*_squared(each), strict=True)
    )
    return float(np.sqrt(error)), reports, cost, gain, loss


def _squared(rows: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """With variances in the place of errors."""
    return [(error**2, *rest) for error, *rest in rows]


def _judged(design: Design, purpose: Purpose, one: Wanted) -> tuple[float, float, float, float, float]:
    """The error, reports, cost and gain of one wanted item, and its part of the loss."""
    nothing = (np.nan, 0.0, np.nan, np.nan, np.nan)
    names = one.attributes
    try:
        observations = expected_observations(design, purpose.truth, purpose.n, names)
    except (NotCoveredError, UnknownAttributeError):
        return nothing
    if design.pairs_reports:
        return _paired(design, purpose, one, observations) if one.kind == "table" and len(names) == 1 else nothing
    evidence, truth = expected_evidence(design, purpose.truth, purpose.n, names)
    shares = truth.project(names).values.ravel()
    rows = one.rows(design.domain, shares) / np.sqrt(one.weight)
    if evidence.cells <= EFFICIENT_CELLS:
        variances = expected_variances(evidence, truth.values, rows)
    elif one.kind == "table":
        # Too many cells to be pooled: those of the reports that cover the table.
        variances = estimate(observations, names, method="inversion").dispersion.variances
    else:
        variances = None
    if variances is None:
        return nothing
    centred = rows - (rows @ shares)[:, None]
    direct = float((centred**2 @ shares).mean()) / purpose.n
    mean = float(np.mean(variances))
    loss = purpose.n * one.weight * float(np.sum(variances))
    return float(np.sqrt(mean)), float(sum(o.n for o in observations)), mean / direct, 1.0, loss


def _paired(
    design: Design, purpose: Purpose, one: Wanted, observations: Sequence[Observation]
) -> tuple[float, float, float, float, float]:
    """The same where coins are shared: the variance gains what pairing adds, and there is no floor."""
    found = estimate(observations, one.attributes, method="inversion")
    shares, plain = found.unbiased.values, float(found.dispersion.variances.mean())
    variance = plain + float(design.added_variance(one.attributes[0], shares, purpose.n).mean())
    direct = float((shares * (1 - shares)).mean() / purpose.n)
    return float(np.sqrt(variance)), float(found.n), variance / direct, variance / plain, np.nan


def _epsilon(design: Design) -> Written:
    """A promise, which is never rounded down."""
    return Written(design.epsilon, rounded_up(design.epsilon))


def _times(times: float) -> Written:
    """Rounded up: nothing is called nearer to the best than it is."""
    return Written(times, f"{ceil(times * 100 - 1e-6) / 100:.2f}" if np.isfinite(times) else number(times))
