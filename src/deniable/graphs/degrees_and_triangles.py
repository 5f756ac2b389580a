r"""Degrees and triangles from a disguised graph: unbiased, with variances in closed form.

Let A be the true adjacency matrix, W_ij the number of reports (r of them, 1 or 2) that call the pair an edge, p = 1 - q
the chance that a report is true. Then for every pair

    X~ = (W - r q) / (r (p - q)),     E X~ = A,     Var X~ = s2 = p q / (p - q)^2 / r,

and different pairs are independent. With one report, s2 = e^eps / (e^eps - 1)^2. Products of different pairs' X~ are
unbiased for products of the truths, hence

    d~_i = sum_j X~_ij                   Var = (n - 1) s2, whatever the graph
    T~_i = (X~^3)_ii / 2                 Var = s2   [sum_j c_ij^2 + C(d_i, 2)]
                                             + s2^2 [m - d_i + d_i (n - 2)]
                                             + s2^3 C(n - 1, 2)
    m~ = sum_i d~_i / 2                  Var = C(n, 2) s2
    T~ = sum_i T~_i / 3                  Var = s2 sum_{i<j} c_ij^2 + s2^2 (n - 2) m + s2^3 C(n, 3)

where c_ij counts common neighbours and m edges: the terms in which one, two or all three sides of a triangle are
noise. The variance of a triangle count depends on the graph. It is estimated without bias too, from

    E sum_j (X~^2)_ij^2 = sum_j c_ij^2 + s2 [(n - 1) d_i + 2 m - 3 d_i] + s2^2 (n - 1)(n - 2)
    E d~_i^2 = d_i^2 + (n - 1) s2

and never put below its last term, which no graph can undercut.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.results import Interval, axes, frame_of, intervals_by_row, legend
from deniable.core.summary import Shown, Summary, Written
from deniable.errors import EstimationError, InputError
from deniable.frozen import Frozen
from deniable.plotting import DARK, LIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.channels.krr import KRR
    from deniable.core.results import Frame
    from deniable.graphs.graph import Graph, Node
    from deniable.graphs.noisy_graph import NoisyGraph

MOST_DENSE = 20_000  # nodes: the matrix of their pairs takes 1.6 GB
MOST_PATHS = 10**10  # paths of two reported edges that are walked in a larger, sparse graph
_NAMED = 25  # nodes that a picture can name
_ROWS = 256  # rows of the squared matrix at a time


def noise(channel: KRR, reports: int = 1) -> float:
    """s2 = p q / (p - q)^2 / reports.

    >>> from math import exp
    >>> from deniable.channels.krr import KRR
    >>> round(noise(KRR(2, epsilon=2.0)), 3), round(exp(2) / (exp(2) - 1) ** 2, 3)
    (0.181, 0.181)
    """
    return channel.p * channel.q / (channel.p - channel.q) ** 2 / reports


@dataclass(frozen=True)
class Total:
    """A sum over the whole graph, with its standard error: the number of edges, or of triangles (`of`)."""

    value: float
    std_error: float
    of: str

    def __str__(self) -> str:
        return f"All {self.of}: {self.value:.1f}, standard error {self.std_error:.1f}"


@dataclass(frozen=True, eq=False, repr=False)
class NodeEstimate(Shown, Frozen):
    """One number for every node.

    Attributes:
        name: what is estimated.
        nodes: the nodes, in order.
        values: the estimates. They may be negative, or above what a graph can have: that is how the noise averages out.
        unbiased: the same before any shrinkage.
        std_error: the standard errors of the unbiased values.
        total: the number of edges, or of triangles, in the whole graph.
        notes: what a reader must know to use the result.
    """

    name: str
    nodes: Sequence[Node]
    values: NDArray[np.float64]
    unbiased: NDArray[np.float64]
    std_error: NDArray[np.float64]
    total: Total
    notes: tuple[str, ...] = ()

    def interval(self, level: float = 0.95) -> Interval:
        """Normal intervals for every node, around the unbiased values and never clipped."""
        if not 0 < level < 1:
            raise InputError(f"a confidence level lies between 0 and 1, not {level!r}", level=level)
        reach = NormalDist().inv_cdf((1 + level) / 2) * self.std_error
        return Interval(self.unbiased - reach, self.unbiased + reach, level, "normal")

    def _numbers(self, level: float) -> dict[str, list[float]]:
        low, high = self.interval(level)
        numbers = {self.name: self.values, "std_error": self.std_error, "low": low, "high": high}
        return {heading: column.tolist() for heading, column in numbers.items()}

    def to_frame(self, backend: Any = None, *, level: float = 0.95) -> Frame:
        """Make a data frame: of the library named by `backend`, else a pyarrow table."""
        return frame_of({"node": list(self.nodes), **self._numbers(level)}, backend)

    def summary(self, level: float = 0.95) -> Summary:
        """The nodes, a row each, and the whole graph."""
        numbers = {
            heading: [Written(value, f"{value:.1f}") for value in column]
            for heading, column in self._numbers(level).items()
        }
        told = f"{level:.0%} intervals go from low to high, around the unbiased values."
        return Summary({"node": list(self.nodes), **numbers}, (f"{self.total}.", told, *self.notes))

    def __repr__(self) -> str:
        return f"<NodeEstimate: {self.name} of {len(self.nodes)} nodes>"

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw every node's number with its interval; of many nodes a curve, the largest number first."""
        low, high = self.interval(level)
        order = np.argsort(-self.values, kind="stable")
        if len(order) <= _NAMED:
            labels = [str(self.nodes[i]) for i in order]
            ends = (low[order], high[order])
            return intervals_by_row(
                labels, self.values[order], ends, ax, of=self.name, level=level, title=str(self.total)
            )
        ax, rank = axes(ax), np.arange(1, len(order) + 1)
        ax.fill_between(rank, low[order], high[order], color=LIGHT, alpha=0.5, label=f"{level:.0%} interval")
        ax.plot(rank, self.values[order], color=DARK, label="estimate")
        ax.axhline(0, color="black", linewidth=0.8)
        ax.set_xlabel("nodes, the largest number first")
        ax.set_ylabel(self.name)
        legend(ax, str(self.total))
        return ax


# -- what the truth makes of the noise ---------------------------------------------------------------------------------


def degree_variance(n: int, s2: float) -> float:
    """Var d~_i = (n - 1) s2."""
    return (n - 1) * s2


def triangle_variance(graph: Graph, s2: float) -> NDArray[np.float64]:
    """Var T~_i for a known graph; the formula is in the module's docstring."""
    n, d, m = len(graph), graph.degrees().astype(np.float64), len(graph.pairs)
    return _by_terms(n, d, m, _common_squares(graph) + d * (d - 1) / 2, s2)


def triangle_total_variance(graph: Graph, s2: float) -> float:
    """Var T~ for a known graph."""
    n, m = len(graph), len(graph.pairs)
    return float(_total_by_terms(n, m, _common_squares(graph).sum(), s2))


def _common_squares(graph: Graph) -> NDArray[np.float64]:
    """sum_j c_ij^2 over j other than i."""
    common = graph.sparse @ graph.sparse
    return np.asarray((common * common).sum(axis=1), dtype=np.float64).ravel() - graph.degrees().astype(np.float64) ** 2


def _by_terms(
    n: int, d: NDArray[np.float64], m: float, squares_and_wedges: NDArray[np.float64], s2: float
) -> NDArray[np.float64]:
    return s2 * squares_and_wedges + s2**2 * (m - d + d * (n - 2)) + s2**3 * comb(n - 1, 2)


def _total_by_terms(n: int, m: float, squares: float, s2: float) -> float:
    return s2 * squares / 2 + s2**2 * (n - 2) * m + s2**3 * comb(n, 3)


# -- estimates ---------------------------------------------------------------------------------------------------------


def degrees(noisy: NoisyGraph, method: str = "unbiased") -> NodeEstimate:
    """Estimate every node's degree.

    `"unbiased"` is d~_i. `"shrunk"` pulls it to the mean degree, the more the less the nodes differ beyond their noise:
    with S2 the sample variance of d~ (whose noise is (n - 2) s2: errors of two nodes share the one of their pair),

        weight = max(0, 1 - (n - 2) s2 / S2),    shrunk_i = mean + weight (d~_i - mean),   clipped to 0 .. n - 1.

    It errs less on average over the nodes and is biased for every single one. Intervals stay those of d~.
    """
    if method not in {"unbiased", "shrunk"}:
        raise InputError(f'degrees are "unbiased" or "shrunk", not {method!r}', method=method)
    n, s2 = len(noisy.nodes), noisy.noise
    unbiased = _degrees(noisy)
    values, notes = unbiased, tuple[str, ...]()
    if method == "shrunk":
        values, weight = _shrunk(unbiased, s2)
        notes = (f"Shrunk to the mean degree: {weight:.0%} of each node's distance from it was kept.",)
    error = np.full(n, degree_variance(n, s2) ** 0.5)
    total = Total(float(unbiased.sum() / 2), (comb(n, 2) * s2) ** 0.5, "edges")
    return NodeEstimate("degree", noisy.nodes, values, unbiased, error, total, notes)


def _degrees(noisy: NoisyGraph) -> NDArray[np.float64]:
    n, r, (p, q) = len(noisy.nodes), len(noisy.reports), (noisy.channel.p, noisy.channel.q)
    return (noisy.reported_degrees.astype(np.float64) - r * q * (n - 1)) / (r * (p - q))


def _shrunk(unbiased: NDArray[np.float64], s2: float) -> tuple[NDArray[np.float64], float]:
    n, mean, spread = len(unbiased), unbiased.mean(), unbiased.var(ddof=1)
    weight = max(0.0, 1 - (n - 2) * s2 / spread) if spread > 0 else 0.0
    return np.clip(mean + weight * (unbiased - mean), 0, n - 1), float(weight)


def triangles(noisy: NoisyGraph) -> NodeEstimate:
    """Estimate the number of triangles through every node.

    Time is that of squaring a matrix of n x n: seconds for a few thousand nodes. Above 20,000 nodes only reports sparse
    enough to be walked edge by edge are taken.
    """
    n, s2 = len(noisy.nodes), noisy.noise
    if n < 3:
        raise EstimationError(f"a triangle has three corners; this graph has {n} nodes", n=n)
    values, squares = _walks(noisy)
    variance, total = _estimated_variances(_degrees(noisy), squares, s2)
    variance = np.maximum(variance, s2**3 * comb(n - 1, 2))
    whole = Total(float(values.sum() / 3), max(total, s2**3 * comb(n, 3)) ** 0.5, "triangles")
    note = "Standard errors are estimated from the same reports: the noise of a triangle count depends on the graph."
    return NodeEstimate("triangles", noisy.nodes, values, values, np.sqrt(variance), whole, (note,))


def _estimated_variances(
    d: NDArray[np.float64], squares: NDArray[np.float64], s2: float
) -> tuple[NDArray[np.float64], float]:
    """Unbiased for Var T~_i and Var T~, from d~_i and sum_j (X~^2)_ij^2."""
    n, m = len(d), d.sum() / 2
    true_squares = squares - s2 * ((n - 1) * d + 2 * m - 3 * d) - s2**2 * (n - 1) * (n - 2)
    wedges = (d**2 - (n - 1) * s2 - d) / 2
    variances = _by_terms(n, d, m, true_squares + wedges, s2)
    return variances, float(_total_by_terms(n, m, true_squares.sum(), s2))


def _walks(noisy: NoisyGraph) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(X~^3)_ii / 2 and sum_j (X~^2)_ij^2 over j other than i.

    With D = W 1, o = r q and h = r (p - q), off the diagonal X~_ij = (W_ij - o) / h and

        h^2 (X~^2)_ij = v_ij + u_ij,    v = W^2 + 2 o W,    u_ij = g_i - o D_j,    g_i = o^2 (n - 2) - o D_i.

    u is known from the degrees, and v is as sparse as W^2: only sums over v's rows are computed, its diagonal
    (W^2)_ii taken out of them.
    """
    n, r = len(noisy.nodes), len(noisy.reports)
    o, h = r * noisy.channel.q, r * (noisy.channel.p - noisy.channel.q)
    D = noisy.reported_degrees.astype(np.float64)
    v, v_squared, v_D, v_W, W_D = _row_sums(_matrix_of(noisy), D, o)
    g, D_others, D2_others = o**2 * (n - 2) - o * D, D.sum() - D, (D**2).sum() - D**2
    u = (n - 1) * g - o * D_others
    u_squared = (n - 1) * g**2 - 2 * o * g * D_others + o**2 * D2_others
    u_W = g * D - o * W_D
    values = (v_W + u_W - o * (v + u)) / h**3 / 2
    squares = (v_squared + 2 * (g * v - o * v_D) + u_squared) / h**4
    return values, squares


def _row_sums(w: Any, D: NDArray[np.float64], o: float) -> NDArray[np.float64]:
    """For every row the sums over j other than i of v, v^2, v D_j, v W and W D_j.

    W holds small whole numbers, so its square is exact in single precision.
    """
    n = len(D)
    out = np.empty((5, n))
    for start in range(0, n, _ROWS):
        rows = slice(start, start + _ROWS)
        part, two = w[rows].astype(np.float64), (w[rows] @ w).astype(np.float64)
        itself = two[np.arange(part.shape[0]), np.arange(n)[rows]]
        v = two + 2 * o * part
        out[0, rows] = v.sum(axis=1) - itself
        out[1, rows] = _sum_of_products(v, v) - itself**2
        out[2, rows] = v @ D - itself * D[rows]
        out[3, rows] = _sum_of_products(v, part)
        out[4, rows] = part @ D
    return out


def _sum_of_products(one: Any, other: Any) -> NDArray[np.float64]:
    if isinstance(one, np.ndarray):
        return np.einsum("ij,ij->i", one, other)
    return np.asarray(one.multiply(other).sum(axis=1)).ravel()


def _matrix_of(noisy: NoisyGraph) -> Any:
    n = len(noisy.nodes)
    if n <= MOST_DENSE:
        return noisy.matrix()
    paths = float((noisy.reported_degrees.astype(np.float64) ** 2).sum())
    if paths > MOST_PATHS:
        raise EstimationError(
            f"the reports about {n} nodes hold {paths:.1e} paths of two edges, too many to count triangles among (at "
            f"most {MOST_PATHS:.0e}, or {MOST_DENSE} nodes). Most of them are noise: a larger epsilon makes fewer. Or "
            f"estimate triangles within a random sample of the nodes",
            n=n,
            paths=paths,
        )
    return noisy.sparse()
