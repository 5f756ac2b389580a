"""A hypothesis about what some observations speak of, fitted by the engine: many replicates at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.fit.engine import Fitted, fit
from deniable.estimation.fit.evidence import Evidence, of_counts
from deniable.estimation.fit.models import Model, Saturated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.designs.observation import Observation
    from deniable.domain import Domain

GAP = 1e-6  # nats left to gain, for tests
_MOST = 60_000  # evaluations before giving up
_MIXED = 0.01  # share of the even table in a start, so that no cell starts at zero


@dataclass(frozen=True, eq=False)
class Part:
    """One table, the model it follows and the observations that speak of it."""

    observations: Sequence[Observation]
    model: Model

    @cached_property
    def domain(self) -> Domain:
        """Every attribute that some observation speaks of."""
        return self.evidence.domain

    @cached_property
    def evidence(self) -> Evidence:
        """What the observations say, a group each."""
        return of_counts(self.observations)

    @property
    def counts(self) -> list[NDArray[np.float64]]:
        """The observed counts as one replicate."""
        return [o.counts[..., None] for o in self.observations]

    def expected(self, pi: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """The reports' distribution, of every observation."""
        lam = self.evidence.forward(pi)
        return [
            lam[here].reshape(*o.channel.output_shape, -1)
            for o, here in zip(self.observations, self.evidence.places, strict=True)
        ]

    def evaluate(
        self, pi: NDArray[np.float64], counts: Sequence[NDArray[np.float64]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Log-likelihood of each replicate and its gradient."""
        return self.evidence.evaluate(pi, _flat(counts))

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
        y = _flat(self.counts if counts is None else counts)
        return fit(self.evidence, self.model, y, starts=[self.start(y.shape[1], near)], gap=gap, most=_MOST)


def _flat(counts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate([y.reshape(-1, y.shape[-1]) for y in counts])


def saturated(observations: Sequence[Observation]) -> Part:
    """Any table over what the observations speak of."""
    return Part(observations, Saturated())
