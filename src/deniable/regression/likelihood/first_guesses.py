"""Where to start: linear regression on unbiased scores, pushed through the link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.regression.likelihood.responses import Binary, Normal
from deniable.regression.missing_answers import Answered, AnsweredOf

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.regression.likelihood.responses import Response

    Array = NDArray[np.float64]

_ROWS = 40_000
_EDGE = 0.02  # fitted shares are kept this far from 0 and 1


def start_of(response: Response, matrix: Array, scores: Array) -> list[Array]:
    """Two starts: from a linear regression of the scores, and from their mean alone.

    `scores` are unbiased scores of each truth (n, K), or the outcome itself (n, 1) for a linear model.
    """
    chosen = (
        np.arange(len(matrix))
        if len(matrix) <= _ROWS
        else np.random.default_rng(0).choice(len(matrix), _ROWS, replace=False)
    )
    design, target = matrix[chosen], scores[chosen]
    if isinstance(response, Normal):
        coefficients = np.linalg.lstsq(design, target, rcond=None)[0]
        spread = float(np.std(target - design @ coefficients))
        return [np.append(coefficients[:, 0], np.log(max(spread, 1e-8 * (1 + float(np.abs(target).max())))))]
    fitted = design @ np.linalg.lstsq(design, target, rcond=None)[0]
    flat = np.broadcast_to(target.mean(axis=0), target.shape)
    etas = (_eta(response, shares) for shares in (fitted, flat))
    return [np.asarray(np.linalg.lstsq(design, eta, rcond=None)[0].T.ravel(), dtype=np.float64) for eta in etas]


def _eta(response: Response, shares: Array) -> Array:
    inside = np.clip(shares, _EDGE, 1 - _EDGE)
    if isinstance(response, Answered):
        skips = inside[:, [response.place]]
        said = np.delete(inside, response.place, axis=1)
        yes = np.clip(said[:, 1:] / said.sum(axis=1, keepdims=True), _EDGE, 1 - _EDGE)
        return np.concatenate([response.response.link.inverse(yes), np.log(skips / (1 - skips))], axis=1)
    if isinstance(response, Binary):
        return response.link.inverse(inside[:, 1:])
    if isinstance(response, AnsweredOf):
        inside = response.last(inside)
    return np.log(inside[:, 1:] / inside[:, :1])
