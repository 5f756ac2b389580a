"""Block designs: report a hyperplane of a finite geometry, one through the truth's point more often than by chance.

The categories are points of the affine space of dimension d over the field with q elements: k of its q^d points. The
reports are its hyperplanes, q in each of D = (q^d - 1) / (q - 1) directions. Every point is on D of them and every two
points are on L = (q^(d-1) - 1) / (q - 1): a balanced incomplete block design. With probability p = own / 2^bits the
report is one of the hyperplanes through the truth, else one of the others, each of its sort equally likely:

    P[u, v] = p / D if hyperplane u holds v, else (1 - p) / (D (q - 1)).

*Its ratio.* A row holds these two numbers and no other, and both occur (in some row, for k < q^d), so the ratio is
their quotient, ratio = p (q - 1) / (1 - p), or its inverse: that of subset selection with q^(d-1) of q^d.

*Its variance.* Another category is on the reported hyperplane with probability

    s = (p L + (1 - p) (D - L) / (q - 1)) / D.

From the share S_v of reports that hold v, and m_u = how many of the k categories hyperplane u holds,

    estimate_v = (S_v - mean of m_u / k) / (p - s) + 1 / k,     Q[v, u] = (1[v on u] - m_u / k) / (p - s) + 1 / k.

With k = q^d all m_u are alike, and this is (S_v - s) / (p - s): subset selection's variance, with reports that are
categories. Counts of hyperplanes are multinomial and sufficient, so that every estimator, test and regression for
categories holds. Fewer categories than points cost next to nothing as soon as there are many.

*Which field.* For many categories the variance is (q - 1 + e)^2 / (4 e (q - 1)) times the least that any channel has,
with e = e^epsilon: at most 1.031 of it for the best prime power q. Sums over hyperplanes are Fourier transforms
(`geometry`), so a million categories decode in seconds. This is the affine part of projective geometry response
(Feldman, Nelson, Nguyen and Talwar 2022): all hyperplanes but the one at infinity, with transforms q times smaller.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import floor, isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.channel import CHUNK, Channel
from deniable.channels.integer_weights import narrowest, whole, width
from deniable.channels.sets.finite_geometry import Space, space
from deniable.device.channels.block_design import MOST_POINTS, PLANES, dimension
from deniable.device.channels.finite_field import MOST, is_field
from deniable.device.epsilon import exp_below
from deniable.errors import DesignError, InputError, ProbabilityError, SingularChannelError
from deniable.frozen import fix, readonly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from deniable.core.randomness import Source


@dataclass(frozen=True, eq=False, repr=False, init=False)
class BlockDesign(Channel):
    """Hyperplanes of a finite geometry for k categories, with total budget epsilon.

    Args:
        k: the number of categories, from 3 to about four million.
        epsilon: the budget.
        order: the number q of elements of the field, a prime or a prime power; by default that of least variance.
        own: in place of epsilon, of 2^bits draws so many that report a hyperplane through the truth.
        bits: the width of a draw.

    >>> channel = BlockDesign(16, epsilon=1.0)
    >>> channel.q, channel.outputs, channel.epsilon <= 1.0
    (4, 20, True)
    >>> from deniable.channels.krr import KRR
    >>> even = np.full(16, 1 / 16)
    >>> round(float(channel.variance(even, 1).sum() / KRR(16, epsilon=1.0).variance(even, 1).sum()), 2)
    0.52
    """

    kind = "block_design"
    is_answer = False
    treats_alike = True

    inputs: int
    q: int
    own: int
    draw_bits: int  # a report takes a draw of so many bits, and an even number

    def __init__(
        self,
        k: int,
        epsilon: float | None = None,
        *,
        order: int | None = None,
        own: int | None = None,
        bits: int | None = None,
    ) -> None:
        """Take either `epsilon`, or the integers `own` and `bits` themselves; `order` if it is not to be chosen."""
        k = whole(k, "k")
        q = _order(k, epsilon, None if order is None else whole(order, "order"))
        if epsilon is not None:
            made = narrowest(epsilon, partial(_within, k, q, epsilon), f"BlockDesign({k})")
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
        if own * q == 1 << bits:
            raise SingularChannelError(
                "every line is as likely whatever the truth: nothing can be recovered. Use an epsilon above 0", ratio=1
            )
        fix(self, inputs=k, q=q, own=own, draw_bits=bits)

    def _given(self) -> dict[str, Any]:
        return {"k": self.inputs, "order": self.q, "own": self.own, "bits": self.draw_bits}

    @cached_property
    def space(self) -> Space:
        """The points and hyperplanes."""
        return space(self.q, dimension(self.inputs, self.q), self.inputs)

    @property
    def outputs(self) -> int:  # type: ignore[override]
        """The hyperplanes: q in each direction."""
        return self.space.hyperplanes

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is called in messages."""
        return f"BlockDesign({self.inputs})" if self._is_plane else f"BlockDesign({self.inputs}, order={self.q})"

    @property
    def _is_plane(self) -> bool:
        """Whether the points are a whole plane over a prime, which is written without its order."""
        return self.q in PLANES and self.q**2 == self.inputs

    @cached_property
    def ratio(self) -> Fraction:
        """P (q - 1) / (1 - p), or its inverse where hyperplanes through the truth are the rarer ones."""
        odds = Fraction(self.own * (self.q - 1), (1 << self.draw_bits) - self.own)
        return max(odds, 1 / odds)

    def clones(self) -> Sequence[tuple[Fraction, Fraction]]:
        """Hyperplanes that hold exactly one of two truths; every truth makes each with the lesser chance at least."""
        if self.own * self.q <= 1 << self.draw_bits:
            return ()
        through = Fraction(self.own, self.space.directions << self.draw_bits)
        apart = self.space.directions - self.space.shared
        return [(2 * apart * through / self.ratio, apart * through * (1 + 1 / self.ratio))]

    # -- the map and its inverse -----------------------------------------------------------------------------------

    @cached_property
    def p(self) -> float:
        """Pr(the hyperplane holds the truth)."""
        return self.own / (1 << self.draw_bits)

    @cached_property
    def s(self) -> float:
        """Pr(the hyperplane holds one given other category)."""
        return held_by_chance(self.p, self.q, self.space.dimension)

    @cached_property
    def _chances(self) -> tuple[float, float]:
        """Pr(a given hyperplane), through the truth and beside it."""
        return self.p / self.space.directions, (1 - self.p) / (self.space.directions * (self.q - 1))

    @property
    def lines(self) -> NDArray[np.int64]:
        """The hyperplanes through every point, a row a point: one in each direction. For small spaces."""
        if self.space.lines is None:
            raise InputError(f"{self.name} has too many hyperplanes to list; use apply and solve")
        return self.space.lines

    @cached_property
    def points(self) -> tuple[NDArray[np.int64], ...]:
        """The points on every hyperplane. For small spaces."""
        order = np.argsort(self.lines.ravel(), kind="stable") // self.space.directions
        ends = np.cumsum(self.space.sizes.astype(np.int64))[:-1]
        return tuple(readonly(points) for points in np.split(order, ends))

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        """M_u / k: the share of the categories that each hyperplane holds."""
        return readonly(self.space.sizes[None, :, None] / self.inputs)

    def _apply(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        on, off = self._chances
        return off * x.sum(axis=1, keepdims=True) + (on - off) * self.space.on(x)

    def _adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        on, off = self._chances
        return off * y.sum(axis=1, keepdims=True) + (on - off) * self.space.at(y)

    def _solve(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        expected = (self._shares * x).sum(axis=1, keepdims=True)
        return (self.space.at(x) - expected) / (self.p - self.s) + x.sum(axis=1, keepdims=True) / self.inputs

    def _solve_adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        total = y.sum(axis=1, keepdims=True)
        return (self.space.on(y) - self._shares * total) / (self.p - self.s) + total / self.inputs

    @cached_property
    def _entries(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Q[v, u] where u holds v, and where it does not: they depend on u alone."""
        off = 1 / self.inputs - self._shares / (self.p - self.s)
        return readonly(off + 1 / (self.p - self.s)), readonly(off)

    def _solve_squared(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        on, off = self._entries
        return self.space.at((on**2 - off**2) * x) + (off**2 * x).sum(axis=1, keepdims=True)

    def _spread(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        on, off = self._entries
        through, beside = self._chances
        held = self.space.at(on**2)
        # Where a hyperplane does not hold v, both P and Q are those beside it.
        others = (off**2).sum(axis=1, keepdims=True) - self.space.at(off**2)
        diagonal = through * held + beside * others
        total = self._solve_squared(self._apply(np.ones((1, self.inputs, 1))))
        return diagonal[0, :, 0], total[0, :, 0]

    def _matrix(self) -> NDArray[np.float64]:
        on, off = self._chances
        matrix = np.full((self.outputs, self.inputs), off)
        direction = np.arange(self.space.directions)
        lines = direction * self.q + self.space.through(np.arange(self.inputs)[:, None], direction[None, :])
        matrix[lines, np.arange(self.inputs)[:, None]] = on
        return matrix

    # -- running it ---------------------------------------------------------------------------------------------------

    def executed(self) -> BlockDesign:
        """Itself: it is made of integers."""
        return self

    def weights(self) -> NDArray[np.int64]:
        """Not a single draw: the number of hyperplanes does not divide a power of two."""
        raise DesignError("a line is drawn in two steps; look at .own and .draw_bits")

    def _randomize(self, codes: ArrayLike, source: Source) -> NDArray[Any]:
        """Disguise answers, given as codes."""
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
        others = self.space.directions * (self.q - 1)
        for start in range(0, len(flat), CHUNK):
            part = flat[start : start + CHUNK].astype(np.int64)
            kept = stream.words(len(part), self.draw_bits) < self.own
            even = stream.below((self.q + 1) * others if self._is_plane else others, len(part))
            out[start : start + CHUNK] = self._hyperplane(part, kept, even)
        return out.reshape(given.shape)

    def _hyperplane(
        self, truths: NDArray[np.int64], kept: NDArray[np.bool_], even: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The hyperplane that an even number selects: through the truth, or so many steps aside of it."""
        q = self.q
        direction, aside = np.divmod(even % (self.space.directions * (q - 1)), q - 1)
        if self._is_plane:
            direction = np.where(kept, even % (q + 1), direction)
        through = self.space.through(truths, direction)
        return direction * q + (through + np.where(kept, 0, aside + 1)) % q

    @classmethod
    def from_integers(cls, k: int, own: int, bits: int, order: int | None = None) -> BlockDesign:
        """Read what `to_dict` wrote."""
        return cls(k, order=isqrt(k) if order is None else order, own=own, bits=bits)

    def to_dict(self) -> dict[str, object]:
        """{"kind": "block_design", ...} with the integers it consists of."""
        order: dict[str, object] = {} if self._is_plane else {"order": self.q}
        return {"kind": self.kind, "k": self.inputs, "own": self.own, "bits": self.draw_bits, **order}


def held_by_chance(p: float, q: int, axes: int) -> float:
    """Pr(a hyperplane that holds the truth with probability p holds one given other point)."""
    directions, shared = (q**axes - 1) // (q - 1), (q ** (axes - 1) - 1) // (q - 1)
    return (p * shared + (1 - p) * (directions - shared) / (q - 1)) / directions


def _order(k: int, epsilon: float | None, order: int | None) -> int:
    """The order that was asked for, or that of the least variance of a single category; of integers, a plane's."""
    if not 3 <= k <= MOST_POINTS:
        raise DesignError(f"block designs take 3 to {MOST_POINTS} categories, not {k}", k=k)
    if order is not None or epsilon is None:
        q = isqrt(k) if order is None else order
        if not is_field(q) or q ** dimension(k, q) > MOST_POINTS:
            raise DesignError(
                f"there is no geometry of {k} points over {q} elements here: the order is a prime or a prime power up "
                f"to {MOST}, and the space has at most {MOST_POINTS} points",
                k=k,
                order=q,
            )
        return q
    able = [q for q in range(2, MOST + 1) if is_field(q) and q ** dimension(k, q) <= MOST_POINTS]
    return min(able, key=lambda q: _single(k, q, float(exp_below(epsilon))))


def _single(k: int, q: int, odds: float) -> float:
    """The variance of a category's estimate at even shares, all of the points' mean error taken out."""
    p = odds / (odds + q - 1)
    s = held_by_chance(p, q, dimension(k, q))
    if p <= s:
        return float("inf")
    return (s * (1 - s) + (p * (1 - p) - s * (1 - s)) / k) / (p - s) ** 2


def _within(k: int, order: int, epsilon: float, bits: int) -> BlockDesign | None:
    """The hyperplanes of this width that spend as much of epsilon as integers allow, and no more."""
    odds = exp_below(epsilon)
    own = floor((1 << bits) * odds / (odds + order - 1))
    if not 0 < own < 1 << bits or own * order <= 1 << bits:
        return None
    return BlockDesign(k, order=order, own=own, bits=bits)
