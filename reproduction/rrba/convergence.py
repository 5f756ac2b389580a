"""Figures 5 and 6: block after block of one share, with and without projecting what is fed back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.extensions.blocks.paper_estimators import share_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

BLOCKS = 200
_LOST = 10.0  # an estimated share this far out never comes back


def trajectories(
    rng: np.random.Generator, shares: ArrayLike, keep: float, blocks: ArrayLike, trials: int, *, projected: bool
) -> NDArray[np.float64]:
    """Estimates of shares, each in blocks of its own size: (blocks, settings, trials).

    A fake is drawn from T cut to [0, 1] either way: a client cannot do otherwise. `projected` also subtracts that T;
    without it the raw estimate is subtracted, though no client could have used it.
    """
    truth, size = (np.atleast_1d(x)[:, None] for x in (shares, blocks))
    raw = np.full((len(truth), trials), 0.5)
    found = []
    for _ in range(BLOCKS):
        fakes = np.clip(raw, 0.0, 1.0)
        reports = rng.binomial(size, keep * truth + (1 - keep) * fakes) / size
        raw = np.clip((reports - (1 - keep) * (fakes if projected else raw)) / keep, -1e6, 1e6)
        found.append(raw)
    return np.array(found)


def survives(path: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each setting the share of trials whose estimate is still near a share at the end."""
    return (np.abs(path[-1]) < _LOST).mean(axis=1)


def settled(path: NDArray[np.float64], keep: float, blocks: ArrayLike, *, corrected: bool) -> NDArray[np.int64]:
    """The first block from which on the stopping rule holds to the end: (settings, trials); -1 where it does not.

    Holding in the last ten blocks only is luck, and counts as not.
    """
    size = np.atleast_1d(blocks)[:, None]
    before = np.clip(path[:-1], 0.0, 1.0)
    low, high = share_interval(before * size, size, 0.95)
    agrees = np.abs(np.diff(path, axis=0)) < (high - low) / (keep if corrected else 1.0)
    lasts = np.logical_and.accumulate(agrees[::-1], axis=0)[::-1]
    first = np.where(lasts.any(axis=0), lasts.argmax(axis=0) + 1, -1)
    return np.where(first > BLOCKS - 10, -1, first)
