"""Search for weights and multipliers that prove a high floor for many attributes (`delsarte_certificate`).

For given weights the linear program has a variable for each class of distances. It is solved at some numbers N of
cells; its multipliers bound all N, and it is solved again where that bound is highest, until it is reached.

The best weights come from the best mixture of reports. Of reports with the sums W_r, used with probabilities p, the
loss is at least the sum over r of s_r^2 / (p W)_r, with s_r the sum of the singular values of what is wanted of class
r. This is convex in p; where it is least, w_r = s_r^2 / (p W)_r^2 are the weights, whose largest report is added, and
so on: the two meet. Where some numbers are parts of several classes, they meet a little lower.

Attributes are counted together where what is wanted stays the same when they are exchanged, and otherwise where they
have as many categories, which gives a floor as well.
"""

from __future__ import annotations

from itertools import combinations
from math import expm1, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deniable.errors import ConvergenceError
from deniable.optimal.delsarte_certificate import DelsarteCertificate, Piece
from deniable.optimal.hamming_scheme import Hamming
from deniable.optimal.pooled_loss import balance

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from deniable.aims.aim import Wanted
    from deniable.aims.contrasts import Contrasts
    from deniable.core.domain import Domain

    Array = NDArray[np.float64]

_MOST_CLASSES = 128
_MOST_CELLS = 1 << 20
_MOST_TOGETHER = 512  # contrasts that some numbers have parts in at once
_ROUNDS, _SOLVED = 30, 60
_CLOSE = 2e-4  # floors that are this near to the best weights' are good enough, as a share
_REACHED = 1e-5  # the same of linear programs
_SELDOM = 1e-10  # a report that is used less often is forgotten
_DIGITS = 1 << 40  # more of weights and multipliers would prove no more


def delsarte_floor(contrasts: Contrasts, epsilon: float) -> DelsarteCertificate | None:
    """The highest floor that is found in this way; None where the classes or cells are too many."""
    hamming = _counted(contrasts)
    if hamming is None or contrasts.hanging_together > _MOST_TOGETHER:
        return None
    program = _Program(hamming, epsilon)
    sums = _sums(contrasts, hamming)
    wanted = sums > 0
    weights = wanted.astype(np.float64)
    # Reports that speak of each class, lest a mixture says nothing of one.
    reports = [program.speaks_of(place)[wanted] for place in np.flatnonzero(wanted).tolist()]
    best: tuple[float, Array, list[_Cut]] | None = None
    for _ in range(_ROUNDS):
        most, cuts = program.largest(weights)
        low = _weighted(contrasts, hamming, weights) ** 2 / most
        if best is None or low > best[0]:
            best = low, weights, cuts
        reports = [*reports, *(cut.sums[wanted] for cut in cuts)]
        mixed, least, used = _mixture(np.array(reports), sums[wanted])
        if best[0] >= least * (1 - _CLOSE):
            break
        reports = [report for report, often in zip(reports, used, strict=True) if often > _SELDOM]
        weights = np.zeros(len(sums))
        weights[wanted] = (sums[wanted] / mixed) ** 2
        weights = _rounded(weights / weights.max())
    assert best is not None
    _, weights, cuts = best
    return DelsarteCertificate(contrasts, epsilon, hamming.groups, tuple(weights.tolist()), program.pieces(cuts))


class _Cut(NamedTuple):
    """The solution at one number of cells: its multipliers, the bound A + d (N - 1) they give, the report's W_r."""

    b: Array
    a: float
    d: float
    sums: Array


class _Program:
    """Delsarte's linear program for a domain."""

    def __init__(self, hamming: Hamming, epsilon: float) -> None:
        self.k = hamming.polynomials.astype(np.float64)
        self.cells = hamming.domain.cells
        self.n = np.arange(1, self.cells, dtype=np.float64)
        self.factors = expm1(epsilon) ** 2 * self.n / (self.cells + expm1(epsilon) * self.n) ** 2
        self.first = min(max(round(self.cells / (expm1(epsilon) + 2)), 1), self.cells - 1)

    def largest(self, weights: Array) -> tuple[float, list[_Cut]]:
        """What no report's weighted sum is above, and the solutions that show it."""
        size, reached, cuts = self.first, 0.0, []
        above = np.full(len(self.n), np.inf)
        for _ in range(_SOLVED):
            cut = self._solved(weights, size)
            cuts.append(cut)
            reached = max(reached, float(weights @ cut.sums))
            above = np.minimum(above, self._above(cut))
            size = int(above.argmax()) + 1
            if above[size - 1] <= reached * (1 + _REACHED):
                break
        return float(above.max()), cuts

    def speaks_of(self, place: int) -> Array:
        """The W_r of the report that tells most of one class, among those of the usual size."""
        return self._solved(np.eye(len(self.k))[place], self.first).sums

    def pieces(self, cuts: Sequence[_Cut]) -> tuple[Piece, ...]:
        """For every number of cells the multipliers that bound it best."""
        best = np.argmin([self._above(cut) for cut in cuts], axis=0)
        ends = [*np.flatnonzero(np.diff(best)).tolist(), len(best) - 1]
        return tuple(Piece(end + 1, tuple(cuts[best[end]].b.tolist())) for end in ends)

    def _above(self, cut: _Cut) -> Array:
        return np.asarray(self.factors * (cut.a + cut.d * (self.n - 1)))

    def _solved(self, weights: Array, size: int) -> _Cut:
        from scipy.optimize import linprog

        rewards, count = weights @ self.k, self.k[1:, :1]  # rows are scaled by K_r(0), which may be large
        scale = float(np.abs(rewards).max())
        found = linprog(
            -rewards[1:] / scale,
            A_ub=-self.k[1:, 1:] / count,
            b_ub=np.ones(len(count)),
            A_eq=np.ones((1, len(count))),
            b_eq=[size - 1],
            method="highs",
        )
        if found.status != 0:
            raise ConvergenceError(f"a linear program over {len(count)} classes was not solved: {found.message}")
        b = np.maximum(-found.ineqlin.marginals, 0.0) * scale / count[:, 0]
        b = _rounded(b)
        raised = rewards + np.concatenate([[0.0], b]) @ self.k
        sums = self.factors[size - 1] * (self.k @ np.concatenate([[1.0], found.x]))
        sums[0] = 0.0
        return _Cut(b, float(raised[0]), float(raised[1:].max()), np.maximum(sums, 0.0))


def _mixture(reports: Array, sums: Array) -> tuple[Array, float, Array]:
    """The W_r of the best mixture of reports, the loss it shows, and how often each report is used."""

    def value(used: Array) -> tuple[float, Array]:
        mixed = used @ reports
        if not (mixed > 0).all():
            return float("inf"), np.zeros(len(reports))
        return float((sums**2 / mixed).sum()), np.asarray(reports @ (sums / mixed) ** 2)

    try:
        used, loss, _ = balance(value, len(reports), _CLOSE / 4)
    except ConvergenceError:
        used = np.full(len(reports), 1 / len(reports))
        loss = value(used)[0]
    return np.maximum(used @ reports, 1e-300), loss, used


def _sums(contrasts: Contrasts, hamming: Hamming) -> Array:
    """The sum of the singular values of what is wanted of each class."""
    held = sorted({hamming.place(names) for names in contrasts.squares})
    found = np.zeros(len(hamming.classes))
    for place in held:
        found[place] = _weighted(contrasts, hamming, np.arange(len(found)) == place)
    return found


def _weighted(contrasts: Contrasts, hamming: Hamming, weights: NDArray[Any]) -> float:
    """The sum of the singular values of what is wanted, the contrasts of each class times the root of its weight."""
    return contrasts.weighted_sum(lambda names: float(weights[hamming.place(names)]))


def _counted(contrasts: Contrasts) -> Hamming | None:
    """The attributes in as few groups as lose nothing; if these are too many, in fewer."""
    domain = contrasts.domain
    if domain.cells > _MOST_CELLS or domain.cells < 2:
        return None
    for groups in (_exchangeable(domain, contrasts.wanted), _of_a_size(domain)):
        if prod(len(group) + 1 for group in groups) <= _MOST_CLASSES:
            return Hamming(domain, groups)
    return None


def _of_a_size(domain: Domain) -> tuple[tuple[str, ...], ...]:
    found: dict[int, list[str]] = {}
    for name in domain:
        found.setdefault(len(domain[name]), []).append(name)
    return tuple(map(tuple, found.values()))


def _exchangeable(domain: Domain, wanted: Iterable[Wanted]) -> tuple[tuple[str, ...], ...]:
    """Attributes of as many categories that may change places in all that is wanted."""
    items = [(one.kind, one.attributes, one.is_whole, one.weight, one.options) for one in wanted]

    def described(exchanged: dict[str, str]) -> list[str]:
        each = []
        for kind, names, is_whole, weight, options in items:
            there = [exchanged.get(name, name) for name in names]
            each.append(repr((kind, sorted(there) if is_whole else there, weight, options)))
        return sorted(each)

    plain, groups = described({}), [[name] for name in domain]
    for one, other in combinations(domain, 2):
        home = next(group for group in groups if one in group)
        if other in home or len(domain[one]) != len(domain[other]):
            continue
        if described({one: other, other: one}) == plain:
            there = next(group for group in groups if other in group)
            home.extend(there)
            groups.remove(there)
    return tuple(map(tuple, groups))


def _rounded(values: Array) -> Array:
    """To so many digits: exact arithmetic with fewer is faster."""
    unit = float(2.0 ** np.ceil(np.log2(values.max() + 1e-300))) / _DIGITS
    return np.asarray(np.round(values / unit) * unit)
