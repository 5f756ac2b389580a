"""Comparators from the central model, where a trusted holder of the true table adds Laplace noise to its cells.

They are no tests for disguised answers: nobody is trusted with the true table there. Neighbouring tables differ by one
person's answer, which moves two cells by one, so noise of scale 2 / epsilon gives epsilon-differential privacy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.randomness import SECURE, Source, check_source
from deniable.core.results import TestResult
from deniable.core.table import Table
from deniable.errors import InputError
from deniable.numerics.simplex import norm_sub
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_SMALL = 5.0  # expected counts below which MCIndep does not reject
_NOTE = "Central model: the noise is added by a trusted holder of the true table, not by the respondents."


def _noisy(counts: NDArray[np.float64], epsilon: float, rng: np.random.Generator) -> tuple[NDArray[np.float64], float]:
    if not epsilon > 0 or counts.ndim != 2 or (counts < 0).any() or not counts.sum() > 0:
        raise InputError("a central test needs a two-way table of counts and an epsilon above 0")
    scale = 2 / epsilon
    return counts + rng.laplace(scale=scale, size=counts.shape), scale


def _statistics(
    tables: NDArray[np.float64], n: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Pearson's chi-square of noisy tables (first axis: replicates) about independence with the tables' own margins.

    The margins are those of the nearest table without negative cells and with total n, which is the maximum-likelihood
    table of Laplace-noised counts in the elastic-net form of Gaboardi et al. Returns chi-squares, rows and columns.
    """
    fitted = np.stack([norm_sub(table, n) for table in tables])
    rows, columns = fitted.sum(axis=2) / n, fitted.sum(axis=1) / n
    expected = n * rows[:, :, None] * columns[:, None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(expected > 0, (tables - expected) ** 2 / expected, np.inf)
    return parts.sum(axis=(1, 2)), rows, columns


def mcindep(
    counts: NDArray[np.float64], epsilon: float, *, replicates: int = 999, source: Source = SECURE
) -> TestResult:
    """MCIndep (Gaboardi, Lim, Rogers & Vadhan 2016): Laplace noise, and a reference drawn with the same noise."""
    check_source(source)
    rng = source.stream().generator()
    n = float(counts.sum())
    noisy, scale = _noisy(np.asarray(counts, dtype=np.float64), epsilon, rng)
    observed, rows, columns = _statistics(noisy[None], n)
    product = np.outer(rows[0], columns[0])
    name = f"MCIndep (central model), Laplace noise of scale {scale:g}"
    if (n * product <= _SMALL).any():
        told = f"Some expected counts are {_SMALL:g} or less: MCIndep does not reject then, whatever the statistic."
        return TestResult(float(observed[0]), 1.0, None, name, (_NOTE, told))
    drawn = rng.multinomial(int(n), product.ravel() / product.sum(), size=replicates).reshape(-1, *product.shape)
    simulated, _, _ = _statistics(drawn + rng.laplace(scale=scale, size=drawn.shape), n)
    p = float((1 + (simulated >= observed[0]).sum()) / (1 + replicates))
    return TestResult(float(observed[0]), p, None, name, (_NOTE,), simulated)


def laplace(
    counts: NDArray[np.float64],
    epsilon: float,
    *,
    replicates: int = 999,  # noqa: ARG001 - the same call as mcindep's
    source: Source = SECURE,
) -> TestResult:
    """Laplace noise, then Pearson's test as if there were none: rejects too often (its noise looks like dependence)."""
    check_source(source)
    from scipy.special import chdtrc

    noisy, scale = _noisy(np.asarray(counts, dtype=np.float64), epsilon, source.stream().generator())
    statistic = float(_statistics(noisy[None], float(counts.sum()))[0][0])
    df = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    told = "The reference ignores the noise, so the test rejects too often; it is here for comparison only."
    name = f"Pearson after Laplace noise of scale {scale:g} (central model)"
    return TestResult(statistic, float(chdtrc(df, statistic)), df, name, (_NOTE, told))


COMPARATORS = {"mcindep": mcindep, "laplace": laplace}


def central(
    reports: Any, names: Sequence[str], method: str, epsilon: float | None, *, replicates: int, source: Source | None
) -> TestResult:
    """Test a table of true counts as its trusted holder would, on what Laplace noise leaves of it."""
    if not isinstance(reports, Table):
        raise InputError(
            f"{method!r} is a test of the central model: a trusted holder of the undisguised table adds the noise. It "
            f"takes a Table of true counts, not reports; it is here for comparison only",
            method=method,
        )
    if method not in COMPARATORS:
        raise InputError(
            f"a table of undisguised counts can only be given to the central comparators {listed(COMPARATORS)}; tests "
            f"of disguised answers take reports or observations",
            method=method,
        )
    if epsilon is None:
        raise InputError(f"{method!r} needs epsilon=")
    counts = reports.project(names).values
    return COMPARATORS[method](counts, epsilon, replicates=replicates, source=source or SECURE)
