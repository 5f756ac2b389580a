"""Association tests and derived numbers at a total epsilon of 1: what the choice of design and of estimate costs."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from deniable import KRR, Domain, Kronecker, Observation, Table
from deniable.estimation.joint_tables.reconcile_marginals import reconcile
from reproduction.item import Item, Reproduced, Run
from reproduction.simulated_counts import sampled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.channels.channel import Channel

EPSILON = 1.0
# Margins, and the share that association moves into two cells and out of two others.
TABLES = {
    "2x2": (np.outer([0.6, 0.4], [0.7, 0.3]), 0.025),
    "3x4": (np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1]), 0.035),
}
SKEWED = np.outer([0.95, 0.05], [0.9, 0.1])


def moved(pi: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """A table with association, margins as before."""
    found = pi.copy()
    found[[0, 1], [0, 1]] += share
    found[[0, 1], [1, 0]] -= share
    return found


def noncentrality(pi: NDArray[np.float64], covariance: NDArray[np.float64]) -> float:
    """Wald's, a respondent: residuals from independence in units of the covariance of the estimated cells."""
    rows, columns = pi.sum(axis=1), pi.sum(axis=0)
    kept = np.zeros(pi.shape, dtype=bool)
    kept[:-1, :-1] = True
    own, other = (np.eye(size) for size in pi.shape)
    # How pi_ij - pi_i pi_j moves with every cell.
    moves = np.kron(own, other) - np.kron(own, np.outer(columns, np.ones(len(columns))))
    slope = (moves - np.kron(np.outer(rows, np.ones(len(rows))), other))[kept.ravel()]
    d = (pi - np.outer(rows, columns))[kept]
    return float(d @ np.linalg.solve(slope @ covariance @ slope.T, d))


def of_channel(channel: Channel, pi: NDArray[np.float64]) -> NDArray[np.float64]:
    """The covariance of the unbiased cells, a respondent."""
    lam, inverse = channel.apply(pi.ravel()), np.linalg.inv(channel.matrix())
    found: NDArray[np.float64] = inverse @ (np.diag(lam) - np.outer(lam, lam)) @ inverse.T
    return found


def of_unary(pi: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """The same for optimised unary encoding: the own cell's bit is kept half the time, others rise with 1/(e^eps+1)."""
    x, p, q = pi.ravel(), 0.5, 1 / (np.exp(epsilon) + 1)
    lam, either = x * p + (1 - x) * q, np.add.outer(x, x)
    both = either * p * q + (1 - either) * q * q
    np.fill_diagonal(both, lam)
    found: NDArray[np.float64] = (both - np.outer(lam, lam)) / (p - q) ** 2
    return found


def on_their_own(pi: NDArray[np.float64], epsilon: float) -> float:
    """Pearson's noncentrality, a respondent, when each answer has half of epsilon and a channel of its own."""
    lam = Kronecker([KRR(size, epsilon=epsilon / 2) for size in pi.shape]).apply(pi)
    expected = np.outer(lam.sum(axis=1), lam.sum(axis=0))
    return float(((lam - expected) ** 2 / expected).sum())


def without_a_joint(rng: np.random.Generator, n: int, trials: int, evenness: float) -> float:
    """How often three reconciled pairs of 3 x 2 x 2 cells are the margins of no table without negative cells.

    Populations are drawn; the larger the evenness, the more alike their cells.
    """
    from scipy.optimize import linprog

    domain = Domain({"a": range(3), "b": range(2), "c": range(2)})
    cells = np.indices(domain.shape).reshape(3, -1)
    count = 0
    for _ in range(trials):
        observed, truth = [], Table(domain, rng.dirichlet(np.full(domain.cells, evenness)).reshape(domain.shape))
        for pair in combinations(domain.names, 2):
            part = truth.project(pair)
            channel = KRR(part.values.size, epsilon=EPSILON)
            observed.append(Observation(part.domain, channel, sampled(rng, channel, part.values.ravel(), n, 1)[:, 0]))
        known, rows, wanted = reconcile(observed), [], []
        for i, j in combinations(range(3), 2):
            table = known.table((domain.names[i], domain.names[j]))
            for u, v in np.ndindex(table.shape):
                rows.append((cells[i] == u) & (cells[j] == v))
                wanted.append(table.values[u, v])
        matrix = np.array(rows, dtype=np.float64)
        found = linprog(np.zeros(domain.cells), A_eq=matrix, b_eq=np.array(wanted), bounds=(0, None))
        count += not found.success
    return count / trials


def compute(run: Run) -> Reproduced:
    """Closed forms, and two small simulations."""
    from scipy.stats import chi2, ncx2

    out = Reproduced()
    for name, (pi, share) in TABLES.items():
        one = moved(pi, share)
        together = noncentrality(one, of_channel(KRR(pi.size, epsilon=EPSILON), one))
        ratio = together / on_their_own(one, EPSILON)
        out.line(f"{name}: noncentrality of one channel for the pair over two channels of their own", ratio)
    rng = np.random.default_rng(4)
    signs = rng.normal(size=(6, 8))
    signs -= signs.mean(axis=0)
    signs -= signs.mean(axis=1, keepdims=True)
    large = (1 + 0.97 * signs / np.abs(signs).max()) / 48
    df, n = 35, 40_000
    krr = n * noncentrality(large, of_channel(KRR(48, epsilon=EPSILON), large))
    unary = n * noncentrality(large, of_unary(large, EPSILON))
    for name, value in (("k-RR of the pair", krr), ("unary encoding of the pair", unary)):
        power = float(ncx2.sf(chi2.isf(0.05, df), df, value))
        out.line(f"6x8, n = 40,000: power of Wald's test for large n, {name}", power)
        out.row(table="6x8", design=name, power=power)
    out.line("6x8: noncentrality of unary encoding over k-RR's", unary / krr)
    out.line("cells from which on unary encoding varies less than k-RR, 3 e^eps + 2", 3 * np.exp(EPSILON) + 2)
    channel = KRR(4, epsilon=EPSILON)
    raw = channel.solve(sampled(run.rng, channel, SKEWED.ravel(), 2000, 50 * run.trials) / 2000)
    share = float((raw <= 0).any(axis=0).mean())
    error = (share * (1 - share) / (50 * run.trials)) ** 0.5
    out.line("2x2 with shares .05 and .1, n = 2000: plugged-in odds ratio undefined", share, error=error)
    for name, evenness in (("even", 1000.0), ("any", 1.0)):
        share = without_a_joint(run.rng, 500, run.trials, evenness)
        what = f"3x2x2, 500 a pair, {name} population: reconciled pairs are the margins of no table"
        out.line(what, share, error=(share * (1 - share) / run.trials) ** 0.5)
    return out


ITEM = Item(
    __name__,
    where="no paper",
    claim="How much an association test loses by the design, and how often plugged-in numbers do not exist.",
    compute=compute,
    trials=400,
    smoke=12,
)
