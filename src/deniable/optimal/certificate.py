"""A proof that no channel does better, small enough for anybody to check.

Wanted is V = W - (W pi) 1'. For ANY matrix G (answers x wanted numbers) and ANY vector y with

    (y . z) (z . pi) >= |z'G|^2      for every pattern z in {1, e^eps}^t,                                   (*)

every epsilon-LDP channel has  loss >= tr(V G)^2 / (y . 1).

Proof. The left side of (*) over z . pi is linear in z, the right side over z . pi is convex and homogeneous; so (*)
holds for all rows whose entries stay within a factor e^eps, which are sums of patterns. Let q_u be the rows of a
channel, F its information, r_u = V F^+ q_u / (q_u . pi). Then sum q_u r_u' = F F^+ V' = V', and the loss is
sum (q_u . pi) |r_u|^2. So

    tr(V G) = sum q_u'G r_u <= (sum |q_u'G|^2 / (q_u . pi))^(1/2) loss^(1/2) <= (y . sum q_u)^(1/2) loss^(1/2),

and the rows of a channel sum to 1.

In which direction numbers are rounded. G, y, W and the shares are doubles, and doubles are fractions: they are taken as
they are. e^eps is replaced by a fraction *above* it: every epsilon-LDP channel is one of the larger class as well, so
the bound can only become weaker. (*) is then checked for all 2^t patterns in whole numbers, tr(V G)^2 / (y . 1) is
computed as a fraction, and the double that is shown is not above it. How G and y were found plays no part; nothing is
added to make a matrix invertible, since none is inverted.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.device.epsilon import exp_above, float_below
from deniable.errors import DesignError
from deniable.optimal.certificate_file import Proof
from deniable.optimal.channel_problem import Problem
from deniable.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

MOST_ANSWERS = 16  # 65,536 patterns
_STEPS = 40  # bits behind the point of e^eps - 1, rounded up
_DIGITS = 40  # bits kept of G and y: more would prove no more


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Proof):
    """(G, y), which prove that no channel at this epsilon has a smaller loss than `bound`.

    Attributes:
        problem: what is wanted, at which epsilon and truth.
        g: G, a row an answer, a column a wanted number.
        y: y, a number an answer.
    """

    problem: Problem
    g: NDArray[np.float64]
    y: NDArray[np.float64]

    kind = "patterns"

    @cached_property
    def bound(self) -> float:
        """The proven bound, rounded down."""
        return self.check()

    def check(self) -> float:
        """Prove the bound from (G, y) over all patterns, in whole numbers, and return it.

        Raises:
            DesignError: (G, y) prove nothing: the inequality does not hold for some pattern.
        """
        worst = self._violated()
        if worst is not None:
            raise DesignError(
                f"this certificate proves nothing: its inequality does not hold where the answers {worst} have the "
                f"larger probability",
                pattern=worst,
            )
        return float_below(self._value())

    @property
    def of(self) -> str:
        """What is wanted, in words."""
        return f"{counted(len(self.problem.wanted), 'number')} of {self.problem.answers} answers"

    @property
    def where(self) -> str:
        """At which epsilon, and of which truth."""
        return f"at epsilon {self.problem.epsilon:g}, {'at even shares' if self.problem.is_even else 'at your guess'}"

    def to_dict(self) -> dict[str, Any]:
        """The problem, G and y."""
        problem = {"wanted": self.problem.wanted.tolist(), "shares": self.problem.shares.tolist()}
        return {**problem, "epsilon": self.problem.epsilon, "g": self.g.tolist(), "y": self.y.tolist()}

    @classmethod
    def from_dict(cls, known: Mapping[str, Any]) -> Certificate:
        """The certificate of what `to_dict` has written."""
        problem = Problem.of(known["wanted"], known["epsilon"], known["shares"])
        g, y = (np.array(known[name], dtype=np.float64) for name in ("g", "y"))
        if not (np.isfinite(g).all() and np.isfinite(y).all()):
            raise DesignError("this certificate proves nothing: G and y are finite numbers")
        return cls(problem, g, y)

    def _violated(self) -> list[int] | None:
        """Find a pattern for which (*) does not hold.

        Its parts are whole numbers, up to the powers of two they are in: z'G is (2^s sum of g + H sum of g over the
        large answers) / 2^s, and so on, where e^eps - 1 <= H / 2^s.
        """
        t = self.problem.answers
        if t > MOST_ANSWERS or self.g.shape != (t, len(self.problem.wanted)) or self.y.shape != (t,):
            raise DesignError(f"a certificate has a G and a y for at most {MOST_ANSWERS} answers, a row each")
        h = ceil((exp_above(self.problem.epsilon) - 1) * (1 << _STEPS))
        g, g_bits = _whole(self.g)
        y, y_bits = _whole(self.y)
        shares, _ = _whole(self.problem.shares)
        total = int(shares.sum())
        inner = [_over_patterns(column, h) for column in g.T]
        squared = sum((part * part for part in inner[1:]), inner[0] * inner[0])
        left = _over_patterns(y, h) * _over_patterns(shares, h) << (2 * g_bits)
        right = squared * total << y_bits
        short = np.flatnonzero(left < right)
        return None if not len(short) else [answer for answer in range(t) if short[0] >> answer & 1]

    def _value(self) -> Fraction:
        shares = [Fraction(share) for share in self.problem.shares.tolist()]
        total, traced = sum(shares, Fraction(0)), Fraction(0)
        for row, column in zip(self.problem.wanted.tolist(), self.g.T.tolist(), strict=True):
            mean = sum((Fraction(w) * share for w, share in zip(row, shares, strict=True)), Fraction(0)) / total
            traced += sum(
                ((Fraction(w) - mean) * Fraction(one) for w, one in zip(row, column, strict=True)), Fraction(0)
            )
        # At z = 1 the inequality says y . 1 >= |1'G|^2 >= 0; if both are nothing, nothing is proved.
        budget = sum((Fraction(part) for part in self.y.tolist()), Fraction(0))
        return traced**2 / budget if budget > 0 else Fraction(0)

    def __repr__(self) -> str:
        return f"<Certificate: loss at least {self.bound:.6g} {self.where}>"


def certify(problem: Problem, g: NDArray[np.float64], y: NDArray[np.float64]) -> Certificate:
    """The certificate nearest to what a solver found: y is raised by as little of pi as makes the inequality hold."""
    patterns = all_patterns(problem.answers)
    x = problem.rows(patterns)
    short = ((x @ g) ** 2).sum(axis=1) - x @ y
    size = float(np.abs(x @ y).max())
    raised = max(float(short.max()), 0.0) + size * 2.0**-36
    g_kept, unit = _kept(g), _unit(y)
    for _ in range(8):
        # Rounded up: a larger y meets the inequality the better, since every z is positive.
        found = Certificate(problem, g_kept, np.ceil((y + raised * problem.truth) / unit) * unit)
        if found._violated() is None:
            return found
        raised += size * 2.0**-30
    raise DesignError("no certificate was found near the solution; this is an error of the program")


def all_patterns(t: int) -> NDArray[np.bool_]:
    """Every set of large answers, as rows; pattern number n has the answers of its bits."""
    return (np.arange(1 << t)[:, None] >> np.arange(t) & 1).astype(bool)


def _over_patterns(parts: NDArray[Any], h: int) -> NDArray[Any]:
    """2^s sum of all parts + H (sum of the large ones), for every pattern, in Python's integers."""
    sums = np.zeros(1, dtype=object)
    for part in parts.tolist():
        sums = np.concatenate([sums, sums + part])
    return sums * h + (int(sum(parts.tolist())) << _STEPS)


def _whole(values: NDArray[np.float64]) -> tuple[NDArray[Any], int]:
    """Doubles as integers over a common power of two, exactly."""
    ratios = [value.as_integer_ratio() for value in values.ravel().tolist()]
    bits = max(denominator.bit_length() - 1 for _, denominator in ratios)
    whole = [numerator << (bits - denominator.bit_length() + 1) for numerator, denominator in ratios]
    return np.array(whole, dtype=object).reshape(values.shape), bits


def _unit(values: NDArray[np.float64]) -> float:
    return float(2.0 ** (np.ceil(np.log2(np.abs(values).max() + 1e-300)) - _DIGITS))


def _kept(values: NDArray[np.float64]) -> NDArray[np.float64]:
    unit = _unit(values)
    return np.asarray(np.round(values / unit) * unit, dtype=np.float64)
