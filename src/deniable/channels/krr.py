"""k-ary randomized response: say the truth with probability p, else any other category with the same q.

P = (p - q) I + q 11'. It is Warner's method for k = 2, the optimal design of Wang, Wu & Hu (2016, eq 8 and 19) for
any k, and its inverse is (I - q 11') / (p - q): nothing is ever factorised.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.channel import Channel
from deniable.channels.integer_weights import narrowest, whole, width
from deniable.device.epsilon import exp_below
from deniable.errors import DesignError, ProbabilityError, SingularChannelError
from deniable.frozen import fix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.core.domain import Category


@dataclass(frozen=True, eq=False, repr=False, init=False)
class KRR(Channel):
    """k-ary randomized response with total budget epsilon.

    Of 2^bits equally likely draws, b = `other` lead to each of the k - 1 other categories and a = 2^bits - (k - 1) b to
    the truth:  p = a / 2^bits,  q = b / 2^bits,  ratio = a / b.

    From a requested epsilon, b = ceil(2^bits / (e^epsilon + k - 1)), so that a / b <= e^epsilon whatever the rounding.
    A draw u gives the category  truth + 1 + min(u // b, k - 1)  modulo k.

    >>> channel = KRR(4, epsilon=1.0)
    >>> channel.ratio, channel.epsilon <= 1.0
    (Fraction(31153, 11461), True)
    >>> channel.solve(channel.apply([0.1, 0.2, 0.3, 0.4])).round(12).tolist()
    [0.1, 0.2, 0.3, 0.4]
    """

    kind = "krr"
    treats_alike = True

    inputs: int
    other: int
    bits: int
    categories: tuple[Category, ...] | None = None

    def __init__(
        self, k: int, epsilon: float | None = None, *, other: int | None = None, bits: int | None = None
    ) -> None:
        """Take either `epsilon`, or the integers `other` and `bits` themselves."""
        k = whole(k, "k")
        if k < 2:
            raise DesignError(f"k-ary randomized response needs at least 2 categories, not {k}", k=k)
        if epsilon is not None:
            chosen = narrowest(epsilon, lambda width: _within(k, epsilon, width), f"k-RR over {k} categories")
            other, bits = chosen.other, chosen.bits
        if other is None or bits is None:
            raise DesignError("KRR needs an epsilon (or the integers other= and bits=)")
        other, bits = whole(other, "other"), width(bits)
        keep = (1 << bits) - (k - 1) * other
        if other < 1 or keep < 1:
            raise ProbabilityError(
                f"KRR over {k} categories with {other} of 2^{bits} draws for each other category leaves {keep} for the "
                f"truth; every category needs at least one draw",
                other=other,
                bits=bits,
            )
        if keep == other:
            raise SingularChannelError(
                "every category is reported with the same probability whatever the truth: nothing can be recovered. "
                "Use an epsilon above 0",
                ratio=1,
            )
        fix(self, inputs=k, other=other, bits=bits)

    def _given(self) -> dict[str, Any]:
        return {"k": self.inputs, "other": self.other, "bits": self.bits}

    @property
    def outputs(self) -> int:  # type: ignore[override]
        """As many reports as truths."""
        return self.inputs

    @property
    def keep(self) -> int:
        """Draws that lead to the truth: a."""
        return (1 << self.bits) - (self.inputs - 1) * self.other

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is called in messages."""
        return f"KRR({self.inputs})"

    @cached_property
    def ratio(self) -> Fraction:
        """A / b, or b / a for a channel that says the truth less often than any lie."""
        return max(Fraction(self.keep, self.other), Fraction(self.other, self.keep))

    @cached_property
    def p(self) -> float:
        """Pr(report = truth) = a / 2^bits."""
        return self.keep / (1 << self.bits)

    @cached_property
    def q(self) -> float:
        """Pr(report = one given other category) = b / 2^bits."""
        return self.other / (1 << self.bits)

    def clones(self) -> Sequence[tuple[Fraction, Fraction]]:
        """Either every report counts, and 2 / (e + 1) are clones; or only the two truths' own do.

        With a draws for the truth and b for each other, R_i >= (R_0 + R_1) / (a/b + 1): at the two truths the right
        side is b, elsewhere 2 b / (a/b + 1) <= b. Or Q_0 and Q_1 are the two truths themselves: b each from any other.
        """
        if self.keep <= self.other:
            return ()
        one = Fraction(self.other, 1 << self.bits)
        return [(2 / (self.ratio + 1), Fraction(1)), (2 * one, (self.ratio + 1) * one)]

    def _apply(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return (self.p - self.q) * x + self.q * x.sum(axis=1, keepdims=True)

    def _adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._apply(y)  # P is symmetric, and so is its inverse

    def _solve(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return (x - self.q * x.sum(axis=1, keepdims=True)) / (self.p - self.q)

    def _solve_adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._solve(y)

    def _solve_squared(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        # Q has 1 - q on the diagonal and -q beside it, over p - q; so Q o Q is again "diagonal plus constant".
        scale = (self.p - self.q) ** 2
        return ((1 - 2 * self.q) * x + self.q**2 * x.sum(axis=1, keepdims=True)) / scale

    def _spread(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        on, off, scale = (1 - self.q) ** 2, self.q**2, (self.p - self.q) ** 2
        diagonal = (on * self.p + off * (1 - self.p)) / scale
        return np.full(self.inputs, diagonal), np.full(self.inputs, (on + off * (self.inputs - 1)) / scale)

    def _matrix(self) -> NDArray[np.float64]:
        return self.weights() / float(1 << self.bits)

    def affine(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """pi_v = (lambda_v - q) / (p - q)."""
        return np.full(self.inputs, self.p - self.q), np.full(self.inputs, self.q)

    def collapse(self, shape: tuple[int, ...], keep: Sequence[int]) -> KRR:
        """k-RR of a tuple, looked at through some of its attributes, is k-RR again.

        Each kept cell gathers c = k / k' old ones, so b' = c b and a' = a + (c - 1) b.
        """
        kept = int(np.prod([shape[axis] for axis in keep]))
        return KRR(kept, other=self.other * (self.inputs // kept), bits=self.bits)

    def executed(self) -> KRR:
        """Itself: it is made of integers."""
        return self

    def weights(self) -> NDArray[np.int64]:
        """W = b everywhere, a on the diagonal."""
        w = np.full((self.inputs, self.inputs), self.other, dtype=np.int64)
        np.fill_diagonal(w, self.keep)
        return w

    def intervals(self, truth: int) -> list[tuple[int, int, int]]:
        """The k - 1 others in cyclic order, then the truth."""
        k, b = self.inputs, self.other
        others = [(j * b, (j + 1) * b, (truth + 1 + j) % k) for j in range(k - 1)]
        return [*others, ((k - 1) * b, 1 << self.bits, truth)]

    def _outcome(self, codes: NDArray[np.integer], draws: NDArray[np.unsignedinteger], out: NDArray[Any]) -> None:
        # truth + 1 + offset is at most 2k - 1: work in the narrowest type that holds it and every quotient u // b.
        k = self.inputs
        kind = np.min_scalar_type(max(2 * k, (1 << self.bits) // self.other))
        np.floor_divide(draws, draws.dtype.type(self.other), out=draws)
        wide = draws.astype(kind)
        # Between two arrays NumPy's minimum is vectorised; with a number it is ten times slower.
        np.minimum(wide, np.full_like(wide, k - 1), out=wide)
        wide += codes.astype(kind, copy=False)
        wide += kind.type(1)
        # Subtract k where it is due: elsewhere that wraps below zero to a huge number, so the smaller is the remainder.
        np.minimum(wide, wide - kind.type(k), out=out, casting="unsafe")

    @classmethod
    def from_integers(cls, k: int, other: int, bits: int) -> KRR:
        """Read what `to_dict` wrote."""
        return cls(k, other=other, bits=bits)

    def to_dict(self) -> dict[str, object]:
        """{"kind": "krr", ...} with the three integers it consists of."""
        return {"kind": "krr", "k": self.inputs, "other": self.other, "bits": self.bits}


def part(data: Mapping[str, Any]) -> KRR:
    """Read a k-RR that is a part of another channel.

    >>> part({"kind": "krr", "k": 2, "other": 17626, "bits": 16})
    <KRR(2): 2 truths, 2 reports, epsilon 0.999949>
    """
    fields = dict(data)
    kind = fields.pop("kind", None)
    if kind != KRR.kind:
        raise TypeError(f"a part of it must be k-RR, not {kind!r}")
    return KRR.from_integers(**fields)


def _within(k: int, epsilon: float, bits: int) -> KRR | None:
    """The k-RR of this width that spends as much of epsilon as integers allow, and no more."""
    other = -floor(-(1 << bits) / (exp_below(epsilon) + k - 1))
    keep = (1 << bits) - (k - 1) * other
    return KRR(k, other=other, bits=bits) if keep > other else None
