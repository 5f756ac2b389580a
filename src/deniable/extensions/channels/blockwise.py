"""Mixtures in blocks: the same question, asked of group after group with another distribution of fakes.

A respondent of block b keeps the truth with probability p_b, else reports a fake from T_b. Which block it was does not
depend on the truth, so block and answer together are one report, and all blocks one channel: with w_b the share of
the respondents that block b has,

    P[(b, u), v] = w_b (p_b [u = v] + (1 - p_b) T_b[u]).

Among its inverses this is the one that counts every respondent alike:

    Q[v, (b, u)] = ([u = v] - (1 - p_b) T_b[v]) / p_b,
    estimate     = mean over respondents' blocks of (lambda_b - (1 - p_b) T_b) / p_b,

the blocks' own estimates, pooled by their sizes. T_b may depend on what earlier blocks reported: given T_b, each
block's estimate is unbiased, and the weights do not depend on the answers, so the pooled estimate is unbiased too.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.channel import Channel
from deniable.channels.explicit_matrix import left_inverse
from deniable.channels.mixture import Mixture
from deniable.errors import DesignError, ProbabilityError
from deniable.frozen import fix, readonly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Blockwise(Channel):
    """A mixture a block, in integers; for counting and estimating (a respondent runs the mixture of one block).

    >>> channel = Blockwise([8, 8], [[4, 4], [6, 2]], respondents=[30, 10], bits=4)
    >>> channel.ratio, channel.output_shape
    (Fraction(5, 1), (2, 2))
    >>> channel.solve(channel.apply([0.9, 0.1])).round(12).tolist()
    [0.9, 0.1]
    """

    kind = "blockwise"
    shares_context = True

    integers: tuple[NDArray[np.int64], NDArray[np.int64]]  # keep and fakes of every block
    respondents: NDArray[np.int64]
    draw_bits: int

    def __init__(self, keep: ArrayLike, fakes: ArrayLike, respondents: ArrayLike, bits: int) -> None:
        """Take the integers of every block (of 2^bits draws: keep and fakes, a row a block) and the blocks' sizes."""
        kept, faked = np.asarray(keep, dtype=np.int64), np.asarray(fakes, dtype=np.int64)
        sizes = np.asarray(respondents, dtype=np.int64)
        if faked.ndim != 2 or kept.shape != (len(faked),) or sizes.shape != kept.shape:
            raise ProbabilityError("a block needs one keep, one row of fakes and one number of respondents")
        if kept.min() < 1 or faked.min() < 0 or (kept + faked.sum(axis=1) != 1 << bits).any():
            raise ProbabilityError(f"in every block keep (from 1) and fakes (from 0) sum to 2^{bits}")
        if sizes.min() < 1:
            raise ProbabilityError("a block without respondents is no block")
        fix(self, integers=(kept, faked), respondents=sizes, draw_bits=bits)

    def _given(self) -> dict[str, Any]:
        keep, fakes = self.integers
        return {"keep": keep, "fakes": fakes, "respondents": self.respondents, "bits": self.draw_bits}

    @property
    def inputs(self) -> int:  # type: ignore[override]
        """The categories of the question."""
        return self.integers[1].shape[1]

    @property
    def outputs(self) -> int:  # type: ignore[override]
        """Blocks times categories."""
        return self.integers[1].size

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is called in messages."""
        return f"Mixture of {self.inputs} categories in {len(self.respondents)} blocks"

    @cached_property
    def _keep(self) -> NDArray[np.float64]:
        """p_b, a row a block."""
        return readonly((self.integers[0] / (1 << self.draw_bits))[:, None])

    @cached_property
    def _noise(self) -> NDArray[np.float64]:
        """(1 - p_b) T_b."""
        return readonly(self.integers[1] / (1 << self.draw_bits))

    @cached_property
    def _weight(self) -> NDArray[np.float64]:
        """w_b, a row a block."""
        return readonly((self.respondents / self.respondents.sum())[:, None])

    @property
    def output_shape(self) -> tuple[int, ...]:
        """A row a block."""
        return self.integers[1].shape

    @cached_property
    def ratio(self) -> Fraction | float:
        """The worst block's 1 + p / ((1 - p) min T): a respondent is in one block only."""
        kept, faked = self.integers
        rarest = faked.min(axis=1)
        if rarest.min() == 0:
            return float("inf")
        return 1 + max(Fraction(int(k), int(r)) for k, r in {*zip(kept.tolist(), rarest.tolist(), strict=True)})

    def _apply(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        total = x.sum(axis=1)[:, None, None, :]
        blocks = (self._weight * self._keep)[None, :, :, None] * x[:, None] + self._w_noise[None, :, :, None] * total
        return blocks.reshape(x.shape[0], -1, x.shape[2])

    def _adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        blocks = self._blocks(y)
        kept = np.einsum("b,lbtr->ltr", (self._weight * self._keep)[:, 0], blocks)
        return kept + np.einsum("bt,lbtr->lr", self._w_noise, blocks)[:, None, :]

    def _solve(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        blocks, inverse = self._blocks(x), 1 / self._keep[:, 0]
        totals = blocks.sum(axis=2)
        return np.einsum("b,lbtr->ltr", inverse, blocks) - np.einsum("bt,lbr->ltr", self._noise / self._keep, totals)

    def _solve_adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        # Row (b, u) of Q'y is (y_u - s_b'y) / p_b.
        drift = np.einsum("bt,ltr->lbr", self._noise, y)
        blocks = (y[:, None] - drift[:, :, None]) / self._keep[None, :, :, None]
        return blocks.reshape(y.shape[0], -1, y.shape[2])

    def _solve_squared(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        # As for one mixture, block by block: ((1 - 2 s) lambda + s^2 total) / p^2, s = (1 - p) T.
        blocks, s, p2 = self._blocks(x), self._noise, self._keep**2
        own = np.einsum("bt,lbtr->ltr", (1 - 2 * s) / p2, blocks)
        return own + np.einsum("bt,lbr->ltr", s**2 / p2, blocks.sum(axis=2))

    def _spread(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        s, p, k = self._noise, self._keep, self.inputs
        diagonal = ((1 - 2 * s) * (p + s) + s**2) / p**2
        sums = ((1 - 2 * s) * (p + k * s) + k * s**2) / p**2
        return (self._weight * diagonal).sum(axis=0), (self._weight * sums).sum(axis=0)

    def _matrix(self) -> NDArray[np.float64]:
        return (self._weight[:, :, None] * self.in_blocks()).reshape(-1, self.inputs)

    def in_blocks(self) -> NDArray[np.float64]:
        """The matrix of every block by itself."""
        return np.asarray(self._keep[:, :, None] * np.eye(self.inputs) + self._noise[:, :, None])

    @cached_property
    def _w_noise(self) -> NDArray[np.float64]:
        return readonly(self._weight * self._noise)

    def _blocks(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return x.reshape(x.shape[0], *self._noise.shape, x.shape[2])

    def collapse(self, shape: tuple[int, ...], keep: Sequence[int]) -> Blockwise:
        """Summing reports over some attributes sums every block's fakes over them."""
        kept, faked = self.integers
        others = tuple(axis + 1 for axis in range(len(shape)) if axis not in keep)
        summed = faked.reshape(-1, *shape).sum(axis=others)
        order = [0, *(1 + int(axis) for axis in np.argsort(np.argsort(keep)))]
        return Blockwise(kept, summed.transpose(order).reshape(len(kept), -1), self.respondents, self.draw_bits)

    def inverse_of_some(self, truths: Sequence[int]) -> NDArray[np.float64]:
        """Each block inverted by itself: fakes depend on earlier answers."""
        return np.hstack(list(left_inverse(self.in_blocks()[:, :, list(truths)])))

    def pooled(self) -> Mixture | Blockwise:
        """The channel of an answer whose block is forgotten: the mixture with the mean T. Itself where keeps differ.

        Forgetting costs little once T has settled, and nothing for the unbiased estimate, which only uses the sums.
        """
        kept, faked = self.integers
        if len(set(kept.tolist())) > 1:
            return self
        keep = Fraction(int(kept[0]), 1 << self.draw_bits)
        # Python's integers: the sum over a great many respondents must not overflow.
        total = int(self.respondents.sum())
        drawn = [int(x) for x in (self.respondents.astype(object)[:, None] * faked.astype(object)).sum(axis=0)]
        return Mixture(keep, [Fraction(x, total << self.draw_bits) / (1 - keep) for x in drawn])

    def executed(self) -> Channel:
        """Nothing to run: a respondent is in one block and runs its mixture."""
        raise DesignError("a respondent answers in one block, through that block's own mixture; this is their sum")

    def weights(self) -> NDArray[np.int64]:
        """Not a single draw; see `executed`."""
        return self.executed().weights()

    @classmethod
    def from_integers(
        cls, keep: Sequence[int], fakes: Sequence[Sequence[int]], respondents: Sequence[int], bits: int
    ) -> Blockwise:
        """Read what `to_dict` wrote."""
        return cls(keep, fakes, respondents, bits)

    def to_dict(self) -> dict[str, object]:
        """{"kind": "blockwise", ...} with the integers of every block."""
        kept, faked = self.integers
        return {
            "kind": "blockwise",
            "keep": kept.tolist(),
            "fakes": faked.tolist(),
            "respondents": self.respondents.tolist(),
            "bits": self.draw_bits,
        }
