"""Block designs: report a line of an affine plane, one through the truth's point more often than by chance.

The k = q^2 categories are the points (x, y) of the plane modulo a prime q, numbered x q + y; the reports are its
q^2 + q lines, q points each. Every point is on q + 1 lines and every two points are on one: a balanced incomplete block
design. With probability p = own / 2^bits the report is one of the lines through the truth, else one of the others, each
of its sort equally likely:

    P[u, v] = p / (q + 1) if line u holds v, else (1 - p) / (q^2 - 1).

*Its ratio.* A row holds these two numbers and no other, and both occur in every row, so the ratio is their quotient,

    ratio = p (q - 1) / (1 - p),

or its inverse: that of subset selection with d = q, k = q^2.

*Its variance* is subset selection's too. Another category is on the reported line with probability
s = (p (q - 1) + (1 - p) q) / (q^2 - 1); from the share S_v of lines that hold v

    estimate_v = (S_v - s) / (p - s),     Q[v, u] = (1[v on u] - s) / (p - s),

whose variance depends on p and s alone, and both are those of sets of q out of q^2. But a report is one of q^2 + q
lines and not of C(q^2, q) sets: counts of lines are multinomial and sufficient, so that every estimator, test and
regression for categories holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor, isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.base import CHUNK, Channel
from deniable.channels.weights import narrowest, whole, width
from deniable.device.epsilon import exp_below
from deniable.device.kinds.block_design import ORDERS
from deniable.errors import DesignError, InputError, ProbabilityError, SingularChannelError
from deniable.frozen import fix, readonly
from deniable.randomness import SECURE, Source

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False, repr=False, init=False)
class BlockDesign(Channel):
    """Lines of an affine plane of k = q^2 categories, q a prime, with total budget epsilon.

    >>> channel = BlockDesign(25, epsilon=1.0)
    >>> channel.outputs, channel.epsilon <= 1.0
    (30, True)
    >>> from deniable.channels.krr import KRR
    >>> even = np.full(25, 1 / 25)
    >>> round(float(channel.variance(even, 1).sum() / KRR(25, epsilon=1.0).variance(even, 1).sum()), 2)
    0.38
    """

    kind = "block_design"

    inputs: int
    own: int
    draw_bits: int  # a report takes a draw of so many bits, and an even number below (q + 1)(q^2 - 1)

    def __init__(
        self, k: int, epsilon: float | None = None, *, own: int | None = None, bits: int | None = None
    ) -> None:
        """Take either `epsilon`, or the integers `own` and `bits` themselves."""
        k = whole(k, "k")
        if k < 4 or isqrt(k) ** 2 != k or isqrt(k) not in ORDERS:
            raise DesignError(
                f"a plane has as many points as the square of a prime up to {ORDERS[-1]}: 4, 9, 25, 49 and so on, not "
                f"{k}. For other numbers of categories use SubsetSelection or HadamardResponse",
                k=k,
            )
        if epsilon is not None:
            made = narrowest(epsilon, lambda width: _within(k, epsilon, width), f"BlockDesign({k})")
            own, bits = made.own, made.draw_bits
        if own is None or bits is None:
            raise DesignError("BlockDesign needs an epsilon (or the integers own= and bits=)")
        own, bits = whole(own, "own"), width(bits)
        if not 0 < own < 1 << bits:
            raise ProbabilityError(
                f"BlockDesign({k}) reports a line through the truth by {own} of 2^{bits} draws; that must lie between "
                f"1 and 2^{bits} - 1, or a line would give the truth away",
                own=own,
            )
        if own * isqrt(k) == 1 << bits:
            raise SingularChannelError(
                "every line is as likely whatever the truth: nothing can be recovered. Use an epsilon above 0", ratio=1
            )
        fix(self, inputs=k, own=own, draw_bits=bits)

    def _given(self) -> dict[str, Any]:
        return {"k": self.inputs, "own": self.own, "bits": self.draw_bits}

    @property
    def q(self) -> int:
        """The order of the plane: points on a line."""
        return isqrt(self.inputs)

    @property
    def outputs(self) -> int:  # type: ignore[override]
        """The lines: q in each of q + 1 directions."""
        return self.inputs + self.q

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is called in messages."""
        return f"BlockDesign({self.inputs})"

    @cached_property
    def ratio(self) -> Fraction:
        """P (q - 1) / (1 - p), or its inverse where lines through the truth are the rarer ones."""
        odds = Fraction(self.own * (self.q - 1), (1 << self.draw_bits) - self.own)
        return max(odds, 1 / odds)

    # -- the map and its inverse -----------------------------------------------------------------------------------

    @cached_property
    def p(self) -> float:
        """Pr(the line holds the truth)."""
        return self.own / (1 << self.draw_bits)

    @cached_property
    def s(self) -> float:
        """Pr(the line holds one given other category)."""
        return (self.p * (self.q - 1) + (1 - self.p) * self.q) / (self.inputs - 1)

    @cached_property
    def _chances(self) -> tuple[float, float]:
        """Pr(a given line), through the truth and beside it."""
        return self.p / (self.q + 1), (1 - self.p) / (self.inputs - 1)

    @cached_property
    def lines(self) -> NDArray[np.int64]:
        """The lines through every point, a row a point: one in each direction."""
        x, y = np.divmod(np.arange(self.inputs)[:, None], self.q)
        direction = np.arange(self.q + 1)[None, :]
        return readonly(direction * self.q + np.where(direction == self.q, x, y - direction * x) % self.q)

    @cached_property
    def points(self) -> NDArray[np.int64]:
        """The points on every line, a row a line."""
        order = np.argsort(self.lines.ravel(), kind="stable")
        return readonly((order // (self.q + 1)).reshape(self.outputs, self.q))

    def _apply(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        on, off = self._chances
        return off * x.sum(axis=1, keepdims=True) + (on - off) * x[:, self.points].sum(axis=2)

    def _adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        on, off = self._chances
        return off * y.sum(axis=1, keepdims=True) + (on - off) * y[:, self.lines].sum(axis=2)

    def _solve(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return (x[:, self.lines].sum(axis=2) - self.s * x.sum(axis=1, keepdims=True)) / (self.p - self.s)

    def _solve_adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return (y[:, self.points].sum(axis=2) - self.s * y.sum(axis=1, keepdims=True)) / (self.p - self.s)

    def _solve_squared(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        # Row v of (p - s)^2 Q o Q is (1 - s)^2 on the lines through v, and s^2 elsewhere.
        through, total = x[:, self.lines].sum(axis=2), x.sum(axis=1, keepdims=True)
        return ((1 - 2 * self.s) * through + self.s**2 * total) / (self.p - self.s) ** 2

    def _spread(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        on, off, scale = (1 - self.s) ** 2, self.s**2, (self.p - self.s) ** 2
        diagonal = (on * self.p + off * (1 - self.p)) / scale
        # Every line has the same share at even truths, so the rows of P sum to q / (q + 1).
        total = self.q / (self.q + 1) * ((self.q + 1) * on + (self.inputs - 1) * off) / scale
        return np.full(self.inputs, diagonal), np.full(self.inputs, total)

    def _matrix(self) -> NDArray[np.float64]:
        on, off = self._chances
        matrix = np.full((self.outputs, self.inputs), off)
        matrix[self.lines, np.arange(self.inputs)[:, None]] = on
        return matrix

    # -- running it ---------------------------------------------------------------------------------------------------

    def executed(self) -> BlockDesign:
        """Itself: it is made of integers."""
        return self

    def weights(self) -> NDArray[np.int64]:
        """Not a single draw: (q + 1)(q^2 - 1) does not divide a power of two."""
        raise DesignError("a line is drawn in two steps; look at .own and .draw_bits")

    def randomize(self, codes: ArrayLike, *, source: Source = SECURE) -> NDArray[Any]:
        """Disguise answers, given as codes. `source` is for simulations; leave it alone otherwise."""
        given = np.asarray(codes)
        if given.dtype.kind not in "iub":
            raise InputError(f"codes must be whole numbers, not {given.dtype}; Variable.encode makes them")
        flat, stream = given.ravel(), source.stream()
        if flat.size and (flat.min() < 0 or flat.max() >= self.inputs):
            strangers = int(((flat < 0) | (flat >= self.inputs)).sum())
            raise InputError(
                f"{strangers} codes lie outside 0 .. {self.inputs - 1}, the truths of {self.name}", rows=strangers
            )
        out = np.empty(flat.shape, dtype=self.report_dtype)
        for start in range(0, len(flat), CHUNK):
            part = flat[start : start + CHUNK].astype(np.int64)
            kept = stream.words(len(part), self.draw_bits) < self.own
            out[start : start + CHUNK] = self._line(
                part, kept, stream.below((self.q + 1) * (self.inputs - 1), len(part))
            )
        return out.reshape(given.shape)

    def _line(self, truths: NDArray[np.int64], kept: NDArray[np.bool_], even: NDArray[np.int64]) -> NDArray[np.int64]:
        """The line that an even number selects: through the truth, or so many steps aside of it."""
        q = self.q
        beside, aside = np.divmod(even % (self.inputs - 1), q - 1)
        direction = np.where(kept, even % (q + 1), beside)
        through = self.lines[truths, direction] % q
        return direction * q + (through + np.where(kept, 0, aside + 1)) % q

    @classmethod
    def from_integers(cls, k: int, own: int, bits: int) -> BlockDesign:
        """Read what `to_dict` wrote."""
        return cls(k, own=own, bits=bits)

    def to_dict(self) -> dict[str, object]:
        """{"kind": "block_design", ...} with the three integers it consists of."""
        return {"kind": self.kind, "k": self.inputs, "own": self.own, "bits": self.draw_bits}


def _within(k: int, epsilon: float, bits: int) -> BlockDesign | None:
    """The lines of this width that spend as much of epsilon as integers allow, and no more."""
    odds = exp_below(epsilon)
    own = floor((1 << bits) * odds / (odds + isqrt(k) - 1))
    if not 0 < own < 1 << bits or own * isqrt(k) <= 1 << bits:
        return None
    return BlockDesign(k, own=own, bits=bits)
