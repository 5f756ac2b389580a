"""Links: how a linear predictor becomes the probability of the sensitive category.

F(eta) = Pr(truth 1). Both tails are computed on their own, since 1 - F is rounding error where F is close to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_HIGHEST = 600.0  # exp() of more would overflow; the complementary log-log tail is zero long before


@dataclass(frozen=True)
class Link:
    """A link by its inverse F.

    Attributes:
        name: what it is called.
        parts: eta -> (1 - F, F, f, f'), with f = F' the density.
        inverse: probability -> eta.
    """

    name: str
    parts: Callable[[Array], tuple[Array, Array, Array, Array]]
    inverse: Callable[[Array], Array]


def _logit(eta: Array) -> tuple[Array, Array, Array, Array]:
    """F = 1 / (1 + e^-eta),  f = F (1 - F),  f' = f (1 - 2 F)."""
    # One exponential serves both tails: e = e^-|eta| is never large.
    small = np.exp(-np.abs(eta))
    near = 1 / (1 + small)
    far = small * near
    up = eta >= 0
    high, low = np.where(up, near, far), np.where(up, far, near)
    density = near * far
    return low, high, density, density * (low - high)


def _probit(eta: Array) -> tuple[Array, Array, Array, Array]:
    """F = the normal distribution function,  f = e^(-eta^2 / 2) / sqrt(2 pi),  f' = -eta f."""
    density = np.exp(-(eta**2) / 2) / np.sqrt(2 * np.pi)
    return special.ndtr(-eta), special.ndtr(eta), density, -eta * density


def _cloglog(eta: Array) -> tuple[Array, Array, Array, Array]:
    """F = 1 - e^(-e^eta),  f = e^eta (1 - F),  f' = f (1 - e^eta)."""
    rate = np.exp(np.minimum(eta, _HIGHEST))
    low = np.exp(-rate)
    density = rate * low
    return low, -np.expm1(-rate), density, density * (1 - rate)


def _cauchit(eta: Array) -> tuple[Array, Array, Array, Array]:
    """F = 1/2 + arctan(eta) / pi,  f = 1 / (pi (1 + eta^2)),  f' = -2 eta f / (1 + eta^2)."""
    square = 1 + eta**2
    density = 1 / (np.pi * square)
    one = np.ones_like(eta)
    return np.arctan2(one, eta) / np.pi, np.arctan2(one, -eta) / np.pi, density, -2 * eta * density / square


LOGIT = Link("logit", _logit, special.logit)
PROBIT = Link("probit", _probit, special.ndtri)
CLOGLOG = Link("cloglog", _cloglog, lambda share: np.log(-np.log1p(-share)))
CAUCHIT = Link("cauchit", _cauchit, lambda share: np.tan(np.pi * (share - 0.5)))
