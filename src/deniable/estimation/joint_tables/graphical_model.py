"""One graphical model of all attributes, through private-pgm (package `mbi`, McKenna et al. 2019; extra `graphical`).

The model is a log-linear table too, but held by its cliques: what matters is how wide its junction tree is, not how
many cells the full table has. So it reaches where `loglinear` cannot: dozens of attributes at once, and synthetic
records. It is fitted to the unbiased tables by least squares, not to the reports by likelihood.

Not every observed pair fits into a junction tree of bearable width. Pairs are taken in the order of their dependence,
for as long as the tree stays small enough; the others are left to what these imply.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.table import Table, independent
from deniable.errors import MissingExtraError
from deniable.estimation.inversion import pooled_inverse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.core.domain import Domain
    from deniable.likelihood.evidence import Evidence

_TREE_CELLS = 1 << 14
_STEPS = 1000


class GraphicalModel:
    """A fitted model: tables of any attributes, and records."""

    def __init__(self, model: Any, domain: Domain, pairs: Sequence[tuple[str, ...]]) -> None:
        """Wrap what `mbi` fitted; `pairs` are the sets of attributes that it holds together."""
        self._model, self.domain, self.pairs = model, domain, tuple(pairs)

    def table(self, attributes: Sequence[str]) -> Table:
        """The model's table over some attributes."""
        part = self.domain.project(attributes)
        values = np.asarray(self._model.project(tuple(attributes)).datavector(), dtype=np.float64)
        return Table(part, values / values.sum())

    def records(self, n: int, seed: int) -> NDArray[np.integer]:
        """Codes of n synthetic records whose marginals follow the model's."""
        # mbi draws from NumPy's global generator: give it a state of our own and put the old one back.
        before = np.random.get_state()  # noqa: NPY002
        np.random.seed(seed)  # noqa: NPY002
        try:
            data = self._model.synthetic_data(rows=n)
        finally:
            np.random.set_state(before)  # noqa: NPY002
        columns = data.to_dict() if hasattr(data, "to_dict") else data.data
        return np.stack([np.asarray(columns[name]) for name in self.domain], axis=1)


def _mbi() -> Any:
    try:
        from jax import config
    except ImportError:
        raise MissingExtraError(
            "graphical models need the package mbi, which is not installed: pip install 'deniable[graphical]'",
            extra="graphical",
        ) from None
    # mbi asks for double precision and for no compilation cache, and warns otherwise.
    settings: Any = config
    settings.update("jax_enable_x64", True)  # noqa: FBT003
    settings.update("jax_enable_compilation_cache", False)  # noqa: FBT003
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mbi
    return mbi


def fit_graphical(told: Evidence, *, tree_cells: int = _TREE_CELLS) -> GraphicalModel:
    """Fit one model of the asked attributes to the tables of all sets of them that were asked together."""
    mbi, domain = _mbi(), told.asked
    asked = {tuple(name for name in domain if name in group.said.part) for group in told.groups}
    tables, strength = {}, {}
    for names in sorted(asked - {()} | {(name,) for name in domain}):
        part = domain.project(names)
        inverse = pooled_inverse(told, part)
        table, variance = Table(part, inverse.estimate), inverse.variances
        tables[names] = (table, float(np.sqrt(variance.mean())))
        # Squared distance from independence beyond what noise alone would show.
        strength[names] = float(((table - independent(table)).values ** 2).sum() - variance.sum())
    whole = mbi.Domain(domain.names, domain.shape)
    chosen: list[tuple[str, ...]] = [names for names in tables if len(names) == 1]
    for names in sorted((n for n in tables if len(n) > 1), key=lambda n: -strength[n]):
        if strength[names] > 0 and _tree_size(mbi, whole, [*chosen, names], domain) <= tree_cells:
            chosen.append(names)
    measured = [
        mbi.LinearMeasurement(tables[names][0].values.ravel(), names, stddev=tables[names][1]) for names in chosen
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mbi.estimation.MirrorDescent().estimate(whole, measured, known_total=1.0, iters=_STEPS)
    return GraphicalModel(model, domain, chosen)


def _tree_size(mbi: Any, whole: Any, cliques: Sequence[tuple[str, ...]], domain: Domain) -> int:
    """How many cells the cliques of the junction tree have, all together."""
    tree, _ = mbi.junction_tree.make_junction_tree(whole, list(cliques))
    return sum(int(np.prod(domain.project(clique).shape)) for clique in tree.nodes)
