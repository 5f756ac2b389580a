"""Groups that got different devices: binomial counts with shares of "yes" that are linear in the unknowns.

Group j reports "yes" with probability  lambda_j = c_j + A_j theta.  With as many groups as unknowns theta solves this
exactly; with more it is the maximum likelihood estimate and  G2 = 2 sum obs log(obs / expected)  tests the fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special, stats
from scipy.optimize import minimize

from deniable.channels.weights import stated
from deniable.errors import (
    InputError,
    MissingValueError,
    NotIdentifiedError,
    TooFewReportsError,
    UnknownCategoryError,
)
from deniable.results import TestResult
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

Counts = Mapping[Any, "Sequence[int]"]  # group -> (how many said no, how many said yes)


def count(reports: ArrayLike | Counts, groups: ArrayLike | None, names: Sequence[Any]) -> tuple[Array, Array]:
    """(yes, n) per group, in the order of `names`, out of one report a respondent or out of counts."""
    if isinstance(reports, Mapping):
        if set(reports) != set(names):
            raise UnknownCategoryError(f"counts are for groups {listed(reports)}, devices for {listed(names)}")
        table = np.array([reports[name] for name in names], dtype=np.float64)
        if table.shape != (len(names), 2) or not (table >= 0).all() or not np.isfinite(table).all():
            raise InputError("counts are (no, yes), two numbers from 0 for every group")
    else:
        codes, members = binary(reports), np.asarray(groups)
        if groups is None or members.shape != codes.shape:
            raise InputError("groups must name each respondent's group, one value per report")
        strangers = sorted({str(value) for value in set(members.tolist()) - set(names)})
        if strangers:
            raise UnknownCategoryError(f"no device is given for groups {listed(strangers)}; there are {listed(names)}")
        table = np.array([[np.sum(codes[members == name] == code) for code in (0, 1)] for name in names], dtype=float)
    sizes = table.sum(axis=1)
    if sizes.min() < 2:
        raise TooFewReportsError(f"every group needs at least two reports; these have {sizes.astype(int).tolist()}")
    return table[:, 1], sizes


def coded(reports: Any) -> NDArray[np.int64]:
    """Reports as an array of whole numbers."""
    codes = np.asarray(reports)
    if codes.dtype.kind == "f" and np.isnan(codes).any():
        raise MissingValueError(
            f"{int(np.isnan(codes).sum())} reports are missing; drop these respondents", rows=int(np.isnan(codes).sum())
        )
    if codes.dtype.kind not in "biuf" or (codes != np.floor(codes)).any():
        raise InputError("reports must be codes: 0, 1, ... for the categories in their order")
    return codes.astype(np.int64)


def binary(reports: Any) -> NDArray[np.int64]:
    """Reports as an array of 0 and 1."""
    codes = coded(reports)
    if not np.isin(codes, (0, 1)).all():
        raise InputError("reports must be codes: 0 for no, 1 for yes")
    return codes


def probabilities(p: Mapping[Any, float]) -> Array:
    """Each group's stated probability, checked."""
    return np.array([float(stated(share, f"p of group {name!r}")) for name, share in p.items()])


@dataclass(frozen=True)
class Linear:
    """The fit of lambda = c + A theta to counts."""

    theta: Array
    covariance: Array
    loglik: float
    g2: float
    df: int

    def fit_test(self) -> TestResult | None:
        """G2 against the groups' own shares, where there are more groups than unknowns."""
        if self.df == 0:
            return None
        return TestResult(self.g2, float(stats.chi2.sf(self.g2, self.df)), self.df, "goodness of fit (G2)")


def fit_linear(yes: Array, n: Array, A: Array, c: Array) -> Linear:
    """Maximum likelihood without any constraint but that every lambda is a probability."""
    groups, unknowns = A.shape
    if np.linalg.matrix_rank(A, tol=1e-9) < unknowns:
        raise NotIdentifiedError(
            f"{groups} groups with these devices do not determine {unknowns} unknowns: the groups' devices must differ",
            groups=groups,
        )
    if groups == unknowns:
        theta = np.linalg.solve(A, yes / n - c)
    else:
        share = (yes + 0.5) / (n + 1)
        theta = np.zeros(unknowns)
        for _ in range(100):  # scoring: weighted least squares with the weights of the last fit
            weight = n / (share * (1 - share))
            last, theta = theta, np.linalg.solve(A.T @ (weight[:, None] * A), A.T @ (weight * (yes / n - c)))
            share = np.clip(c + A @ theta, 1e-9, 1 - 1e-9)
            if np.abs(theta - last).max() < 1e-13:
                break
    share = c + A @ theta
    inside = np.clip(share, 1e-12, 1 - 1e-12)
    if groups == unknowns:
        back = np.linalg.inv(A)
        covariance = (back * (share * (1 - share) / n)) @ back.T
    else:
        covariance = np.linalg.inv(A.T @ ((n / (inside * (1 - inside)))[:, None] * A))
    value = loglik(yes, n, inside)
    return Linear(
        theta.astype(np.float64),
        covariance.astype(np.float64),
        value,
        2 * (loglik(yes, n, yes / n) - value),
        groups - unknowns,
    )


def loglik(yes: Array, n: Array, share: Array) -> float:
    """Sum of yes log(share) + no log(1 - share), with 0 log 0 = 0."""
    return float((special.xlogy(yes, share) + special.xlogy(n - yes, 1 - share)).sum())


def fit_inside(
    yes: Array, n: Array, shares: Callable[[Array], Array], start: Array, below_one: Sequence[Sequence[int]] = ()
) -> tuple[Array, float]:
    """Maximum likelihood with every parameter in [0, 1], and given sets of them summing to at most 1."""
    limits = [
        {"type": "ineq", "fun": lambda theta, members=tuple(members): 1 - theta[list(members)].sum()}
        for members in below_one
    ]

    def loss(theta: Array) -> float:
        return -loglik(yes, n, np.clip(shares(theta), 1e-12, 1 - 1e-12)) / float(n.sum())

    best = minimize(
        loss,
        np.clip(start, 0.01, 0.99),
        method="SLSQP",
        bounds=[(0, 1)] * len(start),
        constraints=limits,
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return np.clip(best.x, 0, 1), -float(best.fun) * float(n.sum())
