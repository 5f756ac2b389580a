"""Local hashing: report a hash function and the disguised hash of the answer.

For thousands of categories: each respondent draws a hash function h from the categories to g values, disguises h(truth)
with k-RR over the g values, and sends h with it (OLH, Wang et al. 2017). The report speaks for every category that h
sends to the reported value. Which h it is says nothing about the answer, so the ratio is that of k-RR over g values.

The functions are h(v) = floor(g f(v) / P) with f(v) = A + B v + C v^2 modulo a prime P and A, B, C uniform (P = 65537
up to 31 values; more need a smaller prime, for a report to stay one number, and are taken where they are asked for):
the values of f at any three categories are independent and uniform, exactly. So the chances are exact too. With
r_y the share of the P residues that become y (as even as P allows), and p', q' those of the k-RR over g values,

    p = p',     q = q' + (p' - q') sum r_y^2,     own = p sum r_y^2,     other = q' sum r_y^2 + (p' - q') sum r_y^3.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.krr import KRR, part
from deniable.channels.support import Chances, Support, independent_support, sharpest
from deniable.channels.weights import whole
from deniable.device.kinds.hashing import ANSWERS, MOST_VALUES, PRIME, is_prime
from deniable.errors import DesignError
from deniable.frozen import fix, readonly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import ArrayLike, NDArray

    from deniable.randomness import Source

_AUDITED = 8
_ROWS = 1 << 13  # reports looked at together: their scratch space stays in the processor's cache


@dataclass(frozen=True, eq=False, repr=False, init=False)
class LocalHashing(Support):
    """Local hashing of k categories with total budget epsilon.

    A report is the number ((A P + B) P + C) g + y: the function, and the disguised value.

    >>> channel = LocalHashing(1000, epsilon=1.0)
    >>> channel.g, channel.epsilon <= 1.0
    (4, True)
    """

    kind = "hashing"
    has_two_chances = True
    treats_alike = True

    inputs: int
    value: KRR

    def __init__(self, k: int, epsilon: float | None = None, *, g: int | None = None, value: KRR | None = None) -> None:
        """Take either `epsilon` (and the number g of hash values, if not to be chosen), or the k-RR of a value."""
        k = whole(k, "k")
        if not 2 <= k <= PRIME:
            raise DesignError(f"local hashing takes 2 to {PRIME} categories, not {k}. Use BlockDesign for more", k=k)
        if epsilon is not None:
            value = _best(k, epsilon, None if g is None else whole(g, "g")).value
        if value is None:
            raise DesignError("LocalHashing needs an epsilon (or the k-RR of a hash value, value=)")
        if value.keep < value.other:
            raise DesignError(
                f"a hash value must be reported truly more often than as any other; got {value.name}", g=value.inputs
            )
        if k > prime_for(value.inputs):
            raise DesignError(
                f"{value.inputs} hash values leave room for functions of {prime_for(value.inputs)} categories, not of "
                f"{k}: function and value are one number below 2^53. Take fewer values, or BlockDesign({k}, ...)",
                g=value.inputs,
            )
        fix(self, inputs=k, value=value)

    def _given(self) -> dict[str, Any]:
        return {"k": self.inputs, "value": self.value}

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is called in messages."""
        return f"LocalHashing({self.inputs}, g={self.g})"

    @property
    def g(self) -> int:
        """How many values a hash can have."""
        return self.value.inputs

    @cached_property
    def prime(self) -> int:
        """What functions are taken modulo of: 65537, or with more than 31 values the largest prime that leaves room."""
        return prime_for(self.g)

    @property
    def reports(self) -> int:
        """Functions times values."""
        return self.prime**3 * self.g

    @cached_property
    def ratio(self) -> Fraction:
        """That of the k-RR over hash values."""
        return self.value.ratio

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """The first residue of each value, and P: value y has the residues from ceil(y P / g) on."""
        return readonly(np.array([-(-y * self.prime // self.g) for y in range(self.g + 1)]))

    @cached_property
    def chances(self) -> Chances:
        """Exact, because any three categories' residues are independent."""
        shares = [Fraction(int(size), self.prime) for size in np.diff(self._starts)]
        two, three = sum((r**2 for r in shares), Fraction(0)), sum((r**3 for r in shares), Fraction(0))
        p = Fraction(self.value.keep, 1 << self.value.bits)
        q = Fraction(self.value.other, 1 << self.value.bits)
        return Chances(p, q + (p - q) * two, p * two, q * two + (p - q) * three)

    def chance(self, sizes: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """P' and q' of the k-RR over hash values, for the function at hand: it is drawn whatever the truth is."""
        return np.full(len(sizes), self.value.p), np.full(len(sizes), self.value.q)

    def every_report(self, most: int) -> None:  # noqa: ARG002 - there is no limit that would do
        """There are far too many functions."""
        return

    def _randomize(self, codes: ArrayLike, source: Source) -> NDArray[Any]:
        """Disguise answers, given as codes."""
        given = self.codes(codes)
        flat = given.ravel().astype(np.int64)
        stream = source.stream()
        a, b, c = (stream.below(self.prime, flat.size) for _ in range(3))
        residue = (a + (b + c * flat % self.prime) * flat) % self.prime
        hashed = residue * self.g // self.prime
        y = self.value.outcome(hashed, stream.words(flat.size, self.value.bits)).astype(np.int64)
        return ((((a * self.prime + b) * self.prime + c) * self.g) + y).astype(np.uint64).reshape(given.shape)

    def _support(self, reports: NDArray[Any]) -> Iterator[NDArray[np.bool_]]:
        """For each category in turn, which reports speak for it: f by differences, one addition a category."""
        function, y = np.divmod(reports.astype(np.int64), self.g)
        function, c = np.divmod(function, self.prime)
        residue, b = (part.astype(np.uint32) for part in np.divmod(function, self.prime))
        first = self._starts[y].astype(np.uint32)
        size = self._starts[y + 1].astype(np.uint32) - first
        prime, twice = np.uint32(self.prime), (2 * c % self.prime).astype(np.uint32)
        step = ((b + c) % self.prime).astype(np.uint32)
        for _ in range(self.inputs):
            yield residue - first < size  # below its first residue this wraps round to a large number
            residue = residue + step
            np.minimum(residue, residue - prime, out=residue)
            step = step + twice
            np.minimum(step, step - prime, out=step)

    def tally(self, reports: NDArray[Any], times: NDArray[np.integer] | None = None) -> NDArray[np.int64]:
        """How many reports speak for each category, and how many there are; `times` says how often each came."""
        flat = np.asarray(reports).ravel()
        counts = np.zeros(self.inputs + 1, dtype=np.int64)
        counts[-1] = flat.size if times is None else times.sum()
        for start in range(0, flat.size, _ROWS):
            rows = self._support(flat[start : start + _ROWS])
            often = None if times is None else times[start : start + _ROWS]
            each = (np.count_nonzero(held) if often is None else often[held].sum() for held in rows)
            counts[:-1] += np.fromiter(each, dtype=np.int64, count=self.inputs)
        return counts

    def members(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """The supported categories as rows of zeros and ones, and a one for the report itself."""
        flat = np.asarray(reports).ravel()
        return np.column_stack([*self._support(flat), np.ones(flat.size, dtype=bool)]).astype(np.float64)

    def draw(self, pi: NDArray[np.float64], n: int, rng: np.random.Generator, replicates: int) -> NDArray[np.float64]:
        """Support counts of n reports, drawn as if every hash were independent of the others.

        Up to the unevenness of g parts of a prime (below 1e-3 of a share) single counts and pairs of them have the
        distribution that actual functions give them.
        """
        return independent_support(self.chances, pi, n, rng, replicates)

    def audit_cases(self) -> tuple[int, Callable[[NDArray[np.integer]], NDArray[np.integer]]]:
        """For `deniable.audit`: which of the first truths a report speaks for. No two reports are alike otherwise."""
        cases = min(self.inputs, _AUDITED)

        def run(codes: NDArray[np.integer]) -> NDArray[np.integer]:
            shown = LocalHashing(cases, value=self.value)  # the same functions, looked at on fewer truths
            return shown.members(self.randomize(codes))[:, :cases].astype(np.int64)

        return cases, run

    @classmethod
    def from_parts(cls, k: int, value: Mapping[str, Any], prime: int | None = None) -> LocalHashing:
        """Read what `to_dict` wrote."""
        made = cls(k, value=part(value))
        if prime != (None if made.prime == PRIME else made.prime):
            raise DesignError(f"{made.name} takes functions modulo {made.prime}, not {prime}", prime=prime)
        return made

    def to_dict(self) -> dict[str, object]:
        """{"kind": "hashing", ...} with its number of categories and the k-RR of a hash value."""
        smaller: dict[str, object] = {} if self.prime == PRIME else {"prime": self.prime}
        return {"kind": "hashing", "k": self.inputs, "value": self.value.to_dict(), **smaller}


@cache
def prime_for(g: int) -> int:
    """The largest prime, up to 65537, with which functions and g values fit 53 bits.

    >>> prime_for(31), prime_for(60)
    (65537, 53147)
    """
    if g <= MOST_VALUES:
        return PRIME
    most = min(PRIME, round((ANSWERS / g) ** (1 / 3)) + 1)
    return next(n for n in range(most, 1, -1) if n**3 * g <= ANSWERS and is_prime(n))


def _best(k: int, epsilon: float, g: int | None) -> LocalHashing:
    """Local hashing to g values, or to as many as make the variance least at even shares."""
    sizes = [g] if g is not None else range(2, MOST_VALUES + 1)
    return sharpest(partial(_to, k, values, epsilon) for values in sizes)


def _to(k: int, g: int, epsilon: float) -> LocalHashing:
    return LocalHashing(k, value=KRR(g, epsilon))
