"""The optimal mix of questions: which sets of attributes to ask together, and how often each.

At even shares a question over the attributes T, asked through a channel that treats its k_T cells alike (k-RR, or sets
of the best size m), gives every contrast of attributes inside T the same information,

    g_T = m (k_T - m) (e^eps - 1)^2 / (m e^eps + k_T - m)^2 / (k_T - 1).

If question T is asked with probability w_T, the pooled estimate of all reports has

    loss = sum over sets S of  L_S / (sum over T containing S of w_T g_T),

L_S the sum of the squared lengths that what is wanted has on the contrasts of S (`contrasts`). It is convex in w, and
`pooled` finds its minimum. This is what channels could do at best; `deniable.designs.kinds.optimal` makes a design of
the channels that are run.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import expm1, prod
from typing import TYPE_CHECKING

import numpy as np

from deniable.aims.aim import asked_of
from deniable.aims.contrasts import Contrasts, subsets
from deniable.aims.parse import gathered
from deniable.core.domain import Domain
from deniable.core.summary import Shown, Summary
from deniable.device.epsilon import exp_below
from deniable.errors import DesignError
from deniable.frozen import Frozen
from deniable.optimal.floor import even_floor
from deniable.optimal.generated_questions import MOST_CELLS, generated, pays
from deniable.optimal.pooled_loss import Pool
from deniable.optimal.sparse_rows import SparseRows
from deniable.plotting import DARK, axes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.aims.aim import Wanted
    from deniable.core.domain import Category
    from deniable.optimal.floor import Floor

_MOST_CANDIDATES = 20_000
_CLOSE = 1.5e-4  # how far above the best mix, as a share
_ROUGHLY = 1e-3  # the same while questions are generated
_RARE = 1e-6
_DRAWN = 20  # questions


@dataclass(frozen=True)
class Mix(Shown, Frozen):
    """Questions and how often each is asked.

    Attributes:
        questions: sets of attributes to be asked together, the most frequent first.
        weights: the probability of each; they sum to one.
        loss: n times the summed variance of what is wanted, from n respondents, at even shares.
        bound: what no mix of the candidates goes below, through channels that treat all cells alike.
        floor: what no design at all goes below.
    """

    questions: tuple[tuple[str, ...], ...]
    weights: tuple[float, ...]
    loss: float
    bound: float
    floor: Floor

    @property
    def times(self) -> float:
        """How many times as many respondents it needs as the floor."""
        return self.floor.times(self.loss)

    def summary(self) -> Summary:
        """The questions with their weights, and how far they are from the floor."""
        columns: dict[str, Sequence[object]] = {
            "question": ["*".join(names) for names in self.questions],
            "weight": list(self.weights),
        }
        return Summary(columns, (f"It {self.floor.distance(self.loss)}.",))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how often each question is asked, the most frequent above."""
        ax = axes(ax, size=(6.4, 4.2))
        shown = list(zip(self.questions, self.weights, strict=True))[:_DRAWN][::-1]
        ax.barh(range(len(shown)), [weight for _, weight in shown], color=DARK)
        ax.set_yticks(range(len(shown)), ["*".join(names) for names, _ in shown])
        ax.set_xlabel("probability of being asked")
        return ax


def optimal_mix(
    domain: Domain | Mapping[str, Iterable[Category]],
    wanted: Wanted | str | Sequence[Wanted | str | Sequence[str]],
    epsilon: float,
    *,
    largest: int | None = None,
) -> Mix:
    """The mix of questions with the least loss, at even shares.

    Args:
        domain: the attributes and their categories.
        wanted: what the survey is made for, as in `floor`.
        epsilon: what each respondent may spend, on the one question they are asked.
        largest: the most attributes in a question; by default as many as pay (`deniable.optimal.generated_questions`).

    >>> mix = optimal_mix({"a": [0, 1], "b": [0, 1], "c": [0, 1]}, [["a", "b"], ["b", "c"]], 1.0)
    >>> sorted(mix.questions[:2]), round(mix.times, 2)
    ([('a', 'b'), ('b', 'c')], 1.0)
    """
    exp_below(epsilon)  # refuses an epsilon that is none
    items = gathered(wanted)
    asked = asked_of(domain if isinstance(domain, Domain) else Domain(domain), items)
    contrasts = Contrasts(asked, items)
    candidates = candidate_questions(asked, largest)
    sets = {names: place for place, names in enumerate(contrasts.squares)}
    mixes = _Mixes(contrasts, epsilon)
    inside = mixes.inside(candidates)
    if (uncovered := inside.transposed_times(np.ones(len(candidates))) <= 0).any():
        missing = [names for names, place in sets.items() if uncovered[place]]
        raise DesignError(
            f"no question of at most {max(map(len, candidates))} attributes and {MOST_CELLS} cells asks "
            f"{', '.join('*'.join(names) for names in missing[:4])} together; ask for smaller tables",
            missing=missing,
        )
    if largest is None:
        candidates = generated(asked, candidates, mixes, pays(epsilon))
    weights, loss, bound = mixes.pool(candidates).balanced(_CLOSE)
    order = [int(place) for place in np.argsort(-weights, kind="stable") if weights[place] > _RARE]
    return Mix(
        tuple(candidates[place] for place in order),
        tuple(float(weights[place]) for place in order),
        loss,
        bound,
        even_floor(contrasts, epsilon),
    )


def information(cells: int, epsilon: float) -> float:
    """What one report tells about every contrast of a question, through the channel of the best set size."""
    gain = expm1(epsilon)
    near = int(cells / (gain + 2))
    sizes = [m for m in (near, near + 1) if 0 < m < cells]
    return max(m * (cells - m) / (m * gain + cells) ** 2 for m in sizes) * gain**2 / (cells - 1)


def _cells(domain: Domain, names: tuple[str, ...]) -> int:
    return prod(len(domain[name]) for name in names)


def candidate_questions(asked: Domain, largest: int | None = None) -> list[tuple[str, ...]]:
    """Sets of attributes that may be asked together."""
    found: list[tuple[str, ...]] = []
    for size in range(1, (largest or 4) + 1):
        more = [names for names in combinations(asked.names, size) if _cells(asked, names) <= MOST_CELLS]
        if largest is None and len(found) + len(more) > _MOST_CANDIDATES:
            break
        found += more
    return found


class _Mixes:
    """Mixes of questions through channels that treat all cells alike."""

    def __init__(self, contrasts: Contrasts, epsilon: float) -> None:
        self.contrasts, self.epsilon = contrasts, epsilon
        self.sets = {names: place for place, names in enumerate(contrasts.squares)}
        self.lengths = np.array(list(contrasts.squares.values()))
        self._told = self.lengths

    def inside(self, candidates: Sequence[tuple[str, ...]]) -> SparseRows:
        """For every candidate, what it tells about each wanted set that lies inside it."""
        told = [information(_cells(self.contrasts.domain, names), self.epsilon) for names in candidates]
        places = [[self.sets[names] for names in subsets(one) if names in self.sets] for one in candidates]
        return SparseRows.of(places, np.repeat(told, [len(row) for row in places]).tolist(), len(self.sets))

    def pool(self, candidates: Sequence[tuple[str, ...]]) -> Pool:
        """The candidates as ballots."""
        return Pool(self.contrasts, self.inside(candidates), self.lengths, ())

    def balanced(self, sets: Sequence[tuple[str, ...]]) -> tuple[NDArray[np.float64], float]:
        """How often each is asked in the best mix, and its loss."""
        pool = self.pool(sets)
        weights, loss, _ = pool.balanced(_ROUGHLY)
        self._told = pool.alone.transposed_times(weights)
        return weights, loss

    def slopes(self, more: Sequence[tuple[str, ...]]) -> NDArray[np.float64]:
        """How the loss of the mix that was balanced last falls towards other questions."""
        return self.inside(more).times(self.lengths / self._told**2)
