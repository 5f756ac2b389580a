"""The quick tests of independence: Pearson's chi-square of the disguised table, and Wald's of the unbiased one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.core.results import TestResult
from deniable.errors import InvalidTestError, TooFewReportsError
from deniable.estimation.inversion import only_covering, unbiased_core
from deniable.estimation.notes.denominators import used, used_whole
from deniable.inference.attribute_pairs import residual_jacobian
from deniable.inference.hypothesis_tests.choose_test import REFUSED, own_channels
from deniable.likelihood.report_likelihoods import Counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.likelihood.covariance_operator import Dispersion
    from deniable.likelihood.evidence import Evidence

ENOUGH = 20  # reports a cell from which on Wald's test holds its level
_SINGULAR = 1e-12  # smallest eigenvalue of a covariance, relative to their sum, that can be divided by


def chi_square(table: NDArray[np.float64]) -> tuple[float, int]:
    """Pearson's chi-square of a two-way table and its degrees of freedom; empty rows and columns are left out.

    >>> chi_square(np.array([[10.0, 20.0], [30.0, 40.0]]))
    (0.79..., 1)
    """
    statistic, df = chi_squares(table[..., None])
    return float(statistic[0]), int(df[0])


def chi_squares(tables: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The same of many tables at once, which are along the last axis."""
    rows, columns = tables.sum(axis=1), tables.sum(axis=0)
    expected = rows[:, None] * columns / rows.sum(axis=0)
    away = np.divide((tables - expected) ** 2, expected, out=np.zeros_like(expected), where=expected > 0)
    return away.sum(axis=(0, 1)), (np.count_nonzero(rows, axis=0) - 1) * (np.count_nonzero(columns, axis=0) - 1)


def pearson(evidence: Evidence) -> TestResult:
    """Pearson's chi-square of the disguised table, where both attributes have channels of their own."""
    from scipy.special import chdtrc

    if not own_channels(evidence):
        a, b = evidence.asked.names
        raise InvalidTestError(
            f"{REFUSED['pearson_raw']}. It holds only where {a!r} and {b!r} each have a channel of their own, the "
            f'same for everybody; use method="lrt" or "auto"',
            method="pearson",
            alternative="lrt",
        )
    said = evidence.groups[0].said
    assert isinstance(said, Counted)
    statistic, df = chi_square(said.counts.reshape(said.channel.output_shape))
    p = float(chdtrc(df, statistic)) if df else 1.0
    told = "Both attributes have channels of their own: independent truths give independent reports."
    return TestResult(statistic, p, df, "Pearson on the disguised table", (told, used([evidence])))


def wald(evidence: Evidence) -> TestResult:
    """Wald's test, with the larger of its p-values."""
    from scipy.special import chdtrc

    inverse = unbiased_core(only_covering(evidence))
    w1, w0, df = wald_statistics(inverse)
    statistic = min(w1, w0)  # the larger p-value
    notes = ["The larger of the p-values with the covariance under H0 and under H1."]
    if inverse.n < ENOUGH * evidence.asked.cells:
        notes.append(
            f"Only {inverse.n} reports for {evidence.asked.cells} cells: below {ENOUGH} a cell Wald's test may not "
            f'hold its level. Use method="lrt".'
        )
    told = (*notes, used_whole(evidence))
    return TestResult(statistic, float(chdtrc(df, statistic)), df, "Wald on the unbiased table", told)


def wald_statistics(inverse: Dispersion) -> tuple[float, float, int]:
    """Wald's d' V^-1 d, d_ij = pi_ij - pi_i pi_j (last row and column left out): V under H1, under H0; and the df."""
    table = inverse.estimate
    # Sets miss a total of one by chance: spread evenly, or the cells that are left out would carry it.
    centre = np.eye(table.size) - 1 / table.size
    table = table - (table.sum() - 1) / table.size
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    keep = np.zeros(table.shape, dtype=bool)
    keep[:-1, :-1] = True
    d = (table - np.outer(rows, columns))[keep]
    j = residual_jacobian(rows, columns)[keep.ravel()] @ centre
    null_rows, null_columns = _inside(rows), _inside(columns)
    j0 = residual_jacobian(null_rows, null_columns)[keep.ravel()] @ centre
    under_h1 = j @ inverse.matrix() @ j.T
    under_h0 = j0 @ inverse.at(np.outer(null_rows, null_columns)).matrix() @ j0.T
    if not all(np.linalg.eigvalsh(v)[0] > _SINGULAR * np.trace(v) for v in (under_h1, under_h0)):
        raise TooFewReportsError(
            'the estimated covariance is singular: too few reports for Wald\'s test. Use method="lrt"', n=inverse.n
        )
    w1, w0 = (float(d @ np.linalg.solve(v, d)) for v in (under_h1, under_h0))
    return w1, w0, int(keep.sum())


def _inside(margin: NDArray[np.float64]) -> NDArray[np.float64]:
    share = np.maximum(margin, 1e-6)
    return share / share.sum()
