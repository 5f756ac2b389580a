"""Responses: what one row contributes to the likelihood, with its first two derivatives.

A row's report has the probability  L = sum over truths v of r_v pi_v(eta),  where r_v = P[report, v] is the channel's
row and eta the linear predictors, one per equation. A direct question is the channel that changes nothing.

Of the second derivatives only sums over rows are ever needed, weighted and beside the rows' designs: a `Curve` says how
they are summed, so that a response whose derivatives have a structure never writes them out row by row.

Links: how a linear predictor becomes the probability of the sensitive category.

F(eta) = Pr(truth 1). Both tails are computed on their own, since 1 - F is rounding error where F is close to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy import special

from deniable.frozen import readonly

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


class Curve(Protocol):
    """The Hessians of rows in their linear predictors, h_kl."""

    def summed(self, weight: Array, left: Array, right: Array, between: tuple[int, int]) -> Array:
        """Sum over rows of  weight h_kl x_k x_l'  for the equations (k, l) and their designs."""

    def shared(self, weight: Array, design: Array) -> Array:
        """The same for all equations at once, where they have one design: (m q, m q), equation by equation."""


@dataclass(frozen=True)
class Written:
    """Hessians that are written out, (n, m, m)."""

    rows: Array

    def summed(self, weight: Array, left: Array, right: Array, between: tuple[int, int]) -> Array:
        """Sum over rows for two equations."""
        return np.asarray(left.T @ ((weight * self.rows[:, *between])[:, None] * right))

    def shared(self, weight: Array, design: Array) -> Array:
        """Sum over rows for all of them."""
        m, q = self.rows.shape[1], design.shape[1]
        curve = weight * self.rows.reshape(-1, m * m).T
        found = (curve @ _squares(design).T).reshape(m, m, q, q)
        return np.asarray(found.transpose(0, 2, 1, 3).reshape(m * q, m * q))


@dataclass(frozen=True)
class Spread:
    """(diag(q) - q q') - (diag(pi) - pi pi')  row by row, for shares q after and pi before the report is known.

    Their sum needs the two matrices of shares alone, (n, m) each: m times less than what is summed.
    """

    after: Array
    before: Array

    def summed(self, weight: Array, left: Array, right: Array, between: tuple[int, int]) -> Array:
        """Sum over rows for two equations."""
        k, other = between
        curve = self.before[:, k] * self.before[:, other] - self.after[:, k] * self.after[:, other]
        if k == other:
            curve += self.after[:, k] - self.before[:, k]
        return np.asarray(left.T @ ((weight * curve)[:, None] * right))

    def shared(self, weight: Array, design: Array) -> Array:
        """Sum over rows for all of them."""
        m, q = self.after.shape[1], design.shape[1]
        found = _square(self.before, design, weight) - _square(self.after, design, weight)
        own = ((weight * (self.after - self.before).T) @ _squares(design).T).reshape(m, q, q)
        every = np.arange(m)
        found.reshape(m, q, m, q)[every, :, every, :] += own
        return found


def _square(shares: Array, design: Array, weight: Array) -> Array:
    """Sum over rows of  weight (p x) (p x)'  for every share p of a row and every column x of its design."""
    root = np.sqrt(weight) * design.T  # a matrix times itself takes half of a product
    spread = (shares.T[:, None, :] * root).reshape(-1, len(shares))
    return np.asarray(spread @ spread.T)


def _squares(design: Array) -> Array:
    """Every product of two columns of the design, one a row (q q, n)."""
    columns = np.ascontiguousarray(design.T)
    return (columns[:, None] * columns).reshape(-1, len(design))


class Response(Protocol):
    """A row's log-likelihood as a function of its linear predictors."""

    @property
    def equations(self) -> int:
        """How many linear predictors a row has."""

    def parts(self, eta: Array, data: Array) -> tuple[Array, Array, Curve]:
        """Log L (n), its gradient (n, m) and its Hessian (n, m, m) in eta (n, m)."""


class Categorical(Response, Protocol):
    """A response whose truth is a category."""

    @property
    def categories(self) -> int:
        """How many categories the truth has."""

    def shares(self, eta: Array) -> tuple[Array, Array, Array]:
        """Pi (n, K) and its first (n, K, m) and second (n, K, m, m) derivatives in eta."""


@dataclass(frozen=True)
class Binary:
    """Two categories: pi_1 = F(eta), pi_0 = 1 - F(eta).

    With d = r_1 - r_0:  L = r_0 (1 - F) + r_1 F,  score = d f / L,  Hessian = d f' / L - score^2.
    """

    link: Link
    equations: int = 1
    categories: int = 2

    def parts(self, eta: Array, data: Array) -> tuple[Array, Array, Curve]:
        """Log L, score and Hessian."""
        low, high, density, slope = self.link.parts(eta[:, 0])
        chance = data[:, 0] * low + data[:, 1] * high
        change = (data[:, 1] - data[:, 0]) / chance
        score = change * density
        return np.log(chance), score[:, None], Written((change * slope - score**2)[:, None, None])

    def shares(self, eta: Array) -> tuple[Array, Array, Array]:
        """Pi = (1 - F, F) and derivatives."""
        low, high, density, slope = self.link.parts(eta[:, 0])
        sides = np.array([-1.0, 1.0])
        first, second = density[:, None] * sides, slope[:, None] * sides
        return np.stack([low, high], axis=1), first[:, :, None], second[:, :, None, None]


@dataclass(frozen=True)
class Softmax:
    """K categories, the first is the reference: pi_k = e^eta_k / (1 + sum of e^eta).

    With q_k = r_k pi_k / L, the probability of truth k once the report is known:  score = q - pi,  and
    Hessian = (diag(q) - q q') - (diag(pi) - pi pi').
    """

    categories: int

    @property
    def equations(self) -> int:
        """One per category but the first."""
        return self.categories - 1

    def before(self, eta: Array) -> Array:
        """Pi (n, K)."""
        return self._before(eta).T

    def _before(self, eta: Array) -> Array:
        """The same by category (K, n): sums over few categories then run over many rows at a time."""
        full = np.zeros((self.categories, len(eta)))
        full[1:] = eta.T
        power = np.exp(full - full.max(axis=0))
        return np.asarray(power / power.sum(axis=0))

    def parts(self, eta: Array, data: Array) -> tuple[Array, Array, Curve]:
        """Log L, score and Hessian."""
        pi = self._before(eta)
        joint = data.T * pi
        chance = joint.sum(axis=0)
        posterior, prior = (joint[1:] / chance).T, pi[1:].T
        return np.log(chance), posterior - prior, Spread(posterior, prior)

    def shares(self, eta: Array) -> tuple[Array, Array, Array]:
        """Pi, and  d pi_v / d eta_k = pi_v ([v = k] - pi_k)  differentiated once more."""
        pi = self.before(eta)
        unit = np.eye(self.categories)[:, 1:]
        away = unit[None] - pi[:, None, 1:]  # [v = k] - pi_k
        first = pi[:, :, None] * away
        second = first[:, :, :, None] * away[:, :, None, :] - pi[:, :, None, None] * _spread(pi[:, 1:])[:, None]
        return pi, first, second


@dataclass(frozen=True)
class Normal:
    """A number with normal errors; its two equations are the mean and the logarithm of the standard deviation.

    With e = (y - mean) / sigma:  log L = -log sigma - e^2 / 2 - log(2 pi) / 2.
    """

    equations: int = 2

    def parts(self, eta: Array, data: Array) -> tuple[Array, Array, Curve]:
        """Log L, score and Hessian."""
        inverse = np.exp(-eta[:, 1])
        error = (data[:, 0] - eta[:, 0]) * inverse
        score = np.array([error * inverse, error**2 - 1]).T
        cross = -2 * error * inverse
        hessian = np.array([[-(inverse**2), cross], [cross, -2 * error**2]]).transpose(2, 0, 1)
        return -eta[:, 1] - error**2 / 2 - np.log(2 * np.pi) / 2, score, Written(hessian)


def _spread(shares: Array) -> Array:
    """diag(p) - p p', row by row."""
    return shares[:, :, None] * (_unit(shares.shape[1])[None] - shares[:, None, :])


@cache
def _unit(size: int) -> Array:
    return readonly(np.eye(size))
