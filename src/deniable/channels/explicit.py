"""The algebra of a channel that holds P and its left inverse Q as matrices: what small channels of any form share."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels.base import Channel

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Explicit(Channel):
    """A channel that supplies `_p` and `_q`, Q P = I, and inherits every operation."""

    @cached_property
    @abstractmethod
    def _p(self) -> NDArray[np.float64]: ...

    @cached_property
    @abstractmethod
    def _q(self) -> NDArray[np.float64]: ...

    def _matrix(self) -> NDArray[np.float64]:
        return self._p.copy()

    def _apply(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._p @ x

    def _adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._p.T @ y

    def _solve(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._q @ x

    def _solve_adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._q.T @ y

    def _solve_squared(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._q**2 @ x

    def _spread(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        d = self._q**2 @ self._p
        return np.diagonal(d).copy(), d.sum(axis=1)
