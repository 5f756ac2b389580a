"""Several attributes disguised independently: P = P1 x ... x Pm, and never formed.

Joint tables come out of independently randomized attributes because the inverse of a Kronecker product is the
product of the inverses (RR-Ind-Joint, Kikuchi & Domingo-Ferrer). Every operation works along one axis of the table
at a time, so a table of 16^5 cells takes five passes instead of a matrix of 8 TiB.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.channel import Channel, multinomials
from deniable.channels.sets.support import Support
from deniable.core.randomness import Seeded
from deniable.device.epsilon import compose
from deniable.errors import DesignError, InputError
from deniable.frozen import fix, readonly

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from deniable.core.randomness import Source

_TALLIED = 1 << 12  # rows whose sets are counted together
BLOCK = 16  # neighbouring axes are taken together up to this many cells: one product of matrices costs one pass


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Kronecker(Channel):
    """The product of channels; truths and reports are tuples, distributions are tensors.

    >>> from deniable.channels.survey_devices import Warner
    >>> coin = Warner(0.75)
    >>> reports = np.array([[3, 2], [2, 3]]) / 10
    >>> Kronecker([coin, coin]).solve(reports).round(2).tolist()
    [[0.45, 0.05], [0.05, 0.45]]
    """

    kind = "kronecker"

    channels: tuple[Channel, ...]
    inputs: int
    outputs: int

    def __init__(self, channels: Sequence[Channel]) -> None:
        """Take the channel of each attribute; products inside are flattened."""
        if not channels:
            raise DesignError("a Kronecker product needs at least one channel")
        parts = tuple(part for channel in channels for part in channel.factors)
        inputs, outputs = prod(part.inputs for part in parts), prod(part.outputs for part in parts)
        fix(self, channels=parts, inputs=inputs, outputs=outputs)

    @property
    def factors(self) -> tuple[Channel, ...]:
        """One an attribute."""
        return self.channels

    def with_factors(self, factors: Sequence[Channel]) -> Kronecker:
        """The product of others."""
        return Kronecker(factors)

    def from_rows(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Rows as they are."""
        return rows

    @cached_property
    def name(self) -> str:  # type: ignore[override]
        """What it is called in messages."""
        return " x ".join(channel.name for channel in self.channels)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """One axis an attribute."""
        return tuple(channel.inputs for channel in self.channels)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """One axis an attribute."""
        return tuple(channel.outputs for channel in self.channels)

    @cached_property
    def ratio(self) -> Fraction | float:
        """The product of the ratios: a person who answers all of them spends all of them."""
        return compose(channel.ratio for channel in self.channels)

    @cached_property
    def is_partial(self) -> bool:  # type: ignore[override]
        """Whether some factor tells only some functionals."""
        return any(channel.is_partial for channel in self.channels)

    def tells(self, w: ArrayLike) -> bool:
        """Whether along every axis each factor tells its part of w: row spaces of products are products of row spaces.

        >>> from deniable.channels.krr import KRR
        >>> Kronecker([KRR(2, 1.0), KRR(3, 1.0)]).tells([[1, 0, 0], [0, 0, 0]])
        True
        """
        tensor = np.asarray(w, dtype=np.float64).reshape(self.input_shape)
        return all(
            channel.tells(fibre)
            for axis, channel in enumerate(self.channels)
            if channel.is_partial
            for fibre in np.moveaxis(tensor, axis, -1).reshape(-1, channel.inputs)
        )

    @cached_property
    def _made(self) -> dict[str, tuple[NDArray[np.float64] | Channel, ...]]:
        """The blocks of every step that was taken so far."""
        return {}

    def _blocks(self, step: str) -> tuple[NDArray[np.float64] | Channel, ...]:
        """What acts on the axes in turn: small neighbours as one matrix, a large channel as itself."""
        if step not in self._made:
            blocks: list[NDArray[np.float64] | Channel] = []
            for channel in self.channels:
                if max(channel.inputs, channel.outputs) > BLOCK:
                    blocks.append(channel)
                    continue
                mine = readonly(getattr(channel, step)(np.eye(_acts_on(channel, step))[None])[0])
                last = blocks[-1] if blocks else None
                if isinstance(last, np.ndarray) and max(last.shape) * max(mine.shape) <= BLOCK:
                    blocks[-1] = readonly(np.kron(last, mine))
                else:
                    blocks.append(mine)
            self._made[step] = tuple(blocks)
        return self._made[step]

    def _modes(self, step: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Let every block act on its own axis of the flattened tensor (1, cells, batch)."""
        batch, left = x.shape[2], 1
        for block in self._blocks(step):
            # Axes before this one already have their new length, axes behind it still their old one.
            if isinstance(block, Channel):
                x = getattr(block, step)(x.reshape(left, _acts_on(block, step), -1))
            elif x.size == left * block.shape[1]:  # nothing behind this axis: one product of matrices, not many small
                x = (x.reshape(left, -1) @ block.T)[:, :, None]
            else:
                x = block @ x.reshape(left, block.shape[1], -1)
            left *= x.shape[1]
        return x.reshape(1, -1, batch)

    def _apply(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._modes("_apply", x)

    def _adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._modes("_adjoint", y)

    def _solve(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._modes("_solve", x)

    def _solve_adjoint(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._modes("_solve_adjoint", y)

    def _solve_squared(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._modes("_solve_squared", x)

    def _spread(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        diagonals, sums = zip(*(channel.spread() for channel in self.channels), strict=True)
        return _outer(diagonals), _outer(sums)

    def _matrix(self) -> NDArray[np.float64]:
        whole: NDArray[Any] = np.ones((1, 1))
        for channel in self.channels:
            whole = np.kron(whole, channel.matrix())
        return whole

    @property
    def is_support(self) -> bool:  # type: ignore[override]
        """Whether some attribute's reports are sets."""
        return any(channel.is_support for channel in self.channels)

    def tally(self, reports: NDArray[Any], times: NDArray[np.integer] | None = None) -> NDArray[np.int64]:
        """Count rows of reports: a cell for every combination of what the attributes' reports hold."""
        counts = np.zeros(self.outputs)
        for start in range(0, len(reports), _TALLIED):
            rows = reports[start : start + _TALLIED]
            *heads, last = (channel.members(rows[:, i]) for i, channel in enumerate(self.channels))
            often = np.ones(len(rows)) if times is None else times[start : start + _TALLIED].astype(np.float64)
            joint = often[:, None]
            for held in heads:
                joint = (joint[:, :, None] * held[:, None, :]).reshape(len(rows), -1)
            counts += (joint.T @ last).ravel()
        return np.rint(counts).astype(np.int64).reshape(self.output_shape)

    def likelihood(self, reports: NDArray[Any]) -> NDArray[np.float64]:
        """Rows of reports, one column an attribute: the product of what they say about each."""
        rows = np.ones((len(reports), 1))
        for i, channel in enumerate(self.channels):
            mine = channel.likelihood(reports[:, i])
            rows = (rows[:, :, None] * mine[:, None, :]).reshape(len(reports), -1)
        return rows

    def every_report(self, most: int) -> NDArray[Any] | None:
        """Every combination, a row each."""
        parts = [channel.every_report(most) for channel in self.channels]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts) or prod(map(len, known)) > most:
            return None
        return np.stack([axis.ravel() for axis in np.meshgrid(*known, indexing="ij")], axis=1)

    def reports_in(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Ask every attribute in turn; the cells of each are one axis here, and may be several of its own (blocks)."""
        for channel in self.channels:
            counts = channel.reports_in(counts.reshape(*channel.output_shape, *counts.shape[1:]))
        return counts

    def moments_times(self, shares: NDArray[np.float64], w: NDArray[np.float64]) -> NDArray[np.float64]:
        """E[z z'] w; z is the product of the attributes' own, so its moments are a product as well."""
        if not self.is_support:
            return super().moments_times(shares, w)
        parts = [_sum_of_squares(channel) for channel in self.channels]
        lam = _along_axes([left for left, _ in parts], shares)
        return _along_axes([right for _, right in parts], lam * _along_axes([right.T for _, right in parts], w))

    def second_moments(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Column by column where some reports are sets."""
        if not self.is_support:
            return super().second_moments(shares)
        cells = np.eye(self.inputs).reshape(-1, *self.input_shape)
        return np.stack(
            [np.stack([self.moments_times(shares[..., r], w).ravel() for w in cells]) for r in range(shares.shape[-1])]
        )

    def draw(self, pi: NDArray[np.float64], n: int, rng: np.random.Generator, replicates: int) -> NDArray[np.float64]:
        """Counts of n reports; where some are sets, every respondent is simulated."""
        if not self.is_support:
            return super().draw(pi, n, rng, replicates)
        samples = multinomials(pi.reshape(self.inputs, -1), n, rng, replicates)
        return np.stack([self.tally(self.draw_reports(people, rng)) for people in samples], axis=-1).astype(np.float64)

    def draw_reports(self, people: NDArray[np.int64], rng: np.random.Generator) -> NDArray[Any]:
        """The reports of so many people with each truth, a row each."""
        truths = np.repeat(np.arange(self.inputs), people)
        codes = np.stack(np.unravel_index(truths, self.input_shape), axis=1)
        return self.randomize(codes, source=Seeded(int(rng.integers(1 << 62))))

    def affine(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Only a product of one is a single binomial a cell."""
        return self.channels[0].affine() if len(self.channels) == 1 else None

    def executed(self) -> Kronecker:
        """The product of the executed channels."""
        return Kronecker([channel.executed() for channel in self.channels])

    def weights(self) -> NDArray[np.int64]:
        """Not a single draw: every attribute has weights and a draw of its own."""
        raise DesignError("a product is run attribute by attribute; look at the weights of its .channels")

    def _randomize(self, codes: ArrayLike, source: Source) -> NDArray[Any]:
        """Disguise a matrix of codes, one row a respondent, one column an attribute, each with draws of its own."""
        given = np.asarray(codes)
        if given.ndim != 2 or given.shape[1] != len(self.channels):
            raise InputError(
                f"expected a matrix of codes with {len(self.channels)} columns, got shape {given.shape}",
                expected=len(self.channels),
            )
        wide = [channel.name for channel in self.channels if channel.reports > 1 << 63]
        if wide:
            raise DesignError(
                f"a report through {wide[0]} does not fit one number, so it cannot be a column of several"
            )
        columns = [channel.randomize(given[:, i], source=source) for i, channel in enumerate(self.channels)]
        return np.stack(columns, axis=1)

    @classmethod
    def from_parts(cls, channels: Sequence[Mapping[str, Any]]) -> Kronecker:
        """Read what `to_dict` wrote."""
        from deniable.channels.read_channel import channel_from_dict  # which reads this kind too

        return cls([channel_from_dict(each) for each in channels])

    def to_dict(self) -> dict[str, object]:
        """{"kind": "kronecker", ...} with its parts."""
        return {"kind": "kronecker", "channels": [channel.to_dict() for channel in self.channels]}


def product(channels: Sequence[Channel]) -> Channel:
    """What several questions were answered through: their product, or the only channel itself."""
    return channels[0] if len(channels) == 1 else Kronecker(channels)


def _acts_on(channel: Channel, step: str) -> int:
    """How long the axis is that a step of a channel acts on."""
    return channel.inputs if step in ("_apply", "_solve_adjoint") else channel.outputs


def _sum_of_squares(channel: Channel) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(L, R) with E[z z'] = R diag(L shares) R'; see `Support.as_sum_of_squares`."""
    if isinstance(channel, Support):
        return channel.as_sum_of_squares()
    every = np.eye(channel.outputs)
    return every, channel.solve(every)


def _along_axes(matrices: Sequence[NDArray[np.float64]], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Multiply a tensor by a matrix along each of its axes."""
    for axis, matrix in enumerate(matrices):
        x = np.moveaxis(np.tensordot(matrix, x, axes=(1, axis)), 0, axis)
    return x


def _outer(vectors: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The outer product of vectors, one axis each."""
    product: NDArray[np.float64] = np.ones(())
    for vector in vectors:
        product = np.multiply.outer(product, vector)
    return product
