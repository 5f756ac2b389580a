"""`plan`: which design answers the questions best, at the same epsilon for every respondent.

Every kind of design proposes candidates (`Design.propose`). For each, the standard errors that the wanted numbers
would have are computed from the channels; nothing is simulated. Designs are compared by the summed variance of all
wanted numbers, each times its weight: that is what the floor bounds, so that it can be said how far each is from the
best any design could do.

Most are judged with k-RR, and once more with the channel of least variance where that is another one (sets or block
designs, for questions with many possible answers). Of channels whose variances are alike, the one is taken whose
reports are counted and estimated with the least work at the planned number of respondents.

Paired respondents (JRR) are a candidate too, where they can be served: at the same true epsilon, which is larger than
the one their theorem claims. Their reports depend on each other, so the floor does not hold for them; they come after
all others whatever their errors, and are never recommended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.aims.aim import Wanted
from deniable.aims.assumed_truth import Guess
from deniable.aims.default_aims import in_words, shares_and_pairs
from deniable.aims.parse import gathered
from deniable.core.domain import Domain
from deniable.core.input_coercion import has_labels
from deniable.core.results import frame_of, panels
from deniable.core.summary import Shown, Summary, Written, number, share
from deniable.designs.distance_to_best import best_floor, nearness
from deniable.designs.registry import DESIGNS
from deniable.designs.request import Request
from deniable.device.epsilon import require_number
from deniable.device.privacy_statement import rounded_up
from deniable.errors import DesignError, InputError
from deniable.frozen import Frozen
from deniable.planning.design_variances import judged
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from matplotlib.axes import Axes

    from deniable.aims.assumed_truth import Truth
    from deniable.core.domain import Category
    from deniable.core.results import Frame
    from deniable.designs.design import Design
    from deniable.designs.request import Options
    from deniable.optimal.floor import Floor

_MOST_BALLOTS = 20_000
_MOST_COLUMNS = 4  # of shares and pairs that nobody named
_POINTS, _SURE = 0.05, 1.959964  # how far off the worst share may be, and in 95% of surveys
_NEAR = 1e-3  # so near to the number of respondents that is needed, as a share, is near enough
_FIRST, _TRIES = 10_000, 5  # respondents that a search begins with, and how often they are computed anew


@dataclass(frozen=True, eq=False)
class Candidate(Frozen):
    """A design and what it would achieve.

    Attributes:
        name: what it is called in a plan.
        design: the design itself.
        std_error: root mean square of the numbers' standard errors, one for each wanted item (every cell of a table
            is such a number; a mean's is in its own unit); NaN where nobody would tell it.
        reports: how many respondents answer about all of the item's attributes.
        cost: how many times as many respondents it needs as direct questions to everybody, an item each.
        gain: for paired respondents, the variance over that of the same coins unpaired, an item each; else 1.
        losses: n times the summed variance of each item's numbers (a mean's scores have range 1) times its weight.
        worst_share: the largest standard error of all shares, the cells of wanted tables; NaN where some are not told.
        kind: the kind of design, and `options` what it was made of; None for a design of the caller's own.
    """

    name: str
    design: Design
    std_error: tuple[float, ...]
    reports: tuple[float, ...]
    cost: tuple[float, ...]
    gain: tuple[float, ...]
    losses: tuple[float, ...]
    worst_share: float
    kind: str | None = None
    options: Options | None = None

    @property
    def loss(self) -> float:
        """The sum of the losses: what a floor bounds; NaN where some are not told."""
        return float(np.sum(self.losses))

    @property
    def is_correlated(self) -> bool:
        """Whether its reports depend on each other: such a design is shown, but never recommended."""
        return bool(self.design.correlated)

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
        solved: whether n was not given: so many bring the worst share within 5 points.
    """

    domain: Domain
    wanted: tuple[Wanted, ...]
    candidates: tuple[Candidate, ...]
    n: int
    epsilon: float
    truth: Guess | None = None
    solved: bool = False

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
        weights = [m * item.weight for m, item in zip(counts, self.wanted, strict=True)]
        # Pairs have an error without a loss; only shares are told of them.
        parts = zip(weights, one.losses, one.std_error, strict=True)
        both = [(m, m * error**2 if np.isnan(loss) else loss / self.n) for m, loss, error in parts]
        told = [part for part in both if not np.isnan(part[1])]
        return float(np.sqrt(sum(v for _, v in told) / sum(m for m, _ in told))) if told else np.inf

    @cached_property
    def floor(self) -> Floor | None:
        """What no design at this epsilon goes below; None where that cannot be computed."""
        try:
            return best_floor(self.domain, self.wanted, self.epsilon, self.truth)
        except InputError:
            return None  # too many cells for a floor at a guess

    def times(self, one: Candidate) -> float:
        """How many times as many respondents a candidate needs as the best possible design, at most; NaN if unknown."""
        known = self.floor is not None and not one.is_correlated
        return self.floor.times(one.loss) if known and self.floor is not None else np.nan

    def summary(self) -> Summary:
        """The candidates, a row each: the true epsilon, and what to expect of every table."""
        columns: dict[str, list[Any]] = {
            "design": [c.name for c in self.candidates],
            "true epsilon": [_epsilon(c.design) for c in self.candidates],
        }
        columns |= self.errors(self.candidates)
        columns["worst share"] = [share(c.worst_share, 2) for c in self.candidates]
        columns["times the best"] = [_times(self.times(c)) for c in self.candidates]
        return Summary(columns, self.notes())

    def errors(self, candidates: Sequence[Candidate]) -> dict[str, list[Written]]:
        """What to expect of every wanted item, a column each; of all shares and of all pairs where these are many."""
        if len(self.wanted) > _MOST_COLUMNS and self.wanted == shares_and_pairs(self.domain):
            singles, pairs = slice(0, len(self.domain)), slice(len(self.domain), None)
            return {
                name: [share(float(np.sqrt(np.mean(np.square(c.std_error[part])))), 2) for c in candidates]
                for name, part in (("every share", singles), ("every pair", pairs))
            }
        units = [one.unit(self.domain) for one in self.wanted]
        return {
            name: [share(c.std_error[i], 2) if unit is None else _in_unit(c.std_error[i]) for c in candidates]
            for i, (name, unit) in enumerate(zip(self.names, units, strict=True))
        }

    def notes(self) -> list[str]:
        """What the numbers mean and what follows, a sentence each."""
        best = self.candidates[0]
        meaning = (
            f"Expected standard errors (root mean square over a table's cells) with {self.n} respondents; worst share: "
            f"the largest of a share; times the best: how many times as many respondents as the best possible design a "
            f"design needs, at most. A dash: nobody would tell it{self._uncompared()}."
        )
        enough = f"{self.n} respondents bring the worst share within 5 points (95% interval) by the recommended design."
        lines = [*([enough] if self.solved else []), meaning, f"Recommended: {best.name}{self._reason()}."]
        if best.covers_all and (far := nearness(best.design, self.wanted, self.truth)):
            lines.append(far)
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
        if any(one.is_correlated and one.covers_all for one in self.candidates):
            return "; pairs are not compared with the best, which is that of reports that do not depend on each other"
        return ""

    def _reason(self) -> str:
        """Why the recommended design is the best, in plain words, where it is the optimal one."""
        best, *others = self.candidates
        if not best.design.is_chosen:
            return ""
        next_best = next((one for one in others if one.covers_all and not one.is_correlated), None)
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
            if one.covers_all and not one.is_correlated:
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
            or as texts such as "mean(age)" (`deniable.aims.parse`); every share and every pair by default.
        n: the number of respondents; by default as many as bring the worst share within 5 points (its 95% interval).
        truth: a guess: a table, shares by attribute, or a list of these, over which variances are averaged (`Guess`);
            even shares by default, and for attributes it does not hold.
        also: designs of your own to be judged beside them, by name.

    >>> wanted = [["a", "b"], ["b", "c"]]
    >>> forecast = plan({"a": [0, 1], "b": [0, 1], "c": [0, 1]}, 1.0, wanted, 10_000)
    >>> {candidate.name for candidate in forecast.candidates[:2]} == {"tables", "optimal"}  # they need as many
    True
    """
    known = domain if isinstance(domain, Domain) else Domain(domain)
    if tables is None:
        tables = shares_and_pairs(known)
    if not tables or not (isinstance(tables, str | Wanted) or all(tables)):
        raise InputError('name the tables you want, such as tables=[["sex", "income"]]')
    asked = gathered(tables)
    require_number(epsilon)
    if not epsilon > 0 or not isfinite(epsilon):
        raise InputError(f"epsilon must be positive and finite, not {epsilon!r}", epsilon=epsilon)
    if n is None:
        return _solved(known, epsilon, asked, truth, also)
    if n != int(n) or n < 2:
        raise InputError(f"a forecast needs at least 2 respondents, and a whole number of them, not {n!r}", n=n)
    for one in asked:
        one.rows(known)
    guess = None if truth is None else Guess.of(known, truth)
    needed = {name for one in asked for name in one.attributes}  # nobody is asked about others
    inside = known.project([name for name in known if name in needed])
    request = Request(inside, epsilon, asked, int(n), guess, _as_files_write_it(inside, truth))
    own = [_judge(name, design, request) for name, design in (also or {}).items()]
    found = [*_proposed(request), *own]
    if all(one.is_correlated for one in found):
        raise DesignError(f"no kind of design can be made for {listed(known)} at epsilon {epsilon:g}")
    forecast = Forecast(known, asked, tuple(found), request.n, epsilon, guess)
    ranked = sorted(found, key=lambda c: (c.is_correlated, int(np.isnan(c.std_error).sum()), forecast.error(c)))
    return Forecast(known, asked, tuple(ranked), request.n, epsilon, guess)


def _solved(
    known: Domain,
    epsilon: float,
    asked: tuple[Wanted, ...],
    truth: Truth | None,
    also: Mapping[str, Design] | None,
) -> Forecast:
    """The plan for as many respondents as the recommended design needs; which one that is may depend on them."""
    if not any(one.is_table for one in asked):
        raise InputError(
            f"{in_words(asked, known)} are no shares, whose error would say how many respondents are needed: say how "
            f"many there will be, plan(domain, epsilon, n=2000), or --n 2000"
        )
    n, tried = _FIRST, 0
    while True:
        forecast = plan(known, epsilon, asked, n, truth=truth, also=also)
        worst = forecast.candidates[0].worst_share
        if np.isnan(worst):
            raise InputError(
                "no design tells every share that is wanted: say how many respondents there will be, as n=2000"
            )
        needed = max(2, ceil(n * (_SURE * worst / _POINTS) ** 2 * (1 - 1e-9)))
        if abs(needed - n) <= 1 + n * _NEAR or (tried >= _TRIES and needed < n):
            return replace(forecast, solved=True)
        n, tried = needed, tried + 1


def _as_files_write_it(asked: Domain, truth: Truth | None) -> dict[str, tuple[float, ...]] | None:
    """Shares by attribute, in the order of the categories; None where the guess is something else."""
    if not isinstance(truth, Mapping):
        return None
    given = {name: shares for name, shares in truth.items() if name in asked}
    if any(has_labels(shares, asked[name].categories) for name, shares in given.items()):
        return None
    return {name: tuple(float(share) for share in shares) for name, shares in given.items()}


def _proposed(request: Request) -> Iterator[Candidate]:
    """Every design that some kind proposes and that can be made, each once."""
    seen: list[object] = []
    for kind in sorted(DESIGNS, key=lambda kind: DESIGNS[kind].is_chosen):
        made: dict[str, Design] = {}
        for label, options in DESIGNS[kind].propose(request):
            design = None if label in made else _made(kind, options, request)
            if design is None or design in made.values():
                continue
            made[label] = design
            asked = (design.questions, design.ballots, design.weights)
            if not design.is_chosen or asked not in seen:  # where another is the best, it is called that
                seen.append(asked)
                yield replace(_judge(label, design, request), kind=kind, options=options)


def _made(kind: str, options: Options, request: Request) -> Design | None:
    try:
        design = DESIGNS[kind].make(request, options)
    except DesignError:
        return None  # it cannot be made for this domain and epsilon; the others say what can
    return design if len(design.ballots) <= _MOST_BALLOTS else None


def _judge(name: str, design: Design, request: Request) -> Candidate:
    parts = judged(design, request)
    shares = [part.worst for one, part in zip(request.aims, parts, strict=True) if one.is_table]
    return Candidate(
        name,
        design,
        tuple(part.error for part in parts),
        tuple(part.reports for part in parts),
        tuple(part.cost for part in parts),
        tuple(part.gain for part in parts),
        tuple(part.loss for part in parts),
        max(shares) if shares and not np.isnan(shares).any() else np.nan,
    )


def _in_unit(error: float) -> Written:
    """An error that is no share of respondents."""
    return Written(error, f"{error:.3g}" if np.isfinite(error) else number(error))


def _epsilon(design: Design) -> Written:
    """A promise, which is never rounded down."""
    return Written(design.epsilon, rounded_up(design.epsilon))


def _times(times: float) -> Written:
    """Rounded up: nothing is called nearer to the best than it is."""
    return Written(times, f"{ceil(times * 100 - 1e-6) / 100:.2f}" if np.isfinite(times) else number(times))
