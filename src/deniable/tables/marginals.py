"""Tables made of smaller tables."""

from __future__ import annotations

from functools import reduce
from itertools import combinations
from operator import mul
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from deniable.core.domain import Domain
    from deniable.core.table import Table


def summed(values: NDArray[np.float64], domain: Domain, part: Domain) -> NDArray[np.float64]:
    """Sum an array over the cells of `domain` down to those of `part`; axes behind the cells are carried along.

    What `Table.project` does for one table, this does for a whole batch of them.
    """
    axes = domain.axes(part)
    others = tuple(axis for axis in range(len(domain)) if axis not in axes)
    behind = range(len(axes), values.ndim - len(others))
    return np.transpose(values.sum(axis=others), [*np.argsort(np.argsort(axes)).tolist(), *behind])


def spread(values: NDArray[np.float64], part: Domain, domain: Domain) -> NDArray[np.float64]:
    """View an array over the cells of `part` with the axes of a larger `domain`: the transpose of `summed`."""
    order = [part.names.index(name) for name in domain if name in part]
    behind = values.shape[len(part) :]
    ordered = np.transpose(values, [*order, *range(len(part), values.ndim)])
    return ordered.reshape([len(v) if v.name in part else 1 for v in domain.values()] + list(behind))


def marginals(table: Table, k: int) -> Iterator[Table]:
    """Project a table to every set of k of its attributes."""
    for attributes in combinations(table.attributes, k):
        yield table.project(attributes)


def product(tables: Sequence[Table]) -> Table:
    """Multiply tables: the joint table if the parts were independent.

    >>> from deniable.core.domain import Domain
    >>> from deniable.core.table import Table
    >>> a, b = Table(Domain({"a": [0, 1]}), [0.25, 0.75]), Table(Domain({"b": [0, 1]}), [0.5, 0.5])
    >>> product([a, b]).values.tolist()
    [[0.125, 0.125], [0.375, 0.375]]
    """
    return reduce(mul, tables)


def independent(table: Table) -> Table:
    """Multiply a table's own one-way marginals: the same margins, no dependence, the same total."""
    total = table.total
    return product(list(marginals(table, 1))) * (total ** (1 - len(table.domain)) if total else 0.0)


def cramers_v(table: Table) -> float:
    """Cramer's V of a two-way table: sqrt(phi^2 / (min(r, c) - 1)), phi^2 = sum (o - e)^2 / e over shares.

    >>> from deniable.core.domain import Domain
    >>> from deniable.core.table import Table
    >>> round(cramers_v(Table(Domain({"a": [0, 1], "b": [0, 1]}), [[4, 0], [2, 4]])), 2)
    0.67
    """
    share = table.normalize()
    expected = independent(share).values
    # A row or column that nobody is in adds nothing to phi^2, and must not add 0/0.
    inside = expected > 0
    phi2 = float((((share.values - expected)[inside]) ** 2 / expected[inside]).sum())
    return (phi2 / (min(table.shape) - 1)) ** 0.5
