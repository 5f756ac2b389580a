"""What the reports of several ballots tell together, at a guess of the truth: the loss from what is executed.

In the coordinates of `contrasts`, theta_S = sqrt(k_S) (contrasts of S) . pi, every question T sees the shares of its
cells as a constant plus a linear function of the theta_S with S inside T. So a report u through a channel P adds

    x_u x_u' / lambda_u,     x_u the coordinates of row u of P,     lambda = P pi_T at the guess,

to the information on theta, and the loss is tr(K (sum over ballots of w_b F_b)^+) with K the products of the wanted
rows. At even shares these matrices fall apart set by set (`pooled`); elsewhere all sets hang together, so that this is
for few contrasts. Sets that are too many to be listed count by their moments, which tell no more than they do one by
one.

Of a mixture of guesses the loss is the average of the losses: convex in w too, and homogeneous of degree -1.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from deniable.aims.contrasts import Contrasts, subsets
from deniable.channels.kronecker import Kronecker
from deniable.errors import NotCoveredError
from deniable.optimal.pooled_loss import balance, inverted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.aims.aim import Wanted
    from deniable.aims.assumed_truth import Guess, Population
    from deniable.channels.channel import Channel
    from deniable.core.domain import Domain
    from deniable.optimal.pooled_loss import Attributes, Ballot

    Array = NDArray[np.float64]

MOST_CONTRASTS = 512  # which hang together, so that one matrix of them is inverted in every step
_MOST_REPORTS = 4096  # that are listed one by one
_MOST_ENTRIES = 1 << 22  # of a ballot's channel


@dataclass(frozen=True, eq=False)
class _At:
    """One population: its weight, what is wanted, and for each ballot its information and where that belongs."""

    weight: float
    gram: Array
    told: tuple[tuple[NDArray[np.int64], Array], ...]


@dataclass(frozen=True, eq=False)
class GuessPool:
    """Ballots that may be drawn, and what each tells of what is wanted, at a guess."""

    ballots: int
    populations: tuple[_At, ...]

    def value(self, w: Array) -> tuple[float, Array]:
        """The loss where ballots are drawn with these probabilities, and its falling slope towards each."""
        loss, slope = 0.0, np.zeros(self.ballots)
        for at in self.populations:
            total = np.zeros(at.gram.shape)
            for each, (places, information) in zip(w, at.told, strict=True):
                total[np.ix_(places, places)] += each * information
            inverse = inverted(total, at.gram)
            if inverse is None:
                return float("inf"), slope
            curved = inverse @ at.gram @ inverse
            loss += at.weight * float((inverse * at.gram).sum())
            falls = [float((curved[np.ix_(places, places)] * information).sum()) for places, information in at.told]
            slope += at.weight * np.array(falls)
        return loss, slope

    def balanced(self, close: float) -> tuple[Array, float, float]:
        """The probabilities of least loss, that loss, and what no other goes below: closer than this share."""
        return balance(self.value, self.ballots, close)


def contrasts_of(domain: Domain, questions: Sequence[Attributes]) -> int:
    """How many contrasts hang together where these questions are asked."""
    sets = {names for one in questions for names in subsets(tuple(name for name in domain if name in one))}
    return sum(prod(len(domain[name]) - 1 for name in names) for names in sets)


def pool_at(domain: Domain, wanted: tuple[Wanted, ...], ballots: Sequence[Ballot], guess: Guess) -> GuessPool | None:
    """What ballots tell of what is wanted, at a guess; None where it is too large to be computed."""
    together = [tuple(name for attributes, _ in ballot for name in attributes) for ballot in ballots]
    sets = sorted({names for one in together for names in subsets(tuple(n for n in domain if n in one))})
    found = []
    for weight, population in zip(guess.weights, guess.populations, strict=True):
        contrasts = Contrasts(domain, wanted, population)
        if not set(contrasts.squares) <= set(sets):
            raise NotCoveredError("the ballots of this design do not tell everything that is wanted")
        sizes = [contrasts.dimensions(names) for names in sets]
        if sum(sizes) > MOST_CONTRASTS:
            return None
        ends = np.cumsum([0, *sizes])
        at = {names: np.arange(first, end) for names, first, end in zip(sets, ends[:-1], ends[1:], strict=True)}
        told = []
        for names, ballot in zip(together, ballots, strict=True):
            information = _information(contrasts, names, [channel for _, channel in ballot], population)
            if information is None:
                return None
            parts = list(subsets(contrasts.ordered(names)))
            told.append((np.concatenate([at[part] for part in parts]), information))
        found.append(_At(weight, contrasts.gram(sets), tuple(told)))
    return GuessPool(len(ballots), tuple(found))


def loss_at(
    domain: Domain, wanted: tuple[Wanted, ...], ballots: Sequence[Ballot], chances: Array, guess: Guess
) -> float | None:
    """The loss of a design whose ballots are drawn with these chances; None where it is too large to be computed.

    Raises:
        NotCoveredError: some wanted number is told by no ballot.
    """
    found = pool_at(domain, wanted, ballots, guess)
    if found is None:
        return None
    loss, _ = found.value(chances)
    if loss == float("inf"):
        raise NotCoveredError("the ballots of this design do not tell everything that is wanted")
    return loss


def _information(
    contrasts: Contrasts, names: Attributes, channels: Sequence[Channel], population: Population
) -> Array | None:
    """What one report tells about the contrasts of all sets inside its attributes."""
    cells = prod(len(contrasts.domain[name]) for name in names)
    if len(channels) > 1 and any(channel.is_support for channel in channels):
        return None
    if cells * prod(channel.outputs for channel in channels) > _MOST_ENTRIES:
        return None
    channel = channels[0] if len(channels) == 1 else Kronecker(channels)
    shares = population.shares(contrasts.domain.project(names)).ravel()
    rows = _rows(channel)
    if rows is not None:
        lam = rows @ shares
        seen = lam > 0
        x = _spread(contrasts, rows[seen] / np.sqrt(lam[seen])[:, None], names)
        return x.T @ x
    # The covariance of the estimate that one report makes, on the contrasts; k^2 as `coordinates` are scaled.
    lam = channel.apply(shares.reshape(channel.input_shape)).reshape(-1, 1)
    moments = channel.second_moments(lam)[0] - np.outer(shares, shares)
    basis = cells * _spread(contrasts, np.eye(cells), names)
    return np.asarray(np.linalg.inv(basis.T @ moments @ basis))


def _rows(channel: Channel) -> Array | None:
    """Pr(report | truth), a row a report; None where reports are sets and too many to be listed."""
    if not channel.is_support:
        return np.asarray(channel.matrix(), dtype=np.float64)
    every = channel.every_report(_MOST_REPORTS)
    return None if every is None else np.asarray(channel.likelihood(every), dtype=np.float64)


def _spread(contrasts: Contrasts, rows: Array, names: Attributes) -> Array:
    parts = contrasts.coordinates(rows, names)
    return np.concatenate([parts[one] for one in subsets(contrasts.ordered(names))], axis=1)
