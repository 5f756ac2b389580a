"""What the reports of several ballots tell together, at even shares: the loss of any design, from what is executed.

In coordinates on the contrasts of sets of attributes (`contrasts`), a ballot's information is a matrix. A question
through a channel that treats its k cells alike gives every contrast inside it the same,

    g = (k - 1) / (k x summed variance of its cells from one report),

and a ballot of several such questions gives a contrast of S the product of the g of the questions that S touches: all
of these matrices are diagonal, and sets of attributes stay apart. A channel that is made for what is wanted mixes the
contrasts of all sets inside its question; these are joined, and their information is B F B' / k with F = P' diag(1 /
lambda) P and B the orthonormal contrasts. Ballots are drawn with probabilities w, so

    loss(w) = sum over joined groups of  tr(K (sum of w_b F_b)^+),

K the products of the wanted rows there. It is convex in w and homogeneous of degree -1, so that no other w has less
than 2 loss - (largest -dloss/dw).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deniable.aims.contrasts import subsets
from deniable.channels.kronecker import Kronecker
from deniable.errors import ConvergenceError, NotCoveredError
from deniable.optimal.sparse_rows import SparseRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from deniable.aims.contrasts import Contrasts
    from deniable.channels.channel import Channel

    Attributes = tuple[str, ...]
    Ballot = Sequence[tuple[Attributes, Channel]]
    """Questions that one respondent is asked: attributes, and the channel they go through together."""

MOST_MIXED = 512  # contrasts that are joined by channels made for what is wanted
_STEPS = 4000
_SURE, _FURTHER, _FURTHEST = (
    0.5,
    1.1,
    8.0,
)  # a step's power: what always helps, how it grows while it helps, and its end
_NOTHING = 1e-11  # of the largest eigenvalue: no information
_MISSED = 1e-7  # of what is wanted: how much of it may lie where there is none, by rounding


class _Group(NamedTuple):
    """Sets of attributes whose contrasts are joined, and the ballots that tell of all of them at once."""

    sets: tuple[Attributes, ...]
    ends: NDArray[np.int64]  # where the contrasts of each set begin, and where the last end
    gram: NDArray[np.float64]
    mixed: tuple[tuple[int, NDArray[np.float64]], ...]  # a ballot, and its information
    plain: tuple[tuple[int, NDArray[np.float64]], ...]  # a ballot, and its information on each set


@dataclass(frozen=True, eq=False)
class Pool:
    """Ballots that may be drawn, and what each tells of what is wanted."""

    contrasts: Contrasts
    alone: SparseRows  # ballots x sets that stand by themselves
    lengths: NDArray[np.float64]
    groups: tuple[_Group, ...]

    @property
    def ballots(self) -> int:
        """How many there are."""
        return self.alone.shape[0]

    def value(self, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The loss where ballots are drawn with these probabilities, and its falling slope towards each."""
        told = self.alone.transposed_times(w)
        if (told <= 0).any():
            return float("inf"), np.zeros(self.ballots)
        loss = float((self.lengths / told).sum())
        slope = self.alone.times(self.lengths / told**2)
        for group in self.groups:
            inverse = _inverse(group, w)
            if inverse is None:
                return float("inf"), np.zeros(self.ballots)
            curved = inverse @ group.gram @ inverse
            loss += float((inverse * group.gram).sum())
            of_sets = np.add.reduceat(np.diag(curved), group.ends[:-1])
            for ballot, information in group.mixed:
                slope[ballot] += float((curved * information).sum())
            for ballot, each in group.plain:
                slope[ballot] += float(of_sets @ each)
        return loss, slope

    def balanced(self, close: float) -> tuple[NDArray[np.float64], float, float]:
        """The probabilities of least loss, that loss, and what no other goes below: closer than this share."""
        return balance(self.value, self.ballots, close)


def balance(
    value: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]], ballots: int, close: float
) -> tuple[NDArray[np.float64], float, float]:
    """The probabilities at which a convex function, homogeneous of degree -1, is least; it, and what it is not below.

    `value` gives the function and how it falls towards each probability.
    """
    w, power = np.full(ballots, 1 / ballots), _SURE
    before, last = w, float("inf")
    for _ in range(_STEPS):
        loss, slope = value(w)
        if not loss <= last:
            # Too far: back, with the power that never is.
            w, power = before, _SURE
            loss, slope = value(w)
        bound = 2 * loss - float(slope.max())
        if bound >= loss * (1 - close):
            return w, loss, bound
        before, last = w, loss
        w = w * (np.maximum(slope, 0.0) / loss) ** power  # rounding may take nothing a little below zero
        w, power = w / w.sum(), min(_FURTHER * power, _FURTHEST)
    raise ConvergenceError(f"the mix of {ballots} ballots was not balanced in {_STEPS} steps", bound=bound)


def pool(contrasts: Contrasts, ballots: Sequence[Ballot]) -> Pool | None:
    """What ballots tell of what is wanted; None where too many contrasts would be joined."""
    mixed: dict[int, tuple[Attributes, Channel]] = {}
    for number, ballot in enumerate(ballots):
        if not all(channel.treats_alike for _, channel in ballot):
            names = tuple(name for attributes, _ in ballot for name in attributes)
            if prod(len(contrasts.domain[name]) for name in names) > MOST_MIXED:
                return None
            mixed[number] = names, ballot[0][1] if len(ballot) == 1 else Kronecker([channel for _, channel in ballot])
    joined = _joined([set(subsets(contrasts.ordered(names))) for names, _ in mixed.values()])
    together = set().union(*joined) if joined else set()
    if any(sum(contrasts.dimensions(names) for names in group) > MOST_MIXED for group in joined):
        return None
    wanted = {names: length for names, length in contrasts.squares.items() if names not in together}
    places = {names: place for place, names in enumerate(wanted)}
    needed = [*wanted, *together]
    plain = {n: _each_set(ballot, contrasts, needed) for n, ballot in enumerate(ballots) if n not in mixed}
    known = [plain.get(number) for number in range(len(ballots))]
    rows = [[] if told is None else [(places[s], told[s]) for s in told if s in places] for told in known]
    values = [each for row in rows for _, each in row]
    alone = SparseRows.of([[place for place, _ in row] for row in rows], values, len(places))
    lengths = np.array(list(wanted.values()))
    groups = tuple(_group(contrasts, sorted(sets), mixed, plain) for sets in joined)
    return Pool(contrasts, alone, lengths, groups)


def pooled_loss(contrasts: Contrasts, ballots: Sequence[Ballot], chances: NDArray[np.float64]) -> float | None:
    """The loss of a design whose ballots are drawn with these chances; None where it is too large to be computed.

    Raises:
        NotCoveredError: some wanted number is told by no ballot.
    """
    found = pool(contrasts, ballots)
    if found is None:
        return None
    loss, _ = found.value(chances)
    if loss == float("inf"):
        raise NotCoveredError("the ballots of this design do not tell everything that is wanted")
    return loss


def told_of_sets(
    contrasts: Contrasts, ballots: Sequence[Ballot], chances: NDArray[np.float64]
) -> dict[Attributes, float] | None:
    """What a report tells, on average, about every contrast of each set; None where contrasts of sets are mixed."""
    if not all(channel.treats_alike for ballot in ballots for _, channel in ballot):
        return None
    found = pool(contrasts, ballots)
    assert found is not None  # nothing is joined
    return dict(zip(contrasts.squares, found.alone.transposed_times(chances).tolist(), strict=True))


@lru_cache(maxsize=4096)
def contrast_information(channel: Channel) -> float:
    """What one report tells about every contrast of a question, through a channel that treats all cells alike."""
    k = channel.inputs
    return (k - 1) / (k * float(channel.variance(np.full(k, 1 / k), 1).sum()))


def _each_set(ballot: Ballot, contrasts: Contrasts, wanted: Iterable[Attributes]) -> dict[Attributes, float]:
    """What a ballot of channels that treat cells alike tells about the contrasts of each set of its attributes."""
    if len(ballot) == 1:
        ((attributes, channel),) = ballot
        return dict.fromkeys(subsets(contrasts.ordered(attributes)), contrast_information(channel))
    home = {name: contrast_information(channel) for attributes, channel in ballot for name in attributes}
    place = {name: number for number, (attributes, _) in enumerate(ballot) for name in attributes}
    inside = [names for names in wanted if all(name in home for name in names)]
    return {names: prod({place[name]: home[name] for name in names}.values()) for names in inside}


def _group(
    contrasts: Contrasts,
    sets: Sequence[Attributes],
    mixed: dict[int, tuple[Attributes, Channel]],
    plain: dict[int, dict[Attributes, float]],
) -> _Group:
    ends = np.cumsum([0, *(contrasts.dimensions(names) for names in sets)])
    at = {names: slice(first, end) for names, first, end in zip(sets, ends[:-1], ends[1:], strict=True)}
    full = []
    for number, (attributes, channel) in mixed.items():
        if contrasts.ordered(attributes) in at:
            information = np.zeros((int(ends[-1]), int(ends[-1])))
            matrix = channel.matrix()
            lam = matrix.mean(axis=1)
            # B F B' / k = sum over reports of (B p)(B p)' / (k lambda), with p scaled as `coordinates` does.
            parts = contrasts.coordinates(matrix / np.sqrt(lam)[:, None], attributes)
            for one, x in parts.items():
                for other, y in parts.items():
                    information[at[one], at[other]] = x.T @ y
            full.append((number, information))
    diagonal = [
        (number, np.array([told.get(names, 0.0) for names in sets]))
        for number, told in plain.items()
        if not told.keys().isdisjoint(at)
    ]
    return _Group(tuple(sets), ends, contrasts.gram(sets), tuple(full), tuple(diagonal))


def _inverse(group: _Group, w: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """(sum of w_b F_b)^+, or None where that is nothing for some of what is wanted."""
    size = int(group.ends[-1])
    total = np.zeros((size, size))
    for ballot, information in group.mixed:
        total += w[ballot] * information
    diagonal = np.zeros(len(group.sets))
    for ballot, each in group.plain:
        diagonal += w[ballot] * each
    total[np.diag_indices(size)] += np.repeat(diagonal, np.diff(group.ends))
    return inverted(total, group.gram)


def inverted(total: NDArray[np.float64], gram: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """An information's F^+, or None where that is nothing for some of what is wanted."""
    values, vectors = np.linalg.eigh(total)
    told = values > _NOTHING * max(values[-1], 1e-300)
    missed = vectors[:, ~told]
    if missed.size and np.trace(missed.T @ gram @ missed) > _MISSED**2 * np.trace(gram):
        return None
    return np.asarray((vectors[:, told] / values[told]) @ vectors[:, told].T)


def _joined(several: Sequence[set[Attributes]]) -> list[set[Attributes]]:
    joined: list[set[Attributes]] = []
    for sets in several:
        touching = [group for group in joined if group & sets]
        joined = [group for group in joined if group not in touching]
        joined.append(sets.union(*touching))
    return joined
