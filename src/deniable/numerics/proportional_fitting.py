"""Iterative proportional fitting: the table of largest entropy with given margins (Deming & Stephan).

Start even; scale the table to each margin in turn; repeat. With consistent margins it settles on the log-linear table
that has them. Noisy margins, projected to the simplex one by one, are not quite consistent: the sweeps then end in a
small cycle, and the table reached is the answer. Quick, and blind to how certain each margin is. Of few reports one
margin may have nobody where another has everybody; so no cell of a margin is taken to be quite empty, or nothing would
be left to scale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.core.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.core.domain import Domain

_SWEEPS = 500
_SETTLED = 1e-10
_LEAST = 1e-6  # of a margin's even share: no cell has less


def fit_margins(margins: Sequence[Table], domain: Domain) -> Table:
    """Fit a table over `domain` to margins without negative cells.

    >>> from deniable.core.domain import Domain
    >>> a, b = (Table(Domain({name: [0, 1]}), [0.25, 0.75]) for name in "ab")
    >>> fit_margins([a, b], Domain({"a": [0, 1], "b": [0, 1]})).values.tolist()
    [[0.0625, 0.1875], [0.1875, 0.5625]]
    """
    values = np.full(domain.shape, 1 / domain.cells)
    targets = [_filled(margin).expand(domain) for margin in margins]
    axes = [tuple(i for i, size in enumerate(target.shape) if size == 1) for target in targets]
    for _ in range(_SWEEPS):
        before = values
        for target, others in zip(targets, axes, strict=True):
            have = values.sum(axis=others, keepdims=True)
            values = values * (target / have)
        if np.abs(values - before).max() < _SETTLED:
            break
    return Table(domain, values / values.sum())


def _filled(margin: Table) -> Table:
    """A margin in which nothing is quite empty."""
    least = _LEAST / margin.values.size
    return Table(margin.domain, np.maximum(margin.values, least)).normalize()
