r"""Laplace noise in place of coins: what the literature compares with.

==================  =================  =====================================================================
`laplace_local`     nobody trusted     noise of scale 1/epsilon on every pair's 0 or 1, rounded back to 0 or 1
`laplace_global`    a trusted curator  noise of scale GS/epsilon on every node's number
`laplace_smooth`    a trusted curator  noise of scale 2 S/epsilon, S the smooth sensitivity; (epsilon, delta)
==================  =================  =====================================================================

The sensitivity is that of the whole sequence of numbers to one edge, in L1. An edge changes two degrees by one: GS = 2.
It makes or breaks a triangle with every common neighbour of its ends, and each triangle counts at three nodes: 3 c_ij,
so GS = 3 (n - 2).

The curator's numbers protect an edge for *one* question; every further question costs again. Reports of pairs answer
any number of questions. And the noise here is drawn in floating point, whose gaps give values away: these functions
are for comparing errors, not for releasing anything.

**Smooth sensitivity** (Nissim, Raskhodnikova & Smith 2007) of triangles. At s changes from the graph, the pair i, j has
at most min(a + floor((s + min(s, b)) / 2), n - 2) common neighbours, where a = c_ij and b nodes are linked to exactly
one of the two. With LS(s) three times the largest of these,  S = max_s e^(-beta s) LS(s)  changes by at most a factor
e^beta with an edge. Let Z be d independent standard Laplace numbers, h their density. For a change of scale e^lambda
with |lambda| <= beta,

    ln h(z) - ln( e^(d lambda) h(e^lambda z) ) = |z|_1 (e^lambda - 1) - d lambda,

at most d beta when lambda < 0, and at most rho (e^beta - 1) - d beta when lambda > 0 and |z|_1 <= rho, where rho is
exceeded with probability delta (|Z|_1 is Gamma(d)). Keep both at most epsilon / 2: that pays for the scale. The other
half pays for the shift, by noise of scale 2 S / epsilon. Together: (epsilon, delta).

A sequence has d = n numbers, so beta is about epsilon / 2n and S hardly below GS. With the beta of a single number
(d = 1) the noise is far smaller, but nothing above makes that a guarantee for a sequence; `as_one_number=True` computes
it for comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, expm1, inf
from typing import TYPE_CHECKING, Literal

import numpy as np

from deniable.channels.krr import KRR
from deniable.core.randomness import SECURE, Source, check_source
from deniable.device.epsilon import exp_below
from deniable.errors import DesignError, InputError
from deniable.frozen import Frozen
from deniable.graphs.degrees_and_triangles import MOST_DENSE
from deniable.graphs.edges import Reporter, randomize
from deniable.numerics.root_finding import root

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.graphs.graph import Graph
    from deniable.graphs.noisy_graph import NoisyGraph


@dataclass(frozen=True, eq=False)
class Released(Frozen):
    """What a trusted curator would release: every node's number plus Laplace noise.

    Attributes:
        values: the noisy numbers.
        scale: the Laplace noise's scale, which is also its mean absolute error.
        epsilon: of an edge, for this one question.
        delta: the probability with which epsilon may fail; 0 for the global sensitivity.
        guarantee: the promise in words, or that there is none.
    """

    values: NDArray[np.float64]
    scale: float
    epsilon: float
    delta: float
    guarantee: str


def laplace_local(
    graph: Graph, epsilon: float, *, reported_by: Reporter = "one", source: Source = SECURE
) -> NoisyGraph:
    """Add Laplace noise of scale 1/epsilon to every pair's 0 or 1 and round to the nearer of the two.

    That flips a pair with probability exp(-epsilon / 2) / 2, so it is randomized response that spends only
    ln(2 e^(epsilon / 2) - 1) of its epsilon. The result's `.epsilon` is that true one.

    >>> from deniable.graphs.graph import Graph
    >>> round(laplace_local(Graph([(0, 1)], nodes=9), epsilon=1.0).epsilon, 4)
    0.8318
    """
    check_source(source)
    exp_below(epsilon)  # refuses what cannot be an epsilon
    flips = max(1, round(exp(-epsilon / 2) / 2 * (1 << 32)))
    return randomize(graph, channel=KRR(2, other=flips, bits=32), reported_by=reported_by, source=source)


def laplace_global(
    graph: Graph, epsilon: float, what: Literal["degrees", "triangles"] = "degrees", *, source: Source = SECURE
) -> Released:
    """Add Laplace noise for the global sensitivity, 2 for degrees and 3 (n - 2) for triangles, to the true numbers."""
    check_source(source)
    exp_below(epsilon)
    if what not in {"degrees", "triangles"}:
        raise InputError(f'noise is added to "degrees" or "triangles", not to {what!r}', what=what)
    truth, sensitivity = (graph.degrees(), 2) if what == "degrees" else (graph.triangles(), 3 * (len(graph) - 2))
    guarantee = f"epsilon {epsilon:g} for an edge, towards everybody but the curator, for this one question"
    return _released(truth, sensitivity / epsilon, (epsilon, 0.0), guarantee, source)


def laplace_smooth(
    graph: Graph, epsilon: float, delta: float = 1e-6, *, as_one_number: bool = False, source: Source = SECURE
) -> Released:
    """Add Laplace noise for the smooth sensitivity to the true numbers of triangles."""
    check_source(source)
    dimension = 1 if as_one_number else len(graph)
    sensitivity = smooth_sensitivity(graph, smoothing(epsilon, delta, dimension))
    guarantee = (
        "none for the sequence: its smoothing is that of a single number"
        if as_one_number
        else f"(epsilon {epsilon:g}, delta {delta:g}) for an edge, towards everybody but the curator, for this one "
        f"question"
    )
    return _released(graph.triangles(), 2 * sensitivity / epsilon, (epsilon, delta), guarantee, source)


def smoothing(epsilon: float, delta: float, dimension: int) -> float:
    """Return the largest beta that epsilon / 2 and delta pay for: the derivation is in the module's docstring.

    >>> round(smoothing(1.0, 1e-6, 1), 4), round(smoothing(1.0, 1e-6, 180), 5)
    (0.0382, 0.00278)
    """
    from scipy.special import gammainccinv

    exp_below(epsilon)
    if not 0 < delta < 1:
        raise DesignError(f"delta is a probability between 0 and 1, not {delta!r}", delta=delta)
    rho = float(gammainccinv(dimension, delta))

    def spent(beta: float) -> float:
        return rho * expm1(beta) - dimension * beta - epsilon / 2

    return root(spent, 0.0, epsilon / 2 / dimension)


def smooth_sensitivity(graph: Graph, beta: float) -> float:
    """S = max over s of exp(-beta s) LS(s), for the sequence of triangle counts."""
    n = len(graph)
    if n > MOST_DENSE:
        raise InputError(f"smooth sensitivity looks at every pair of at most {MOST_DENSE} nodes; here are {n}", n=n)
    common, single = _candidates(graph)
    largest, steps = 0.0, 0
    while True:
        reach = 3 * int(np.minimum(common + (steps + np.minimum(steps, single)) // 2, n - 2).max())
        largest = max(largest, exp(-beta * steps) * reach)
        if reach == 3 * (n - 2) or exp(-beta * steps) * 3 * (n - 2) <= largest:
            return largest  # no later step can be larger
        steps += 1


def _candidates(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs (a, b) that can matter: for every number a of common neighbours the largest b."""
    a = graph.sparse
    degrees = graph.degrees()
    best = np.full(len(graph), -inf)
    for i in range(len(graph) - 1):
        common = (a[[i]] @ a).toarray()[0, i + 1 :]
        linked = a[[i]].toarray()[0, i + 1 :]
        np.maximum.at(best, common, degrees[i] + degrees[i + 1 :] - 2 * common - 2 * linked)
    found = np.flatnonzero(best >= 0)
    return found, best[found].astype(np.int64)


def _released(
    truth: NDArray[np.int64], scale: float, spent: tuple[float, float], guarantee: str, source: Source
) -> Released:
    values = truth + source.stream().generator().laplace(scale=scale, size=len(truth))
    return Released(values, scale, *spent, guarantee)
