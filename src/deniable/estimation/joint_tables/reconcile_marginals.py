"""Reconciling overlapping tables: one set of marginals out of many noisy ones, by least squares.

Tables that share attributes disagree about what they share. Write a table by its **moments**: for every set S of its
attributes, Pr(X_S = c) for the categories c other than each attribute's first. That is a linear change of coordinates,
one axis at a time, and summing out an attribute just drops the moments that name it. So tables are consistent exactly
when their common moments are equal, and reconciling is ordinary regression: every observed table o reports moments m_o
= R_o mu + noise, where R_o picks the moments that it has, and

    mu = (sum R_o' W_o R_o)^-1 sum R_o' W_o m_o,     W_o = inverse covariance of m_o if all cells were equally frequent.

The weights depend on channels and numbers of reports, never on the answers, so the result is unbiased and linear, and
its covariance follows from those of the tables. Whatever the tables know about each other's margins is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.domain import Domain
from deniable.core.table import Table
from deniable.errors import NotCoveredError
from deniable.frozen import Frozen
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.channels.channel import Channel
    from deniable.designs.observation import Observation


@dataclass(frozen=True, eq=False)
class Reconciled(Frozen):
    """Consistent, unbiased marginals: any set of attributes that some observation covers."""

    domain: Domain
    moments: NDArray[np.float64]
    covariance: NDArray[np.float64]
    places: Mapping[frozenset[str], NDArray[np.int64]]

    def _indices(self, part: Domain) -> NDArray[np.int64]:
        missing = frozenset(part) not in self.places
        if missing:
            raise NotCoveredError(
                f"no observation covers {listed(part)}, so reconciling says nothing about them together",
                attributes=part.names,
            )
        return moment_places(part, self.places, self.domain)

    def table(self, attributes: str | Iterable[str]) -> Table:
        """The reconciled table over some attributes. Cells may be negative."""
        part = self.domain.project(attributes)
        indices = self._indices(part)
        # Place -1, the moment that names no attribute, is the total.
        return Table(part, from_moments(np.append(self.moments, 1.0)[indices]))

    def covariance_of(self, attributes: str | Iterable[str]) -> NDArray[np.float64]:
        """The covariance of that table's cells, in the order of `values.ravel()`."""
        part = self.domain.project(attributes)
        indices = self._indices(part).ravel()
        known = np.flatnonzero(indices >= 0)
        back = from_moments(np.eye(part.cells).reshape(*part.shape, -1), trailing=1).reshape(part.cells, -1)[:, known]
        return back @ self.covariance[np.ix_(indices[known], indices[known])] @ back.T


def reconcile(observations: Sequence[Observation]) -> Reconciled:
    """Reconcile every observation's own unbiased table with all others."""
    domain = Domain({v.name: v for o in observations for v in o.domain.values()}.values())
    sets = sorted({s for o in observations for s in _subsets(o.domain)}, key=lambda s: (len(s), domain.axes(sorted(s))))
    places: dict[frozenset[str], NDArray[np.int64]] = {}
    size = 0
    for s in sets:
        shape = [len(v) - 1 for v in domain.values() if v.name in s]
        places[s] = size + np.arange(int(np.prod(shape))).reshape(shape)
        size += int(np.prod(shape))
    information, pull, noise = np.zeros((size, size)), np.zeros(size), np.zeros((size, size))
    for o in observations:
        indices = moment_places(o.domain, places, domain).ravel()
        known = np.flatnonzero(indices >= 0)
        rows = indices[known]
        cells = o.domain.cells
        # An unbiased table of sets need not sum to one: what it misses is spread evenly, or the cell that moments leave
        # out would carry it. A table that sums to one stays as it is.
        spread = np.eye(cells) - 1 / cells
        to = to_moments(spread.reshape(*o.domain.shape, -1), trailing=1).reshape(cells, -1)
        even_part = to_moments(np.full((*o.domain.shape, 1), 1 / cells), trailing=1).reshape(cells)
        even = o.channel.apply(np.full(o.channel.input_shape, 1 / o.channel.inputs))
        weight = np.linalg.inv(_covariance(to[known], o.channel, even, o.n))
        information[np.ix_(rows, rows)] += weight
        pull[rows] += weight @ (to[known] @ o.channel.solve(o.shares).ravel() + even_part[known])
        noise[np.ix_(rows, rows)] += weight @ _covariance(to[known], o.channel, o.shares, max(o.n - 1, 1)) @ weight
    back = np.linalg.inv(information)
    return Reconciled(domain, back @ pull, back @ noise @ back, places)


def _covariance(to: NDArray[np.float64], channel: Channel, shares: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """The covariance of the moments `to` @ (estimated cells) of n reports with the given shares."""
    mean = to @ channel.solve(shares).ravel()
    second = to @ channel.second_moments(shares[..., None])[0] @ to.T
    return (second - np.outer(mean, mean)) / n


def _subsets(domain: Domain) -> Iterable[frozenset[str]]:
    names = domain.names
    return (frozenset(s) for s in chain.from_iterable(combinations(names, k) for k in range(1, len(names) + 1)))


def moment_places(
    part: Domain, places: Mapping[frozenset[str], NDArray[np.int64]], domain: Domain
) -> NDArray[np.int64]:
    """Where the moments of a table stand among all moments, in the table's shape; -1 for its total."""
    indices = np.full(part.shape, -1, dtype=np.int64)
    for s in _subsets(part):
        names = [name for name in part if name in s]
        # Stored in the whole domain's order of attributes; wanted in the table's.
        stored = [name for name in domain if name in s]
        block = places[s].transpose([stored.index(name) for name in names])
        indices[tuple(slice(1, None) if name in s else 0 for name in part)] = block
    return indices


def to_moments(values: NDArray[np.float64], trailing: int = 0) -> NDArray[np.float64]:
    """Cells to moments: along every axis, the first entry becomes the sum, the others stay.

    >>> to_moments(np.array([[0.1, 0.2], [0.3, 0.4]])).round(3).tolist()
    [[1.0, 0.6], [0.7, 0.4]]
    """
    for axis in range(values.ndim - trailing):
        rest = np.take(values, range(1, values.shape[axis]), axis=axis)
        values = np.concatenate([values.sum(axis=axis, keepdims=True), rest], axis=axis)
    return values


def from_moments(values: NDArray[np.float64], trailing: int = 0) -> NDArray[np.float64]:
    """Moments to cells: along every axis, the first entry becomes what the others leave of it."""
    for axis in range(values.ndim - trailing):
        rest = np.take(values, range(1, values.shape[axis]), axis=axis)
        first = np.take(values, [0], axis=axis) - rest.sum(axis=axis, keepdims=True)
        values = np.concatenate([first, rest], axis=axis)
    return values
