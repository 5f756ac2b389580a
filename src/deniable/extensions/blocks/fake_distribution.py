"""Fakes: how an estimate becomes the distribution T that a block publishes. Which may be: `device.fake_limits`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.channels.mixture import Mixture
from deniable.device.fake_limits import BITS, WHOLE
from deniable.numerics.simplex import norm_sub_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.device.fake_limits import Limits


def first_mixture(limits: Limits) -> Mixture:
    """The first block's mixture: nothing is known, so fakes are even."""
    return Mixture.from_weights(limits.keep, limits.start, BITS)


def fake_weights(estimates: NDArray[np.float64], limits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Turn estimates into weights of fakes: a row a question, columns beyond its cells hold -inf and get 0.

    Each row is projected to the simplex and mixed with its floor, T = phi / t + (1 - phi) projection, in integers: the
    floor itself, plus what is left over in proportion; units lost by rounding go to the likeliest cell.

    Args:
        estimates: raw estimates, possibly negative.
        limits: a row (cells, keep, floor) a question.
    """
    cells, keep, lowest = (limits[:, i, None] for i in range(3))
    near = norm_sub_rows(estimates)
    inside = np.arange(estimates.shape[1]) < cells
    spare = WHOLE - keep - cells * lowest
    weights = np.where(inside, lowest + np.floor(spare * near).astype(np.int64), 0)
    lost = WHOLE - keep[:, 0] - weights.sum(axis=1)
    weights[np.arange(len(weights)), near.argmax(axis=1)] += lost
    return weights
