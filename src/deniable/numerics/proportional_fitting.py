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
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from deniable.core.domain import Domain

    Array = NDArray[np.float64]
    Fold = tuple[Callable[[Array], Array], Callable[[Array], Array]]

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
    folds = [(lambda x, others=others: x.sum(axis=others, keepdims=True), lambda ratio: ratio) for others in axes]
    values, _ = proportional_fit(values, folds, targets, sweeps=_SWEEPS, close=0.0, settled=_SETTLED)
    return Table(domain, values / values.sum())


def proportional_fit(
    values: Array, folds: Sequence[Fold], targets: Sequence[Array], *, sweeps: int, close: float, settled: float = 0.0
) -> tuple[Array, float]:
    """Scale values to each margin in turn, until all are met, or nothing moves any more.

    Args:
        values: where to begin.
        folds: of each margin, what sums values to it, and what spreads its numbers over the values.
        targets: the margins wanted; of sums that are zero they are left alone.
        sweeps: how often at most.
        close: how far sums may be off, as shares of themselves, where they count as met; zero is not looked for.
        settled: how little values move in a sweep where it ends.

    Returns:
        The values, and how far a sum was off at worst before it was met in the last sweep.
    """
    worst = 0.0
    for _ in range(sweeps):
        before, worst = values, 0.0
        for (down, up), target in zip(folds, targets, strict=True):
            have = down(values)
            ratio = np.divide(target, have, out=np.ones_like(have), where=have > 0)
            if close:
                worst = max(worst, float(np.abs(ratio - 1).max()))
            values = values * up(ratio)
        if worst < close or np.abs(values - before).max() < settled:
            break
    return values, worst


def _filled(margin: Table) -> Table:
    """A margin in which nothing is quite empty."""
    least = _LEAST / margin.values.size
    return Table(margin.domain, np.maximum(margin.values, least)).normalize()
