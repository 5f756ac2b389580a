"""Symmetric unary encoding of a few categories, the report read as one number: a bit for each category.

Truth v of k becomes k bits, the v-th of them 1; each bit is kept with probability p and flipped with q = 1 - p. The
report is the number whose v-th binary digit is the v-th bit, so there are 2^k reports and this is a channel like any
other. Two truths differ in two bits, hence ratio = (p / q)^2. With S_v the share of reports whose v-th bit is set,

    estimate_v = (S_v - q) / (p - q),      Q[v, u] = (bit v of u  -  q) / (p - q),

which is unbiased and treats every category as a yes-or-no question. That is what paired coins need
(`extensions.paired`): one coin a bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.explicit_matrix import Explicit
from deniable.channels.krr import part
from deniable.errors import DesignError, InputError
from deniable.frozen import fix, readonly

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from deniable.channels.krr import KRR
    from deniable.core.randomness import Source

MOST_CATEGORIES = 12


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Bitmask(Explicit):
    """k categories as k bits, each through the same two-category randomized response.

    >>> from deniable.channels.krr import KRR
    >>> channel = Bitmask(3, KRR(2, epsilon=0.5))
    >>> channel.outputs, channel.epsilon <= 1.0
    (8, True)
    >>> channel.solve(channel.apply([0.2, 0.3, 0.5])).round(12).tolist()
    [0.2, 0.3, 0.5]
    """

    kind = "bitmask"

    inputs: int
    bit: KRR

    def __init__(self, k: int, bit: KRR) -> None:
        """Take the number of categories and the channel of one bit."""
        if not 2 <= k <= MOST_CATEGORIES or bit.inputs != 2:
            raise DesignError(
                f"a bit mask holds 2 to {MOST_CATEGORIES} categories, each bit a channel of two; got {k} categories "
                f"and {bit.name}",
                k=k,
            )
        fix(self, inputs=k, bit=bit)

    def _given(self) -> dict[str, Any]:
        return {"k": self.inputs, "bit": self.bit}

    def inverse_of_some(self, truths: Sequence[int]) -> NDArray[np.float64]:
        """A coin for each category: what pairs share is known of each by itself."""
        return self.solve(np.eye(self.outputs))[list(truths)]

    @property
    def outputs(self) -> int:  # type: ignore[override]
        """Every number of k bits."""
        return 1 << self.inputs

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is called in messages."""
        return f"Bitmask({self.inputs})"

    @property
    def p(self) -> float:
        """Pr(a bit is kept)."""
        return self.bit.p

    @property
    def q(self) -> float:
        """Pr(a bit is flipped)."""
        return self.bit.q

    @cached_property
    def ratio(self) -> Fraction:
        """(p / q)^2."""
        return Fraction(self.bit.ratio**2)

    @cached_property
    def _set(self) -> NDArray[np.float64]:
        """Which bits a report sets, reports x categories."""
        return readonly(((np.arange(self.outputs)[:, None] >> np.arange(self.inputs)) & 1).astype(np.float64))

    @cached_property
    def _p(self) -> NDArray[np.float64]:
        flipped = np.where(self._set == 1, self.q, self.p)  # if the bit's truth is 0
        none = flipped.prod(axis=1, keepdims=True)
        return readonly(none / flipped * (1 - flipped))

    @cached_property
    def _q(self) -> NDArray[np.float64]:
        return readonly((self._set.T - self.q) / (self.p - self.q))

    def executed(self) -> Bitmask:
        """Itself: every bit is made of integers."""
        return self

    def weights(self) -> NDArray[np.int64]:
        """Not a single draw: every bit has a draw of its own."""
        raise DesignError("a bit mask is run bit by bit; look at the weights of its .bit")

    def _randomize(self, codes: ArrayLike, source: Source) -> NDArray[Any]:
        """Disguise codes bit by bit."""
        given = np.asarray(codes)
        if given.dtype.kind not in "iub":
            raise InputError(f"codes must be whole numbers, not {given.dtype}; Variable.encode makes them")
        if given.size and (given.min() < 0 or given.max() >= self.inputs):
            strangers = int(((given < 0) | (given >= self.inputs)).sum())
            raise InputError(f"{strangers} codes lie outside 0 .. {self.inputs - 1}, the truths of {self.name}")
        return self.pack([self.bit.randomize(given == category, source=source) for category in range(self.inputs)])

    def pack(self, bits: list[NDArray[Any]]) -> NDArray[Any]:
        """Make the reports of their disguised bits, one array a category."""
        out = np.zeros(np.shape(bits[0]), dtype=self.report_dtype)
        for category, disguised in enumerate(bits):
            out |= disguised.astype(out.dtype) << out.dtype.type(category)
        return out

    @classmethod
    def from_parts(cls, k: int, bit: Mapping[str, Any]) -> Bitmask:
        """Read what `to_dict` wrote."""
        return cls(k, part(bit))

    def to_dict(self) -> dict[str, object]:
        """{"kind": "bitmask", ...} with its number of categories and the channel of a bit."""
        return {"kind": "bitmask", "k": self.inputs, "bit": self.bit.to_dict()}
