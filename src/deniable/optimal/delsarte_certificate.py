"""A proof that no design does better, for many attributes: sets of cells have no more than so much of a distance.

At even shares, and for any weights w_r from 0 of the classes of sets of attributes (`hamming`),

    loss >= S^2 / M,    S = sum of the singular values of what is wanted, the contrasts of class r times sqrt(w_r),
                        M = the largest  sum over r of w_r W_r  that a report has,

where W_r = sum over sets S of class r of |f^S|^2 for the report's density f, which has mean 1 over the cells: as in the
closed form (`floor`), by Cauchy and Schwarz for the information weighted in this way. W_r is convex in f, so that M is
reached where f has two values in the ratio e^eps, the larger on N of the t cells. With g = e^eps - 1 and a_x the pairs
of these N cells at a distance of class x, over N,

    W_r = g^2 N / (t + g N)^2  sum over x of a_x K_r(x),    a_0 = 1,    sum of a_x = N,    a_x >= 0,
                                                            sum over x of a_x K_r(x) >= 0 for every r, a square.

Forgetting everything else about the N cells leaves a linear program (Delsarte 1973). For *any* b_r >= 0 (r not 0) put

    c_x = sum over r of w_r K_r(x),     A = c_0 + sum over r of b_r K_r(0),
    d = the largest  c_x + sum over r of b_r K_r(x)  of all x but 0.

Then sum over r of w_r W_r <= g^2 N (A + d (N - 1)) / (t + g N)^2: add b_r times the r-th square to what is maximised.
The slope of this by N changes its sign once at most (it is that of a linear function), so that a pair (A, d) bounds a
whole range of N; a certificate has one for each of some ranges that together are 1 to t - 1.

Weights and b are doubles, and doubles are fractions. M is computed from them in whole numbers and fractions, with e^eps
replaced by a fraction above it (g^2 N / (t + g N)^2 rises with g). S is exact but for roots, rounded down, where tables
and associations are wanted; see `Contrasts.weighted_sum_below`. How weights and b were found plays no part.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, lcm, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.device.epsilon import exp_above, float_below
from deniable.errors import DesignError, InputError
from deniable.frozen import Frozen
from deniable.optimal.certificate_file import Proof, contrasts_from_dict, contrasts_to_dict, epsilon_of, names_of
from deniable.optimal.hamming_scheme import Hamming

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.aims.contrasts import Contrasts

_MOST_CLASSES = 1024  # of sets of attributes: polynomials are a table of their squares
_STEPS = 1 << 60  # parts of one that e^eps - 1 is rounded up to


@dataclass(frozen=True)
class Piece(Frozen):
    """What bounds reports whose larger probability is that of so many cells.

    Attributes:
        last: up to how many cells, from one more than the piece before it.
        b: the multipliers b_r, one for each class but the first.
    """

    last: int
    b: tuple[float, ...]


@dataclass(frozen=True, eq=False, repr=False)
class DelsarteCertificate(Proof):
    """Weights of sets of attributes, and multipliers, which prove that no design has a smaller loss than `bound`.

    Attributes:
        contrasts: what is wanted, at even shares.
        epsilon: the asked epsilon.
        groups: attributes that are counted together.
        weights: w_r, one for each class of sets; that of no attribute is 0.
        pieces: multipliers for every number of cells.
    """

    contrasts: Contrasts
    epsilon: float
    groups: tuple[tuple[str, ...], ...]
    weights: tuple[float, ...]
    pieces: tuple[Piece, ...]

    kind = "delsarte"

    @cached_property
    def bound(self) -> float:
        """The proven bound, rounded down."""
        return self.check()

    def check(self) -> float:
        """Prove the bound from the weights and multipliers, in fractions, and return it.

        Raises:
            DesignError: they prove nothing.
        """
        hamming = Hamming(self.contrasts.domain, self.groups)
        k = hamming.polynomials
        sizes = {len(k), *(len(piece.b) + 1 for piece in self.pieces)}
        lasts = [piece.last for piece in self.pieces]
        cells = self.contrasts.domain.cells
        rising = all(one < other for one, other in pairwise([0, *lasts]))
        if sizes != {len(self.weights)} or not lasts or lasts[-1] != cells - 1 or not rising:
            raise DesignError("this certificate proves nothing: its pieces do not cover all reports")
        if self.weights[0] != 0 or min(self.weights) < 0 or any(min(piece.b, default=0) < 0 for piece in self.pieces):
            raise DesignError("this certificate proves nothing: a weight or a multiplier is below 0")
        weights = [Fraction(one) for one in self.weights]
        rewards = _combined(weights, k)
        most, first = Fraction(0), 1
        gain = Fraction(ceil((exp_above(self.epsilon) - 1) * _STEPS), _STEPS)
        for piece in self.pieces:
            squares = _combined([Fraction(0), *map(Fraction, piece.b)], k)
            raised = [one + more for one, more in zip(rewards, squares, strict=True)]
            most = max(most, _largest(raised[0], max(raised[1:]), (first, piece.last), cells, gain))
            first = piece.last + 1
        if most <= 0:
            raise DesignError("this certificate proves nothing: it has no weights")
        total = self.contrasts.weighted_sum_below(lambda names: weights[hamming.place(names)])
        return float_below(total**2 / most)

    @property
    def of(self) -> str:
        """What is wanted, in words."""
        return names_of(self.contrasts)

    @property
    def where(self) -> str:
        """At which epsilon, and of which truth."""
        return f"at epsilon {self.epsilon:g}, at even shares"

    def to_dict(self) -> dict[str, Any]:
        """What is wanted, and what proves it."""
        pieces = [{"last": piece.last, "b": piece.b} for piece in self.pieces]
        found = {"epsilon": self.epsilon, "groups": self.groups, "weights": self.weights, "pieces": pieces}
        return contrasts_to_dict(self.contrasts) | found

    @classmethod
    def from_dict(cls, known: Mapping[str, Any]) -> DelsarteCertificate:
        """The certificate of what `to_dict` has written."""
        groups = tuple(tuple(group) for group in known["groups"])
        if prod(len(group) + 1 for group in groups) > _MOST_CLASSES:
            raise InputError(f"a certificate has at most {_MOST_CLASSES} classes of sets of attributes")
        pieces = tuple(Piece(int(one["last"]), tuple(map(float, one["b"]))) for one in known["pieces"])
        weights = tuple(map(float, known["weights"]))
        return cls(contrasts_from_dict(known), epsilon_of(known), groups, weights, pieces)

    def __repr__(self) -> str:
        return f"<DelsarteCertificate: loss at least {self.bound:.6g} {self.where}>"


def _combined(weights: Sequence[Fraction], polynomials: NDArray[Any]) -> list[Fraction]:
    """The sum over r of w_r K_r(x), for every x."""
    common = lcm(*(one.denominator for one in weights))
    whole = np.array([int(one * common) for one in weights], dtype=object)
    return [Fraction(int(one), common) for one in whole @ polynomials]


def _largest(a: Fraction, d: Fraction, ends: tuple[int, int], cells: int, gain: Fraction) -> Fraction:
    """The largest g^2 N (A + d (N - 1)) / (t + g N)^2 for N from one end to the other."""
    first, last = ends
    # With A' = A - d, the derivative by N has the sign of A' t + N (2 d t - A' g).
    less = a - d
    slope = 2 * d * cells - less * gain
    turn = Fraction(last) if slope >= 0 else less * cells / -slope
    near = [n for n in (int(turn), int(turn) + 1) if first <= n <= last]
    sizes = {first, last, *near}
    return max(gain**2 * n * (less + d * n) / (cells + gain * n) ** 2 for n in sizes)
