"""Hadamard response: report a column of a Hadamard matrix that the truth's row likes.

H[w, u] = (-1)^(number of common binary digits of w and u) has K rows and columns, K the next power of two above the
number of categories; row w = v + 1 belongs to category v, and half of its entries are +1. A column u is reported with
a / 2^bits if H[w, u] = +1, and b / 2^bits if -1 (Acharya, Sun & Zhang 2019):

    P = ((a + b) 11' + (a - b) H') / 2^(bits + 1),     Q = 2^(bits + 1) / ((a - b) K) H,     ratio = a / b,

because the rows of H are orthogonal to each other and to 1. Reports are categories, so that every estimator and test
for categories holds, and P and Q cost K log K operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.channel import Channel
from deniable.channels.integer_weights import narrowest, whole, width
from deniable.device.channels.hadamard import MOST_CATEGORIES
from deniable.device.epsilon import exp_below
from deniable.errors import DesignError, ProbabilityError
from deniable.frozen import fix

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False, init=False)
class HadamardResponse(Channel):
    """Hadamard response of k categories with total budget epsilon.

    Half of the K columns are reported by b = `other` draws each, the other half by a = 2^(bits + 1) / K - b.

    >>> channel = HadamardResponse(100, epsilon=1.0)
    >>> channel.outputs, channel.epsilon <= 1.0
    (128, True)
    >>> even = np.full(100, 0.01)
    >>> bool(np.allclose(channel.solve(channel.apply(even)), even))
    True
    """

    kind = "hadamard"
    is_answer = False
    treats_alike = True

    inputs: int
    other: int
    bits: int

    def __init__(
        self, k: int, epsilon: float | None = None, *, other: int | None = None, bits: int | None = None
    ) -> None:
        """Take either `epsilon`, or the integers `other` and `bits` themselves."""
        k = whole(k, "k")
        if not 2 <= k <= MOST_CATEGORIES:
            raise DesignError(f"Hadamard response takes 2 to {MOST_CATEGORIES} categories, not {k}", k=k)
        if epsilon is not None:
            made = narrowest(epsilon, lambda width: _within(k, epsilon, width), f"HadamardResponse({k})")
            other, bits = made.other, made.bits
        if other is None or bits is None:
            raise DesignError("HadamardResponse needs an epsilon (or the integers other= and bits=)")
        other, bits = whole(other, "other"), width(bits)
        fix(self, inputs=k, other=other, bits=bits)
        if not 1 <= other < self.keep:
            raise ProbabilityError(
                f"{self.name} reports a column the truth likes by {self.keep} and another by {other} of 2^{bits} "
                f"draws; the second number must be at least 1 and the first larger",
                other=other,
                bits=bits,
            )

    def _given(self) -> dict[str, Any]:
        return {"k": self.inputs, "other": self.other, "bits": self.bits}

    @cached_property
    def outputs(self) -> int:  # type: ignore[override]
        """K, the next power of two above the number of categories."""
        return 1 << self.inputs.bit_length()

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is called in messages."""
        return f"HadamardResponse({self.inputs})"

    @property
    def _both(self) -> int:
        """A + b: the draws of a pair of columns, one of each half; a power of two."""
        return (2 << self.bits) // self.outputs

    @property
    def keep(self) -> int:
        """Draws that lead to a given column of the truth's half: a."""
        return self._both - self.other

    @cached_property
    def ratio(self) -> Fraction:
        """A / b."""
        return Fraction(self.keep, self.other)

    def _rows(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The rows 1 .. k of H times x, along the middle axis."""
        return walsh_hadamard(x)[:, 1 : self.inputs + 1]

    def _columns(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Their transposes times x: H is symmetric."""
        full = np.zeros((x.shape[0], self.outputs, x.shape[2]))
        full[:, 1 : self.inputs + 1] = x
        return walsh_hadamard(full)

    def _apply(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        scale = 2.0 ** -(self.bits + 1)
        return scale * ((self.keep - self.other) * self._columns(x) + self._both * x.sum(axis=1, keepdims=True))

    def _adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        scale = 2.0 ** -(self.bits + 1)
        return scale * ((self.keep - self.other) * self._rows(y) + self._both * y.sum(axis=1, keepdims=True))

    @property
    def _scale(self) -> float:
        """The size of every entry of Q: (a + b) / (a - b)."""
        return self._both / (self.keep - self.other)

    def _solve(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._scale * self._rows(x)

    def _solve_adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._scale * self._columns(y)

    def _solve_squared(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        total = self._scale**2 * x.sum(axis=1, keepdims=True)
        return np.repeat(total, self.inputs, axis=1)  # every entry of Q has the same size

    def _spread(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        each = np.full(self.inputs, self._scale**2)
        return each, self.inputs * each

    def largest_weight(self) -> float:
        """The size of every entry of the inverse: they are alike, and there may be 2^40 of them."""
        return float(np.sqrt(self.spread()[0].max()))

    def _matrix(self) -> NDArray[np.float64]:
        return self.weights() / float(1 << self.bits)

    def executed(self) -> HadamardResponse:
        """Itself: it is made of integers."""
        return self

    def weights(self) -> NDArray[np.int64]:
        """W[u, v] = a where v + 1 and u have an even number of common binary digits, else b."""
        common = np.arange(self.outputs)[:, None] & np.arange(1, self.inputs + 1)[None, :]
        return np.where(_odd(common), self.other, self.keep).astype(np.int64)

    def intervals(self, truth: int) -> list[tuple[int, int, int]]:
        """Pair after pair of columns: the liked one first."""
        slots = np.repeat(np.arange(self.outputs // 2), 2)
        liked = np.tile([True, False], self.outputs // 2)
        reports = _column(slots, np.full(len(slots), truth + 1), liked)
        ends = np.cumsum(np.where(liked, self.keep, self.other))
        return list(zip([0, *ends[:-1].tolist()], ends.tolist(), reports.tolist(), strict=True))

    def _outcome(self, codes: NDArray[np.integer], draws: NDArray[np.unsignedinteger], out: NDArray[Any]) -> None:
        slot, within = np.divmod(draws.astype(np.int64), self._both)
        out[:] = _column(slot, codes.astype(np.int64) + 1, within < self.keep)

    @classmethod
    def from_integers(cls, k: int, other: int, bits: int) -> HadamardResponse:
        """Read what `to_dict` wrote."""
        return cls(k, other=other, bits=bits)

    def to_dict(self) -> dict[str, object]:
        """{"kind": "hadamard", ...} with the three integers it consists of."""
        return {"kind": "hadamard", "k": self.inputs, "other": self.other, "bits": self.bits}


def walsh_hadamard(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """H times x along the middle axis of a (left, 2^m, right) array, by m passes of sums and differences.

    >>> walsh_hadamard(np.array([1.0, 2.0, 3.0, 4.0]).reshape(1, 4, 1)).ravel().tolist()
    [10.0, -2.0, -4.0, 0.0]
    """
    left, cells, right = x.shape
    out = x
    for half in (1 << i for i in range(cells.bit_length() - 1)):
        pairs = out.reshape(left, cells // (2 * half), 2, half, right)
        out = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2)
    return out.reshape(left, cells, right)


def _column(slot: NDArray[np.int64], row: NDArray[np.int64], liked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The slot-th pair of columns differs in the lowest binary digit of the row: one is liked, the other is not."""
    digit = row & -row
    column = ((slot & -digit) << 1) | (slot & (digit - 1))  # the slot with a 0 put in at that digit
    return np.where(_odd(column & row) == liked, column | digit, column)


def _odd(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the number of binary ones is odd: fold the digits onto each other."""
    for shift in (16, 8, 4, 2, 1):
        numbers = numbers ^ (numbers >> shift)
    return numbers & 1 == 1


def _within(k: int, epsilon: float, bits: int) -> HadamardResponse | None:
    """The Hadamard response of this width that spends as much of epsilon as integers allow, and no more."""
    both = (2 << bits) >> k.bit_length()
    other = ceil(both / (exp_below(epsilon) + 1)) if both else 0
    return HadamardResponse(k, other=other, bits=bits) if 1 <= other < both - other else None
