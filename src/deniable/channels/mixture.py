"""Keep the truth with probability p, else report a fake drawn from a distribution T.

P = p I + (1 - p) T 1'. This is the block channel of RRBA (Imran & Meo, 2024); with T uniform it is k-RR. The ratio is
1 + p / ((1 - p) min T): a category that fakes rarely produce betrays whoever reports it, and one they never produce
(T = 0) betrays with certainty.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.channel import Channel
from deniable.channels.integer_weights import round_column, stated, whole, written
from deniable.core.input_coercion import without_labels
from deniable.device.channels.channel_kind import WIDTHS
from deniable.errors import ProbabilityError, SingularChannelError
from deniable.frozen import again, fix, readonly
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Mixture(Channel):
    """Truth with probability `keep`, else a fake from `fakes`.

    >>> channel = Mixture(0.5, [0.25, 0.75])
    >>> channel.ratio, channel.matrix().tolist()
    (Fraction(5, 1), [[0.625, 0.125], [0.375, 0.875]])
    >>> channel.solve(channel.apply([0.9, 0.1])).round(12).tolist()
    [0.9, 0.1]
    """

    kind = "mixture"

    _shares: tuple[Fraction, ...]  # p, then (1 - p) T
    bits: int | None = None

    def __init__(self, keep: float | Fraction, fakes: Sequence[float | Fraction]) -> None:
        """Take p = Pr(the truth is kept) and T, T_v = Pr(a fake is v)."""
        p, t = stated(keep, "keep"), [stated(share, "a fake's probability") for share in without_labels(fakes, "fakes")]
        if len(t) < 2:
            raise ProbabilityError(f"fakes need at least 2 categories, not {len(t)}")
        if abs(float(sum(t)) - 1) > 1e-9:
            raise ProbabilityError(f"the fakes' probabilities sum to {float(sum(t)):g}, not to 1", total=float(sum(t)))
        total = sum(t)
        self._set([p, *((1 - p) * share / total for share in t)], None)

    @classmethod
    def _of(cls, shares: Sequence[Fraction], bits: int | None) -> Mixture:
        made = cls.__new__(cls)
        made._set(shares, bits)
        return made

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return again(Mixture._of, shares=self._shares, bits=self.bits)

    @classmethod
    def from_weights(cls, keep: int, fakes: Sequence[int], bits: int) -> Mixture:
        """Take integers: of 2^bits draws, `keep` keep the truth and fakes[v] report the fake v."""
        counts = [whole(keep, "keep"), *(whole(weight, "a fake's weight") for weight in fakes)]
        if len(counts) < 3:
            raise ProbabilityError(f"fakes need at least 2 categories, not {len(counts) - 1}")
        if bits not in WIDTHS or min(counts) < 0 or sum(counts) != 1 << bits:
            raise ProbabilityError(
                f"keep and fakes must be integers from 0 that sum to 2^{bits} = {1 << bits} (16 or 32 bits); "
                f"{listed(counts)} sum to {sum(counts)}",
                total=sum(counts),
            )
        return cls._of([Fraction(weight, 1 << bits) for weight in counts], bits)

    def _set(self, shares: Sequence[Fraction], bits: int | None) -> None:
        """`shares` = p, then (1 - p) T."""
        if shares[0] == 0:
            raise SingularChannelError(
                "the truth is never kept (keep = 0), so nothing can be recovered; use a keep above 0", keep=0
            )
        fix(self, _shares=tuple(shares), bits=bits)

    @cached_property
    def inputs(self) -> int:  # type: ignore[override]
        """The categories."""
        return len(self._shares) - 1

    @property
    def outputs(self) -> int:  # type: ignore[override]
        """As many reports as truths."""
        return self.inputs

    @cached_property
    def keep(self) -> float:
        """Pr(the truth is kept): p."""
        return float(self._shares[0])

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is called in messages."""
        return f"Mixture(keep={self.keep:.4g}, {self.inputs} categories)"

    @cached_property
    def _noise(self) -> NDArray[np.float64]:
        """(1 - p) T."""
        return readonly(np.array([float(share) for share in self._shares[1:]]))

    @property
    def fakes(self) -> NDArray[np.float64]:
        """T, the distribution of a fake; even where nothing is ever faked (keep = 1)."""
        noise = self._noise if self._noise.any() else np.ones(self.inputs)
        return noise / noise.sum()

    @cached_property
    def ratio(self) -> Fraction | float:
        """1 + p / ((1 - p) min T), infinite when some fake never occurs."""
        rarest = min(self._shares[1:])
        return 1 + self._shares[0] / rarest if rarest else float("inf")

    def _apply(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.keep * x + self._noise[:, None] * x.sum(axis=1, keepdims=True)

    def _adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.keep * y + np.tensordot(y, self._noise, axes=(1, 0))[:, None, :]

    def _solve(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        # (lambda - (1 - p) T) / p for shares; the total stands in for 1 so that it holds for any vector.
        return (x - self._noise[:, None] * x.sum(axis=1, keepdims=True)) / self.keep

    def _solve_adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return (y - np.tensordot(y, self._noise, axes=(1, 0))[:, None, :]) / self.keep

    def _solve_squared(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        # Q = (I - s 1') / p, s = (1 - p) T: row v of p^2 Q o Q is s_v^2 everywhere but (1 - s_v)^2 at v.
        s = self._noise[:, None]
        return ((1 - 2 * s) * x + s**2 * x.sum(axis=1, keepdims=True)) / self.keep**2

    def _spread(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        s, p, k = self._noise, self.keep, self.inputs
        diagonal = (1 - 2 * s) * (p + s) + s**2
        return diagonal / p**2, ((1 - 2 * s) * (p + k * s) + k * s**2) / p**2

    def _matrix(self) -> NDArray[np.float64]:
        return self.keep * np.eye(self.inputs) + self._noise[:, None]

    def affine(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """pi_v = (lambda_v - (1 - p) T_v) / p."""
        return np.full(self.inputs, self.keep), self._noise.copy()

    def collapse(self, shape: tuple[int, ...], keep: Sequence[int]) -> Mixture:
        """Summing reports over some attributes sums the fakes over them, and keeps the truth as often."""
        others = tuple(axis for axis in range(len(shape)) if axis not in keep)
        summed = np.array(self._shares[1:], dtype=object).reshape(shape).sum(axis=others)
        ordered = np.transpose(summed, np.argsort(np.argsort(keep)).tolist()).ravel().tolist()
        return Mixture._of([self._shares[0], *ordered], self.bits)

    def executed(self) -> Mixture:
        """The integers nearest to what was stated, at 32 bits."""
        return self if self.bits is not None and min(self._shares) > 0 else self._rounded

    @cached_property
    def _rounded(self) -> Mixture:
        counts = round_column(self._shares, WIDTHS[-1], self.name)
        return Mixture.from_weights(counts[0], counts[1:], WIDTHS[-1])

    def _counts(self) -> list[int]:
        """The integers behind the shares: keep, then the fakes."""
        run = self.executed()
        return [int(share * (1 << run.bits)) for share in run._shares]  # type: ignore[operator]

    def weights(self) -> NDArray[np.int64]:
        """W[u, v] = fakes[u], plus keep where u = v."""
        keep, *fakes = self._counts()
        w = np.repeat(np.array(fakes, dtype=np.int64)[:, None], self.inputs, axis=1)
        return w + keep * np.eye(self.inputs, dtype=np.int64)

    @cached_property
    def _fake_ends(self) -> NDArray[np.int64]:
        return readonly(np.cumsum(self._counts()))

    def intervals(self, truth: int) -> list[tuple[int, int, int]]:
        """The draws that keep the truth, then one stretch a fake."""
        ends = self._fake_ends.tolist()
        fakes = [(first, end, report) for report, (first, end) in enumerate(pairwise(ends))]
        return [(0, ends[0], truth), *fakes]

    def _outcome(self, codes: NDArray[np.integer], draws: NDArray[np.unsignedinteger], out: NDArray[Any]) -> None:
        stretch = np.searchsorted(self._fake_ends, draws, side="right")
        out[:] = np.where(stretch == 0, codes, stretch - 1)

    @classmethod
    def from_integers(cls, keep: int, fakes: Sequence[int], bits: int) -> Mixture:
        """Read what `to_dict` wrote of integers."""
        return cls.from_weights(keep, fakes, bits)

    @classmethod
    def from_parts(cls, shares: Sequence[str]) -> Mixture:
        """Read what `to_dict` wrote of stated shares."""
        keep, *noise = [written(share) for share in shares]
        if keep == 1:  # nothing is ever faked, so any T says the same
            return cls(keep, [Fraction(1, len(noise))] * len(noise))
        return cls(keep, [share / (1 - keep) for share in noise])

    def to_dict(self) -> dict[str, object]:
        """{"kind": "mixture", ...}: the integers when executed, else the stated shares p and (1 - p) T."""
        if self.bits is None:
            return {"kind": "mixture", "shares": [str(share) for share in self._shares]}
        keep, *fakes = [int(share * (1 << self.bits)) for share in self._shares]
        return {"kind": "mixture", "keep": keep, "fakes": fakes, "bits": self.bits}
