"""Maximum likelihood for many replicates at once: EM through the channels, accelerated, under any `Model`.

For observations with counts y_o and channels P_o, a table pi of a model, and g the gradient of the log-likelihood

    g = sum over o of  M_o' P_o' (y_o / P_o M_o pi),

EM goes from pi to the model's best table for the complete counts pi g. SQUAREM extrapolates two such steps; the leap is
brought back into the model, and undone for the replicates it does not help. A replicate rests once its certified gap is
small enough. One observation through a k-RR or mixture channel needs no iteration: `water_fill`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable.domain import Domain
from deniable.errors import ConvergenceError
from deniable.estimation.em import refuse_sets
from deniable.inference.models import Model, Saturated
from deniable.tables.marginals import spread, summed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.designs.observation import Observation

GAP = 1e-6  # nats left to gain, for tests
_FLOOR = 1e-3  # an extrapolation may shrink a cell at most this much at once: EM never revives a zero
_MOST = 20_000  # cycles before giving up
_MIXED = 0.01  # share of the even table in a start, so that no cell starts at zero


@dataclass(frozen=True, eq=False)
class Fitted:
    """Tables with a last axis of replicates, and each replicate's log-likelihood (coefficients left out)."""

    pi: NDArray[np.float64]
    loglik: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Part:
    """One table, the model it follows and the observations that speak of it."""

    observations: Sequence[Observation]
    model: Model

    def __post_init__(self) -> None:
        refuse_sets(self.observations)

    @cached_property
    def domain(self) -> Domain:
        """Every attribute that some observation speaks of."""
        return Domain(list({v.name: v for o in self.observations for v in o.domain.values()}.values()))

    @property
    def counts(self) -> list[NDArray[np.float64]]:
        """The observed counts as one replicate."""
        return [o.counts[..., None] for o in self.observations]

    def expected(self, pi: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """The reports' distribution, of every observation."""
        out = []
        for o in self.observations:
            own = summed(pi, self.domain, o.domain)
            out.append(o.channel.apply(own.reshape(*o.channel.input_shape, pi.shape[-1])))
        return out

    def evaluate(
        self, pi: NDArray[np.float64], counts: Sequence[NDArray[np.float64]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Log-likelihood of each replicate and its gradient."""
        loglik, gradient = np.zeros(pi.shape[-1]), np.zeros(pi.shape)
        for o, y, lam in zip(self.observations, counts, self.expected(pi), strict=True):
            seen = y > 0  # a report that did not come contributes neither 0 log 0 nor 0 / 0
            safe = np.where(seen, lam, 1.0)
            with np.errstate(divide="ignore"):  # a possible report at lambda = 0 has a log-likelihood of -infinity
                loglik += (y * np.log(safe)).sum(axis=tuple(range(y.ndim - 1)))
                pulled = o.truth_shape(o.channel.adjoint(np.where(seen, y / safe, 0.0)))
            gradient += spread(pulled, o.domain, self.domain)
        return loglik, gradient

    def start(self, replicates: int, near: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """A table with no empty cell for every replicate: the even one, or one near a given table."""
        even = np.full((*self.domain.shape, replicates), 1 / self.domain.cells)
        return self.model.maximize(even if near is None else _MIXED * even + (1 - _MIXED) * near)

    def fit(
        self,
        counts: Sequence[NDArray[np.float64]] | None = None,
        *,
        near: NDArray[np.float64] | None = None,
        gap: float = GAP,
    ) -> Fitted:
        """Fit every replicate of `counts` (the observed ones by default), starting near a given table."""
        given = self.counts if counts is None else list(counts)
        replicates = given[0].shape[-1]
        exact = self._exact(given)
        if exact is not None:
            return Fitted(exact, self.evaluate(exact, given)[0])
        pi = self.start(replicates, near)
        loglik, gradient = self.evaluate(pi, given)
        done, result = np.empty_like(pi), np.empty(replicates)
        waiting, model, cap = np.arange(replicates), self.model, np.full(replicates, np.inf)
        for _ in range(_MOST):
            left = model.gap(pi, gradient)
            going = ~(left <= gap)  # so that a NaN goes on and is found out
            if not going.all():
                done[..., waiting[~going]], result[waiting[~going]] = pi[..., ~going], loglik[~going]
                if not going.any():
                    return Fitted(done, result)
                waiting, pi, loglik, gradient = waiting[going], pi[..., going], loglik[going], gradient[..., going]
                given, model, cap = [y[..., going] for y in given], model.among(going), cap[going]
            pi, loglik, gradient, cap = self._cycle(model, given, pi, gradient, cap)
        raise ConvergenceError(
            f"{len(waiting)} of {replicates} fits still had {float(left.max()):.3g} nats to gain after {_MOST} cycles "
            f"(wanted {gap:g}); there are too many cells for the reports at hand",
            gap=float(left.max()),
        )

    def _exact(self, counts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64] | None:
        """The best table in closed form, where each cell has a report of its own: pi_v = (lambda_v - o_v) / s."""
        affine = self.observations[0].channel.affine()
        if len(self.observations) > 1 or not isinstance(self.model, Saturated) or affine is None:
            return None
        scale, offset = affine
        flat = counts[0].reshape(len(offset), -1)
        if len(scale) == 2 and scale[0] < 0:
            # A device that turns answers round (crosswise with p < 1/2): count each report under the other's name.
            scale, offset, flat = -scale, 1 - offset, flat[::-1]
        if scale[0] <= 0 or np.ptp(scale) > 1e-12:
            return None
        return ((water_fill(flat, offset) - offset[:, None]) / scale[0]).reshape(*self.domain.shape, -1)

    def _cycle(
        self,
        model: Model,
        counts: list[NDArray[np.float64]],
        pi: NDArray[np.float64],
        gradient: NDArray[np.float64],
        cap: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """One SQUAREM cycle: two steps, a leap, and for replicates that the leap made worse the plain second step."""
        cells = tuple(range(pi.ndim - 1))
        first = model.maximize(pi * gradient)
        at_first, slope = self.evaluate(first, counts)
        second = model.maximize(first * slope)
        r = first - pi
        v = second - first - r
        length = np.sqrt((v**2).sum(axis=cells))
        stride = np.sqrt((r**2).sum(axis=cells))
        alpha = np.minimum(np.maximum(1.0, np.divide(stride, length, out=np.ones_like(stride), where=length > 0)), cap)
        leap = model.maximize(np.maximum(pi + 2 * alpha * r + alpha**2 * v, _FLOOR * second))
        loglik, gradient = self.evaluate(leap, counts)
        worse = ~(loglik >= at_first)
        if worse.any():
            # Plain steps never lose; a leap that did is not tried as far again.
            leap[..., worse] = second[..., worse]
            part = [y[..., worse] for y in counts]
            loglik[worse], gradient[..., worse] = self.evaluate(second[..., worse], part)
        return leap, loglik, gradient, np.where(worse, np.maximum(1.0, alpha / 4), np.minimum(cap * 4, 1e9))


def water_fill(counts: NDArray[np.float64], floor: NDArray[np.float64]) -> NDArray[np.float64]:
    """Maximize sum c_u log x_u over x_u >= floor_u, sum x = 1, for every replicate (last axis).

    The best x is max(floor, c / mu) with mu such that it sums to one. With the cells in descending order of
    c_u / floor_u, the first j lie above their floors: mu = (c_1 + ... + c_j) / (1 - floor_{j+1} - ...), for the largest
    j that keeps cell j above its floor.

    >>> water_fill(np.array([[90.0], [10.0], [0.0]]), np.array([0.2, 0.2, 0.2])).ravel().round(3).tolist()
    [0.6, 0.2, 0.2]
    """
    low = floor[:, None]
    # Without a floor a cell lies above it if it has any count at all.
    above = np.divide(counts, low, out=np.where(counts > 0, np.inf, -1.0), where=low > 0)
    order = np.argsort(-above, axis=0)
    c, f = np.take_along_axis(counts, order, axis=0), floor[order]
    mu = np.cumsum(c, axis=0) / (1 - f.sum(axis=0) + np.cumsum(f, axis=0))
    last = (c > mu * f).sum(axis=0) - 1  # the condition holds for the first cells and for no later one
    return np.maximum(low, counts / np.take_along_axis(mu, last[None, :], axis=0))


def saturated(observations: Sequence[Observation]) -> Part:
    """Any table over what the observations speak of."""
    return Part(observations, Saturated())
