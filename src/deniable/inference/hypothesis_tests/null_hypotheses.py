"""Hypotheses as residuals that are zero under them, for tests that know a table and its covariance.

For independence they are d_ij = pi_ij - pi_i pi_j, the last row and column left out, within each cell of what is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from deniable.likelihood.hypothesis_models import Independence
from deniable.numerics.simplex import norm_sub

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Hypothesis(Protocol):
    """What is tested. Tables carry a last axis of replicates."""

    def residuals(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """What is zero under the hypothesis, (residuals, replicates)."""
        ...

    def null(self, table: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
        """A table of the hypothesis that is asymptotically as near as any; no cell is below the floor."""
        ...


@dataclass(frozen=True)
class Given:
    """The table is `expected`."""

    expected: NDArray[np.float64]

    def residuals(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Its cells but the last, less the expected ones."""
        apart = table - self.expected[..., None]
        return apart.reshape(-1, table.shape[-1])[:-1]

    def null(self, table: NDArray[np.float64], floor: float) -> NDArray[np.float64]:  # noqa: ARG002 - it is given
        """The expected table."""
        return np.repeat(self.expected[..., None], table.shape[-1], axis=-1)


@dataclass(frozen=True)
class Independent:
    """The axes a and b are independent within each cell of the axes `given`."""

    a: int
    b: int
    given: tuple[int, ...] = ()

    def residuals(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """pi_ijc pi_c - pi_ic pi_jc, i and j but the last. Without `given`, pi_c is one."""
        order = (*self.given, self.a, self.b)
        others = tuple(axis for axis in range(table.ndim - 1) if axis not in order)
        kept = [axis for axis in range(table.ndim - 1) if axis in order]
        moved = np.transpose(table.sum(axis=others), [*(kept.index(axis) for axis in order), len(kept)])
        cells = moved.reshape(-1, *moved.shape[-3:])
        rows, columns = cells.sum(axis=2, keepdims=True), cells.sum(axis=1, keepdims=True)
        total = cells.sum(axis=(1, 2), keepdims=True) if self.given else 1.0
        d = cells * total - rows * columns
        return d[:, :-1, :-1].reshape(-1, table.shape[-1])

    def null(self, table: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
        """The product of the margins of the table's projection to the simplex, no margin empty."""
        return Independence(self.a, self.b, self.given).maximize(_possible(table, floor))


@dataclass(frozen=True)
class Same:
    """The table, summed down to the axes `kept`, is the same in all groups, which are its first axis."""

    kept: tuple[int, ...]

    def _margin(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        others = tuple(axis for axis in range(1, table.ndim - 1) if axis - 1 not in self.kept)
        return table.sum(axis=others, keepdims=True)

    def residuals(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Every group's margin but the last cell, less the first group's."""
        groups = self._margin(table).reshape(len(table), -1, table.shape[-1])[:, :-1]
        return (groups[1:] - groups[:1]).reshape(-1, table.shape[-1])

    def null(self, table: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
        """Each group's own table, with the groups' mean for its margin."""
        possible = np.stack([_possible(group, floor) for group in table])
        margin = self._margin(possible)
        return possible * margin.mean(axis=0) / margin


@dataclass(frozen=True)
class InEach:
    """A hypothesis that holds in each of several groups, which are the table's first axis."""

    inner: Hypothesis

    def residuals(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Those of every group."""
        return np.concatenate([self.inner.residuals(group) for group in table])

    def null(self, table: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
        """That of every group."""
        return np.stack([self.inner.null(group, floor) for group in table])


def _possible(table: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
    """The projection to the simplex, no cell below the floor."""
    flat = table.reshape(-1, table.shape[-1])
    near = np.maximum(np.stack([norm_sub(column) for column in flat.T], axis=1), floor)
    return (near / near.sum(axis=0)).reshape(table.shape)
