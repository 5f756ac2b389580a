"""The paper's reconstruction of an unobserved table, made feasible: least squares of smallest norm, or l1.

Imran & Meo (section 4.3, after PriView) ask for the table of smallest norm among those that have all observed margins:

    minimize  sum x^2    subject to  x >= 0,  M_o x = y_o  for every observed table o.

Observed tables are noisy and contradict each other, so no such table exists. Here the margins are met as well as they
can be,

    "l2"   minimize  sum_o w_o |M_o x - y_o|^2 + rho |x|^2     subject to  x >= 0,  sum x = 1,
    "l1"   minimize  sum_o w_o |M_o x - y_o|_1                 subject to  x >= 0,  sum x = 1,

w_o = 1 / mean variance of y_o's cells (its square root for l1). With a tiny rho the first tends to the paper's own
answer among all best fits. Solved by Clarabel, an interior-point method.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from deniable.core.table import Table
from deniable.errors import ConvergenceError, EstimationError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy.sparse import csc_matrix

    from deniable.core.domain import Domain

_RIDGE = 1e-6
_MOST_CELLS = 1 << 15


def fit_quadratic(
    margins: Sequence[tuple[Table, float]], domain: Domain, norm: Literal["l2", "l1"] = "l2", *, ridge: float = _RIDGE
) -> Table:
    """Fit a table over `domain` to noisy margins, each with the mean variance of its cells."""
    try:
        import clarabel
    except ImportError:
        raise MissingExtraError(
            "this method needs Clarabel, which is not installed: pip install 'deniable[optimize]'", extra="optimize"
        ) from None
    from scipy import sparse

    cells = domain.cells
    if cells > _MOST_CELLS:
        raise EstimationError(f"{cells} cells are too many for quadratic programming (at most {_MOST_CELLS})")
    scale = min(variance for _, variance in margins)
    rows, wanted, weight = [], [], []
    for margin, variance in margins:
        rows.append(summing(margin.domain, domain))
        wanted.append(margin.values.ravel())
        weight.append(np.full(margin.domain.cells, scale / variance))
    m, y, w = sparse.vstack(rows).tocsc(), np.concatenate(wanted), np.concatenate(weight)
    ones, eye = sparse.csc_matrix(np.ones((1, cells))), sparse.identity(cells, format="csc")
    # Clarabel: minimize x'Px / 2 + q'x subject to Ax + s = b, s in the cones (0 for equality, >= 0 for inequality).
    if norm == "l2":
        p = 2 * sparse.triu(m.T @ sparse.diags(w) @ m + ridge * eye).tocsc()
        q = -2 * (m.T @ (w * y))
        a, b = sparse.vstack([ones, -eye]).tocsc(), np.concatenate([[1.0], np.zeros(cells)])
        cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(cells)]
    else:
        # |r| as the smallest u with -u <= r <= u, r = Mx - y.
        k = len(y)
        p = sparse.csc_matrix((cells + k, cells + k))
        q = np.concatenate([np.zeros(cells), np.sqrt(w)])
        unit = sparse.identity(k, format="csc")
        a = sparse.bmat([[ones, None], [-eye, None], [m, -unit], [-m, -unit]]).tocsc()
        b = np.concatenate([[1.0], np.zeros(cells), y, -y])
        cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(cells + 2 * k)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solution = clarabel.DefaultSolver(p, q, a, b, cones, settings).solve()
    if "Solved" not in str(solution.status):
        raise ConvergenceError(f"Clarabel stopped without a solution: {solution.status}", status=str(solution.status))
    found = np.array(solution.x)[:cells]
    values = np.maximum(found, 0.0)
    return Table(domain, values / values.sum())


def summing(part: Domain, domain: Domain) -> csc_matrix:
    """The sparse matrix that sums a table over `domain` down to `part`."""
    from scipy import sparse

    codes = np.indices(domain.shape).reshape(len(domain), -1)[list(domain.axes(part))]
    row = np.ravel_multi_index(tuple(codes), part.shape)
    return sparse.csc_matrix((np.ones(domain.cells), (row, np.arange(domain.cells))), shape=(part.cells, domain.cells))
