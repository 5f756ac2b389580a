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
from functools import cache, cached_property, lru_cache, partial
from itertools import pairwise
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.integer_weights import whole
from deniable.channels.krr import KRR, part
from deniable.channels.sets.support import Chances, Support, independent_support, sharpest
from deniable.device.channels.hashing import ANSWERS, MOST_VALUES, PRIME, is_prime
from deniable.errors import DesignError
from deniable.frozen import fix, readonly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from deniable.channels.sets.bit_masks import Choose, Numbers
    from deniable.core.randomness import Source

_AUDITED = 8
_SHIFT = 42  # binary digits behind the point of 1 / P
_STRETCH = 16  # starting anew more often than this costs more than words of twice the length
_ROWS = 1 << 15  # reports looked at together: their scratch space stays in the processor's cache


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
    is_hashed = True
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
        return readonly(np.array(_first_residues(self.prime, self.g)))

    @cached_property
    def chances(self) -> Chances:
        """Exact, because any three categories' residues are independent."""
        two, three = _powers(self.prime, self.g)
        p = Fraction(self.value.keep, 1 << self.value.bits)
        q = Fraction(self.value.other, 1 << self.value.bits)
        return Chances(p, q + (p - q) * two, p * two, q * two + (p - q) * three)

    def chance(self, sizes: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """P' and q' of the k-RR over hash values, for the function at hand: it is drawn whatever the truth is."""
        return np.full(len(sizes), self.value.p), np.full(len(sizes), self.value.q)

    def likelihood(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Pr(report | truth), a row a report: p' where the function sends the truth to the value, else q'."""
        flat = np.asarray(reports).ravel()
        held = np.empty((self.inputs, flat.size), dtype=np.bool_)
        for category, each in enumerate(self._support(flat)):
            held[category] = each
        return np.where(held, self.value.p, self.value.q).T

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

    def _functions(self, reports: NDArray[Any]) -> tuple[NDArray[np.float64], ...]:
        """A, B, C and y of each report. Quotients of numbers below 2^53 are rounded down rightly as decimals too."""
        function, y = _divided(reports.astype(np.float64), self.g)
        function, c = _divided(function, self.prime)
        a, b = _divided(function, self.prime)
        return a, b, c, y

    def _support(self, reports: NDArray[Any]) -> Iterator[NDArray[np.bool_]]:
        """For each category in turn, which reports speak for it; valid until the next one is asked for.

        f is followed by differences, as a fraction of P in 2^w parts: with t = floor(2^w / P), e = 2^w - t P and
        m = q P + r, t m is t r - q e modulo 2^w, where overflow takes the remainder for nothing. So t m + t - 1 lies
        among the t numbers from t r on as long as q e < t: it starts anew before q can be larger (`_fractions`).
        """
        a, b, c, y = self._functions(reports)
        prime, (word, parts, stretch) = self.prime, self._fractions
        start, end = self._starts[y.astype(np.int64)], self._starts[y.astype(np.int64) + 1]
        width = ((end - start).astype(word)) * parts
        held = np.empty(len(width), dtype=np.bool_)
        twice = _divided(2 * c, prime)[1].astype(word) * parts
        for first in range(0, self.inputs, stretch):
            # All below 2^53: A + (B + C v) v and its difference to the next category.
            at = _divided(a + _divided(b + c * first, prime)[1] * first, prime)[1] - start
            residue = np.where(at < 0, at + prime, at).astype(word) * parts + (parts - word(1))
            step = _divided(b + c * (2 * first + 1), prime)[1].astype(word) * parts
            for _ in range(first, min(first + stretch, self.inputs)):
                yield np.less(residue, width, out=held)
                residue += step
                step += twice

    @cached_property
    def _fractions(self) -> tuple[Any, Any, int]:
        """The word that fractions of P are held in, t, and the categories after which to start anew.

        Within s categories m is below P (1 + s + s^2), hence q at most s + s^2.
        """
        parts, lost = divmod(1 << 32, self.prime)
        stretch = isqrt((parts - 1) // lost) - 1
        if stretch >= _STRETCH:
            return np.uint32, np.uint32(parts), stretch
        parts, lost = divmod(1 << 64, self.prime)
        return np.uint64, np.uint64(parts), isqrt((parts - 1) // lost) - 1

    def opened(self, report: Numbers) -> tuple[Numbers, ...]:
        """A, B, C and y. Every quotient is of a multiple."""
        y = report % self.g
        function = (report - y) // self.g
        c = function % self.prime
        rest = (function - c) // self.prime
        b = rest % self.prime
        return (rest - b) // self.prime, b, c, y

    def word(self, opened: Sequence[Numbers], first: int, count: int, choose: Choose) -> Numbers:
        """Those v with floor(g f(v) / P) = y; the quotient mostly as a product with M = ceil(2^42 / P) and a shift.

        M P exceeds 2^42 by less than P. So g f M / 2^42 exceeds g f / P by less than g f / 2^42, which is at most 1 / P
        as long as g P^2 is at most 2^42: no quotient comes out too large. C v^2 stays below 2^48, g f M below 2^63.
        """
        a, b, c, y = opened
        quick, scale = self.g * self.prime**2 <= 1 << _SHIFT, self.g * -(-(1 << _SHIFT) // self.prime)
        found: Numbers | None = None
        for place, v in enumerate(range(first, first + count)):
            f = (a + b * v + c * (v * v)) % self.prime
            hashed = f * scale >> _SHIFT if quick else f * self.g // self.prime
            digit = choose(hashed == y, 1 << place)
            found = digit if found is None else found + digit
        assert found is not None
        return found

    def tally(self, reports: NDArray[Any], times: NDArray[np.integer] | None = None) -> NDArray[np.int64]:
        """How many reports speak for each category, and how many there are; `times` says how often each came."""
        flat = np.asarray(reports).ravel()
        if times is not None:  # hardly any function comes twice
            return sum((n * self.tally(flat[times == n]) for n in np.unique(times)), np.zeros(self.outputs, np.int64))
        counts = np.zeros(self.inputs + 1, dtype=np.int64)
        counts[-1] = flat.size
        for start in range(0, flat.size, _ROWS):
            each = (np.count_nonzero(held) for held in self._support(flat[start : start + _ROWS]))
            counts[:-1] += np.fromiter(each, dtype=np.int64, count=self.inputs)
        return counts

    def members(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """The supported categories as rows of zeros and ones, and a one for the report itself."""
        flat = np.asarray(reports).ravel()
        rows = np.ones((flat.size, self.outputs))
        for category, held in enumerate(self._support(flat)):
            rows[:, category] = held
        return rows

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


def _divided(number: NDArray[np.float64], by: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Quotient and remainder of whole numbers below 2^53.

    The quotient's rounding is below number / by 2^-53 < 1 / by, and no quotient is nearer to the next whole number.
    """
    whole_part = np.floor(number / by)
    return whole_part, number - whole_part * by


def _best(k: int, epsilon: float, g: int | None) -> LocalHashing:
    """Local hashing to g values, or to as many as make the variance least at even shares."""
    sizes = [g] if g is not None else range(2, MOST_VALUES + 1)
    return sharpest(partial(_to, k, values, epsilon) for values in sizes)


def _to(k: int, g: int, epsilon: float) -> LocalHashing:
    return LocalHashing(k, value=_value(g, epsilon))


# Whoever looks for the best channel of every question asks for the same again: neither depends on the categories.


@lru_cache(maxsize=4096)
def _value(g: int, epsilon: float) -> KRR:
    """The k-RR of a hash value."""
    return KRR(g, epsilon)


@lru_cache(maxsize=1024)
def _powers(prime: int, g: int) -> tuple[Fraction, Fraction]:
    """Of the shares r_y of the residues that become each value: sum r_y^2, and sum r_y^3."""
    sizes = [after - first for first, after in pairwise(_first_residues(prime, g))]
    return Fraction(sum(r**2 for r in sizes), prime**2), Fraction(sum(r**3 for r in sizes), prime**3)


def _first_residues(prime: int, g: int) -> list[int]:
    return [-(-y * prime // g) for y in range(g + 1)]
