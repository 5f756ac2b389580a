"""What is wanted, sorted by sets of attributes: the functions of a table fall apart into contrasts of each set.

Over attributes with k_i categories, the functions of the cells are the orthogonal sum of spaces V_S, one for every set
S of attributes: products of contrasts of the attributes in S, constant in the others. V_S has prod over S of (k_i - 1)
dimensions. At even shares a functional of a table T has parts in the V_S with S inside T only, however many attributes
there are beside: so sums of singular values are computed set by set, and the whole domain is never formed.

Everything is scaled by the root of the number of all cells: a row w of table T with k_T cells has the length
|w| / sqrt(k_T), so that the squared sum of the singular values here is S^2 / t of the floor.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import isqrt, prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import InputError
from deniable.frozen import Frozen, readonly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from deniable.aims.aim import Wanted
    from deniable.aims.assumed_truth import Population
    from deniable.core.domain import Domain

    Attributes = tuple[str, ...]

LOWERED = 1 - 1e-9  # singular values of a few thousand dimensions are exact to about 1e-12 of the largest
_FINE = 1 << 100  # parts of one that roots are taken in
_MOST_DIMENSIONS = 4096  # contrasts that belong together are diagonalised together
_NOTHING = 1e-20  # of a squared length: rounding


@dataclass(frozen=True, eq=False)
class Contrasts(Frozen):
    """The wanted numbers as lengths on the contrasts of each set of attributes.

    Quantiles and differences stand for their derivative, which is taken at even shares or at a population.
    """

    domain: Domain
    wanted: tuple[Wanted, ...]
    truth: Population | None = None

    def dimensions(self, attributes: Attributes) -> int:
        """How many contrasts the set has."""
        return prod(len(self.domain[name]) - 1 for name in attributes)

    @cached_property
    def exactly(self) -> Mapping[Attributes, Fraction]:
        """For every set, the squared length that whole tables and associations give to each of its contrasts."""
        found: dict[Attributes, Fraction] = {}
        for one in self.wanted:
            if one.is_whole:
                names = self.ordered(one.attributes)
                share = Fraction(one.weight) / prod(len(self.domain[name]) for name in names)
                for inside in one.even_sets(names):
                    found[inside] = found.get(inside, Fraction(0)) + share
        return found

    @cached_property
    def alike(self) -> Mapping[Attributes, float]:
        """The same lengths as floats."""
        return {names: float(length) for names, length in self.exactly.items()}

    @cached_property
    def _others(self) -> tuple[dict[Attributes, NDArray[np.float64]], ...]:
        """For every other wanted item, its rows in an orthonormal basis of each set's contrasts."""
        return tuple(self._parts(one) for one in self.wanted if not one.is_whole)

    @cached_property
    def squares(self) -> dict[Attributes, float]:
        """For every set, the sum over its contrasts of their squared lengths."""
        found = {names: self.dimensions(names) * length for names, length in self.alike.items()}
        for parts in self._others:
            for names, rows in parts.items():
                found[names] = found.get(names, 0.0) + float((rows**2).sum())
        return found

    def gram(self, sets: Iterable[Attributes]) -> NDArray[np.float64]:
        """The products W'W of all wanted rows on the contrasts of some sets, behind each other."""
        ordered = list(sets)
        sizes = [self.dimensions(names) for names in ordered]
        total = np.diag(np.repeat([self.alike.get(names, 0.0) for names in ordered], sizes))
        for parts in self._others:
            if not set(ordered).isdisjoint(parts):
                count = len(next(iter(parts.values())))
                rows = [parts.get(names, np.zeros((count, size))) for names, size in zip(ordered, sizes, strict=True)]
                together = np.concatenate(rows, axis=1)
                total += together.T @ together
        return total

    @cached_property
    def singular_sum(self) -> float:
        """The sum of the singular values of all wanted rows, over the root of the number of cells."""
        return self.weighted_sum(lambda _: 1.0)

    def weighted_sum(self, weight: Callable[[Attributes], float]) -> float:
        """The same where the contrasts of every set are multiplied by the root of a weight."""
        joined = self._joined
        together = set().union(*joined) if joined else set()
        sets = self.alike.items()
        alone = sum(self.dimensions(s) * sqrt(length * weight(s)) for s, length in sets if s not in together)
        return alone + sum(self._diagonalised(sets, weight) for sets in joined)

    def weighted_sum_below(self, weight: Callable[[Attributes], Fraction]) -> Fraction:
        """A fraction not above it: exact but for roots, where nothing but tables and associations is wanted.

        Of other numbers the singular values are computed in floats, and lowered by more than their rounding errors.
        """
        if self._joined:
            return Fraction(self.weighted_sum(lambda names: float(weight(names))) * LOWERED)
        parts = (self.dimensions(s) * isqrt(int(length * weight(s) * _FINE**2)) for s, length in self.exactly.items())
        return Fraction(sum(parts), _FINE)

    @property
    def hanging_together(self) -> int:
        """How many contrasts some items have parts in at once, at most."""
        return max((sum(map(self.dimensions, sets)) for sets in self._joined), default=0)

    @cached_property
    def _joined(self) -> list[set[Attributes]]:
        """Sets that some item has parts in at once; their contrasts may be mixed."""
        joined: list[set[Attributes]] = []
        for parts in self._others:
            touching = [group for group in joined if group & set(parts)]
            joined = [group for group in joined if group not in touching]
            joined.append(set(parts).union(*touching))
        return joined

    def _diagonalised(self, sets: set[Attributes], weight: Callable[[Attributes], float]) -> float:
        ordered = sorted(sets)
        sizes = [self.dimensions(names) for names in ordered]
        if sum(sizes) > _MOST_DIMENSIONS:
            raise InputError(
                f"the wanted numbers hang together over {sum(sizes)} contrasts, more than {_MOST_DIMENSIONS}; ask for "
                f"tables instead of means or differences of them, or for fewer at once",
                contrasts=sum(sizes),
            )
        # Not through `gram`: roots of eigenvalues would make something of rounding errors.
        roots = [sqrt(weight(names)) for names in ordered]
        lengths = [root * sqrt(self.alike.get(names, 0.0)) for names, root in zip(ordered, roots, strict=True)]
        stacked = [np.diag(np.repeat(lengths, sizes))]
        for parts in self._others:
            if not sets.isdisjoint(parts):
                count = len(next(iter(parts.values())))
                rows = [parts.get(names, np.zeros((count, size))) for names, size in zip(ordered, sizes, strict=True)]
                stacked.append(np.concatenate([x * root for x, root in zip(rows, roots, strict=True)], axis=1))
        return float(np.linalg.svd(np.concatenate(stacked), compute_uv=False).sum())

    def _parts(self, one: Wanted) -> dict[Attributes, NDArray[np.float64]]:
        known = None if self.truth is None else self.truth.shares(self.domain.project(one.attributes))
        rows = one.rows(self.domain, known)
        total = float((rows**2).sum()) / prod(len(self.domain[name]) for name in one.attributes)
        found = self.coordinates(rows, one.attributes)
        return {names: part for names, part in found.items() if float((part**2).sum()) > _NOTHING * total}

    def coordinates(self, rows: NDArray[np.float64], attributes: Attributes) -> dict[Attributes, NDArray[np.float64]]:
        """Rows over the cells of some attributes, in an orthonormal basis of the contrasts of every set inside them.

        Scaled by the root of the number of cells; in the same order of contrasts in whatever order attributes are
        named.
        """
        own = self.domain.project(attributes)
        tensor = rows.reshape(len(rows), *own.shape) / sqrt(own.cells)
        found = {}
        for inside in subsets(self.ordered(attributes)):
            part = tensor
            for axis, (name, variable) in enumerate(own.items(), start=1):
                k = len(variable)
                basis = _contrasts(k) if name in inside else np.full((1, k), 1 / sqrt(k))
                part = np.moveaxis(np.tensordot(basis, part, (1, axis)), 0, axis)
            order = [1 + own.names.index(name) for name in inside]
            rest = [axis for axis in range(1, part.ndim) if axis not in order]
            found[inside] = readonly(part.transpose(0, *order, *rest).reshape(len(rows), -1).copy())
        return found

    def ordered(self, names: Iterable[str]) -> Attributes:
        """Some attributes, in the order of the domain."""
        chosen = set(names)
        return tuple(name for name in self.domain if name in chosen)


def subsets(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """All sets of some of the names, but not the empty one."""
    for size in range(1, len(names) + 1):
        yield from combinations(names, size)


def _contrasts(k: int) -> NDArray[np.float64]:
    """Orthonormal rows that sum to zero: each category against those before it (Helmert's)."""
    rows = np.tril(np.ones((k - 1, k)))
    places = np.arange(1, k)
    rows[places - 1, places] = -places
    return rows / np.sqrt(places * (places + 1))[:, None]
