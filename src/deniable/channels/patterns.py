"""Patterns: reports with two probabilities, a larger one for the truths of the report's pattern.

    P[u, v] = high_u / 2^bits if pattern u holds v, else low_u / 2^bits,

and what is left of the draws of each truth goes to one more report, the remainder (none, if nothing is left of any).

Every channel whose rows stay within a factor is a sum of such rows, so the best channels for whatever is wanted are
made of them (`deniable.optimal`); k-RR and sets are special cases. Written down are a pattern and two integers a
report, not a number for every truth.

*Its ratio.* Row u holds high_u and low_u and no other number, and both occur, since a pattern holds some truths and
not all. The remainder's row holds 2^bits less the column sums. So

    ratio = max(max over u of high_u / low_u,  max over v, v' of rest_v / rest_v').

A channel of patterns may be *partial*, telling only some sums of the shares: see `tells`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.explicit_matrix import Explicit
from deniable.channels.integer_weights import whole, width
from deniable.device.channels.patterns import MOST_TRUTHS, sums_told
from deniable.errors import DesignError, ProbabilityError
from deniable.frozen import fix, readonly
from deniable.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Patterns(Explicit):
    """A channel of k truths, a pattern and two integers a report.

    >>> middle = Patterns(4, [[1, 2], [3]], low=[9000, 4000], high=[24000, 11000], bits=16)
    >>> middle.weights()[:2].tolist()
    [[9000, 24000, 24000, 9000], [4000, 4000, 4000, 11000]]
    >>> middle.ratio, middle.is_partial, middle.tells([0, 1, 1, 0])
    (Fraction(11, 4), True, True)
    """

    kind = "patterns"
    is_answer = False

    inputs: int
    large: tuple[int, ...]  # a pattern is a number, whose binary digits are its truths
    low: tuple[int, ...]
    high: tuple[int, ...]
    bits: int
    name: str

    def __init__(
        self,
        k: int,
        large: Sequence[Sequence[int]],
        low: Sequence[int],
        high: Sequence[int],
        bits: int,
        *,
        name: str | None = None,
    ) -> None:
        """Take patterns as lists of truths, and of each the draws for other truths and for its own."""
        k = whole(k, "k")
        masks = [sum(1 << whole(v, "a truth") for v in set(pattern)) for pattern in large]
        if not 2 <= k <= MOST_TRUTHS:
            raise DesignError(
                f"patterns are made of 2 to {MOST_TRUTHS} truths, not {k}; join neighbouring answers, or use "
                f"SubsetSelection, HadamardResponse or LocalHashing",
                k=k,
            )
        if not (len(masks) == len(low) == len(high) > 0) or len(set(masks)) < len(masks):
            raise ProbabilityError("patterns must differ, and each needs its weights: low and high")
        if not all(0 < mask < (1 << k) - 1 for mask in masks):
            raise ProbabilityError(f"a pattern holds some of the truths 0 .. {k - 1}, and not all of them")
        rows = sorted((m, whole(a, "low"), whole(b, "high")) for m, a, b in zip(masks, low, high, strict=True))
        if not all(0 < a < b for _, a, b in rows):
            raise ProbabilityError("every report needs at least one draw for every truth, and more for its pattern's")
        parts = zip(*rows, strict=True)
        fix(self, inputs=k, large=next(parts), low=next(parts), high=next(parts), bits=width(bits))
        fix(self, name=name or f"Patterns({k})")
        if min(self.remainder) < 0 or (any(self.remainder) and not all(self.remainder)):
            raise ProbabilityError(
                f"the weights of {self.name} leave {min(self.remainder)} of 2^{bits} draws of some truth to the last "
                f"report; it needs some of every truth, or none of any"
            )

    def _given(self) -> dict[str, Any]:
        names = ("low", "high", "bits", "name")
        return {"k": self.inputs, "large": self._sets, **{name: getattr(self, name) for name in names}}

    @property
    def _sets(self) -> list[list[int]]:
        return [[v for v in range(self.inputs) if mask >> v & 1] for mask in self.large]

    @cached_property
    def remainder(self) -> tuple[int, ...]:
        """What the patterns leave of the draws of each truth."""
        more = [high - low for low, high in zip(self.low, self.high, strict=True)]
        left = (1 << self.bits) - sum(self.low)
        return tuple(
            left - sum(each for each, mask in zip(more, self.large, strict=True) if mask >> v & 1)
            for v in range(self.inputs)
        )

    @cached_property
    def outputs(self) -> int:  # type: ignore[override]
        """The patterns, and the remainder where there is one."""
        return len(self.large) + any(self.remainder)

    @cached_property
    def sums(self) -> int | None:
        """How many independent sums of the shares the reports tell; None where patterns are too many to count them."""
        return sums_told(self.large, self.inputs)

    @cached_property
    def ratio(self) -> Fraction:
        """The largest quotient of two weights of the same report, exactly, the remainder's included."""
        ratios = [Fraction(high, low) for low, high in zip(self.low, self.high, strict=True)]
        if any(self.remainder):
            ratios.append(Fraction(max(self.remainder), min(self.remainder)))
        return max(ratios)

    @cached_property
    def _weights(self) -> NDArray[np.int64]:
        holds = np.array([[mask >> v & 1 for v in range(self.inputs)] for mask in self.large], dtype=bool)
        rows = np.where(holds, np.array(self.high)[:, None], np.array(self.low)[:, None])
        rest = [self.remainder] if any(self.remainder) else np.empty((0, self.inputs))
        return readonly(np.concatenate([rows, rest]).astype(np.int64))

    @cached_property
    def _p(self) -> NDArray[np.float64]:
        return readonly(self._weights / 2.0**self.bits)

    @cached_property
    def _q(self) -> NDArray[np.float64]:
        return readonly(self._left_inverse())

    def executed(self) -> Patterns:
        """Itself: it is made of integers, none of them zero."""
        return self

    def weights(self) -> NDArray[np.int64]:
        """W[u, v], written out."""
        return self._weights.copy()

    @classmethod
    def from_integers(
        cls, k: int, large: Sequence[str], low: Sequence[int], high: Sequence[int], bits: int
    ) -> Patterns:
        """Read what `to_dict` wrote."""
        masks = [int(text, 16) for text in large]
        made = cls(k, [[v for v in range(k) if mask >> v & 1] for mask in masks], low, high, bits)
        if [f"{mask:x}" for mask in made.large] != list(large):
            raise ValueError("patterns are hexadecimal numbers that rise")
        return made

    def to_dict(self) -> dict[str, object]:
        """{"kind": "patterns", ...}: patterns as hexadecimal numbers, and two integers each."""
        return {
            "kind": self.kind,
            "k": self.inputs,
            "large": [f"{mask:x}" for mask in self.large],
            "low": list(self.low),
            "high": list(self.high),
            "bits": self.bits,
        }

    def __repr__(self) -> str:
        some = ", some sums of the shares only" if self.is_partial else ""
        return (
            f"<{self.name}: {self.inputs} truths, {counted(self.outputs, 'report')}, epsilon {self.epsilon:.6g}{some}>"
        )
