"""The algebra of a channel that holds P and its left inverse Q as matrices: what small channels of any form share.

Where reports outnumber truths, the inverse is the least-squares one weighted for evenly spread truths: fixed in
advance, so that estimates stay linear and unbiased; maximum likelihood does the rest.

A channel of integers may be *partial*: several truths give reports that no sum tells apart, as where only a mean is
asked. What it tells are the functionals w . pi with w in the row space of P; `solve_adjoint` gives the weights of the
reports for these and refuses others, and there is no table to `solve` for.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels.channel import Channel
from deniable.errors import SingularChannelError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

WORST_CONDITION = 1e12  # beyond this the inverse of P is rounding error
_TOLD = 1e-8  # how far outside the row space a functional may lie, by rounding


def left_inverse(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Q of least variance at evenly spread truths, of a matrix that tells every truth, or of each of a stack."""
    weighted = _weighted(p)
    return np.asarray(np.linalg.solve(weighted @ p, weighted), dtype=np.float64)


def _weighted(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """P' by the inverse of the reports' shares there, near their variances; a report that never comes has no weight."""
    lam = p.mean(axis=-1)
    return np.asarray(np.swapaxes(p, -1, -2) / np.where(lam > 0, lam, np.inf)[..., None, :], dtype=np.float64)


class Explicit(Channel):
    """A channel that supplies `_p` and `_q`, Q P = I, and inherits every operation."""

    @cached_property
    @abstractmethod
    def _p(self) -> NDArray[np.float64]: ...

    @cached_property
    @abstractmethod
    def _q(self) -> NDArray[np.float64]: ...

    @cached_property
    def condition(self) -> float:
        """The condition number of P: how much the inverse can magnify noise."""
        return float(np.linalg.cond(self._p))

    @cached_property
    def is_partial(self) -> bool:  # type: ignore[override]
        """Whether the reports tell only some functionals of the truth's shares."""
        return self.outputs < self.inputs or self.condition > WORST_CONDITION

    def tells(self, w: ArrayLike) -> bool:
        """Whether reports tell w . pi: whether w lies in the row space of P."""
        row = np.asarray(w, dtype=np.float64).ravel()
        missed = row - self._p.T @ (self._q.T @ row)
        return bool(np.abs(missed).max() <= _TOLD * np.abs(row).max())

    def _refuse_if_partial(self) -> None:
        if self.is_partial:
            raise SingularChannelError(
                f"{self.name} tells only some sums of the shares, and this is none of them, or the table of all. Ask "
                f"`tells` which it tells, or collect through a channel that is made for what is wanted",
                condition=self.condition,
            )

    def _left_inverse(self) -> NDArray[np.float64]:
        """Q: the inverse of a square P, else that of least variance at evenly spread truths."""
        p = self._p
        if self.inputs == self.outputs and not self.is_partial:
            return np.asarray(np.linalg.inv(p), dtype=np.float64)
        if self.is_partial:
            # Of all weights with P'g = w, those of least variance; for w outside the row space there are none.
            weighted = _weighted(p)
            return np.asarray(np.linalg.pinv(weighted @ p, rcond=1e-11, hermitian=True) @ weighted)
        return left_inverse(p)

    def _matrix(self) -> NDArray[np.float64]:
        return self._p.copy()

    def _apply(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._p @ x

    def _adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._p.T @ y

    def _solve(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        self._refuse_if_partial()
        return self._q @ x

    def _solve_adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.is_partial and not all(self.tells(row) for row in np.moveaxis(y, 1, 2).reshape(-1, self.inputs)):
            self._refuse_if_partial()
        return self._q.T @ y

    def _solve_squared(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        self._refuse_if_partial()
        return self._q**2 @ x

    def _spread(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        self._refuse_if_partial()
        d = self._q**2 @ self._p
        return np.diagonal(d).copy(), d.sum(axis=1)
