"""One question and what is wanted of it: the loss of a channel, and the rows that the best channels are made of.

A question has t possible answers with shares pi; wanted are the functionals W pi. A report through a channel Q carries
the Fisher information F = Q' diag(1 / Q pi) Q, and with n respondents the best regular estimator's variances sum to
loss / n,

    loss(Q) = tr(W F^+ W') - |W pi|^2  =  tr(V F^+ V'),     V = W - (W pi) 1',

provided that every wanted row lies in the row space of Q: F^+ gives finite errors to what was never asked as well.

Rows of an epsilon-LDP channel stay within a factor e^epsilon. Every such row is a sum of *patterns*, rows of two values
1 : e^epsilon; splitting a report into the patterns it is made of only adds information, so the best channels consist of
patterns, whatever is wanted and whatever the truth. A pattern is the set of truths with the large value. Scaled to
x = z / (z . pi) and used with probability p, patterns make a channel when sum p x = 1, with F = sum p x x'.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, isfinite
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.input_coercion import in_order
from deniable.device.epsilon import exp_below
from deniable.errors import InputError, NotIdentifiedError
from deniable.frozen import Frozen, readonly

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_ESTIMABLE = 1e-8
_NO_INFORMATION = 1e-11  # of the largest eigenvalue of F


@dataclass(frozen=True, eq=False)
class Problem(Frozen):
    """What is wanted of one question, at which epsilon, judged at which truth.

    Attributes:
        wanted: W, a row a wanted number, a column a possible answer.
        shares: the assumed truth up to a factor: numbers from 0, exactly as given.
        epsilon: the asked epsilon.
    """

    wanted: NDArray[np.float64]
    shares: NDArray[np.float64]
    epsilon: float

    @classmethod
    def of(cls, wanted: ArrayLike, epsilon: float, truth: ArrayLike | None = None) -> Problem:
        """Read what a user gives; one functional may be a plain list, and no truth means even shares."""
        rows = np.atleast_2d(in_order(wanted, "wanted functionals"))
        if rows.ndim != 2 or rows.shape[1] < 2 or not np.isfinite(rows).all():
            raise InputError(
                f"wanted are functionals as rows, with a number for each of at least two possible answers; got an "
                f"array of shape {np.shape(wanted)}"
            )
        exp_below(epsilon)  # refuses an epsilon that is none
        t = rows.shape[1]
        shares = np.ones(t) if truth is None else in_order(truth, "shares of a channel's truths").ravel()
        if shares.shape != (t,) or not isfinite(total := float(shares.sum())) or not (shares >= 0).all() or total <= 0:
            raise InputError(
                f"the assumed truth must be {t} shares, a possible answer each, none negative; got {truth!r}",
                expected=t,
            )
        made = cls(rows, shares, float(epsilon))
        if not np.abs(made.centred).max() > 1e-12 * np.abs(rows).max():
            raise InputError("every wanted number is the same for all answers: there is nothing to be learned")
        return made

    @property
    def answers(self) -> int:
        """How many possible answers the question has."""
        return int(self.wanted.shape[1])

    @property
    def is_even(self) -> bool:
        """Whether the assumed truth is even shares."""
        return bool((self.shares == self.shares[0]).all())

    @cached_property
    def truth(self) -> NDArray[np.float64]:
        """The assumed truth, summing to one."""
        return readonly(self.shares / self.shares.sum())

    @cached_property
    def centred(self) -> NDArray[np.float64]:
        """W - (W pi) 1'."""
        return readonly(self.wanted - (self.wanted @ self.truth)[:, None])

    @cached_property
    def gram(self) -> NDArray[np.float64]:
        """The centred rows' products V'V: all that the loss knows of what is wanted."""
        return readonly(self.centred.T @ self.centred)

    @property
    def large(self) -> float:
        """The larger value of a pattern, where the smaller is 1."""
        return exp(self.epsilon)

    def rows(self, patterns: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Patterns as rows x = z / (z . pi)."""
        z = np.where(patterns, self.large, 1.0)
        return z / (z @ self.truth)[:, None]

    def loss(self, channel: ArrayLike) -> float:
        """Return n times the summed variance of the wanted numbers from n reports through the channel with this matrix.

        >>> krr = [[0.75, 0.25], [0.25, 0.75]]
        >>> Problem.of([0, 1], 1.0).loss(krr)  # lambda (1 - lambda) / (1/2)^2
        1.0
        """
        matrix = np.asarray(channel, dtype=np.float64)
        lam = matrix @ self.truth
        seen = lam > 0  # a report that never occurs tells nothing
        information = matrix[seen].T @ (matrix[seen] / lam[seen, None])
        inverse = np.linalg.pinv(information, rcond=_NO_INFORMATION, hermitian=True)
        missed = np.abs(self.wanted - self.wanted @ inverse @ information).max()
        if missed > _ESTIMABLE * np.abs(self.wanted).max():
            raise NotIdentifiedError(
                "some wanted numbers do not lie in the row space of the channel: its reports tell nothing about them",
                missed=missed,
            )
        return float(np.trace(self.centred @ inverse @ self.centred.T))
