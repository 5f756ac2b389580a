"""Groups that got different devices: binomial counts with shares of "yes" that are linear in the unknowns.

Group j reports "yes" with probability  lambda_j = c_j + A_j theta.  With as many groups as unknowns theta solves this
exactly; with more it is the maximum likelihood estimate and  G2 = 2 sum obs log(obs / expected)  tests the fit. Its
covariance is B S B', theta = B (lambda - c) and S that of the shares: lambda (1 - lambda) / (n - 1), or what weights,
strata and clusters make of it; G2 is then corrected as Rao and Scott (1984) have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special, stats
from scipy.optimize import minimize

from deniable.channels.channel import Channel
from deniable.channels.integer_weights import stated
from deniable.core.category_order import says_yes_first
from deniable.core.domain import Domain, Variable
from deniable.core.input_coercion import by_category, by_cell, by_row, row_labels
from deniable.core.results import TestResult
from deniable.errors import (
    InputError,
    MissingValueError,
    NotIdentifiedError,
    TooFewReportsError,
    UnknownCategoryError,
)
from deniable.inference.hypothesis_tests.rao_scott import second_order
from deniable.sampling.read_sampling import column, sampling_by_columns
from deniable.sampling.weighted_shares import weighted_shares
from deniable.text import counted, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from deniable.sampling.read_sampling import Column
    from deniable.sampling.sampling import Sampling

    Array = NDArray[np.float64]
    Weighted = Column | Sampling | None

Counts = Mapping[Any, "Sequence[int]"]  # group -> (how many said no, how many said yes)


@dataclass(frozen=True)
class Groups:
    """Reports of "yes" by group.

    Attributes:
        yes: how many; of weighted reports, n times their weighted share.
        n: how many reports.
        spread: the covariance of the groups' shares by the sampling; None where respondents are independent.
        df: `Sampling.df`; infinite where respondents are independent.
    """

    yes: Array
    n: Array
    spread: Array | None = None
    df: float = np.inf

    @property
    def shares(self) -> Array:
        """Of "yes" in every group."""
        return self.yes / self.n

    def plain(self, shares: Array) -> Array:
        """The covariance of the groups' shares if respondents are independent and these are the true ones."""
        return np.asarray(np.diag(shares * (1 - shares) / (self.n - 1)))

    def effect(self, along: Array, shares: Array) -> float:
        """The design effect of a linear functional of the shares."""
        if self.spread is None:
            return 1.0
        alone = float(along @ self.plain(shares) @ along)
        return float(along @ self.spread @ along) / alone if alone > 0 else 1.0


def count(reports: Any, groups: ArrayLike | None, names: Sequence[Any], sampling: Sampling | None = None) -> Groups:
    """Yes by group, in the order of `names`, out of one report a respondent or out of counts (a crosstab will do)."""
    if _is_crosstab(reports):
        crossed = Domain({"group": names, "report": (0, 1)})
        reports = dict(
            zip(names, by_cell(reports.rename_axis(index=None, columns=None), crossed, "the counts"), strict=True)
        )
    if isinstance(reports, Mapping):
        if set(reports) != set(names):
            raise UnknownCategoryError(f"counts are for groups {listed(reports)}, devices for {listed(names)}")
        counted = Variable("report", (0, 1))
        table = np.stack([by_category(reports[name], counted, f"the counts of {name!r}", absent=0.0) for name in names])
        if table.shape != (len(names), 2) or not (table >= 0).all() or not np.isfinite(table).all():
            raise InputError("counts are (no, yes), two numbers from 0 for every group")
        return _enough(table, names)
    codes, members = binary(reports), np.asarray(by_row(groups, row_labels(reports), "groups"))
    if groups is None or members.shape != codes.shape:
        raise InputError("groups must name each respondent's group, one value per report")
    strangers = sorted({str(value) for value in set(members.tolist()) - set(names)})
    if strangers:
        raise UnknownCategoryError(f"no device is given for groups {listed(strangers)}; there are {listed(names)}")
    table = np.array([[np.sum(codes[members == name] == code) for code in (0, 1)] for name in names], dtype=float)
    plain = _enough(table, names)
    if sampling is None:
        return plain
    place = np.array([list(names).index(value) for value in members.tolist()], dtype=np.int64)
    found = weighted_shares(codes, 2, place, sampling, names, apart=True)
    return Groups(found.values[:, 1] * plain.n, plain.n, found.covariance[1::2, 1::2], found.df)


def _enough(table: Array, names: Sequence[Any]) -> Groups:
    sizes = table.sum(axis=1)
    if sizes.min() < 2:
        told = ", ".join(f"{name!r} {size:g}" for name, size in zip(names, sizes.tolist(), strict=True))
        raise TooFewReportsError(
            f"every group needs at least two reports, since each had another device; these have {told}. Ask more "
            f"people with the device of the smallest",
            n=int(sizes.min()),
        )
    return Groups(table[:, 1], sizes)


def sampling_for(reports: Any, weights: Any, strata: Any, clusters: Any, *, counts: bool = False) -> Sampling | None:
    """How the respondents of some reports were drawn; None where nothing is said, as of `counts` nothing can be."""
    if counts and (isinstance(reports, Mapping) or _is_crosstab(reports)):
        if not weights is strata is clusters is None:
            raise InputError("weights, strata and clusters belong to respondents; give one report each, not counts")
        return None
    n, labels = len(reports), row_labels(reports)
    return sampling_by_columns(n, lambda part, what: column(part, what, n, labels), weights, strata, clusters)


def _is_crosstab(reports: Any) -> bool:
    """Whether reports are counts of groups by answers."""
    return hasattr(reports, "columns") and row_labels(reports) is not None


def coded(reports: Any) -> NDArray[np.int64]:
    """Reports as an array of whole numbers."""
    try:
        codes = np.asarray(reports)
    except ValueError:  # rows of different lengths
        raise InputError("reports must be codes in a column, or in rows of one length") from None
    if codes.dtype.kind == "f" and np.isnan(codes).any():
        raise MissingValueError(
            f"{int(np.isnan(codes).sum())} reports are missing; drop these respondents", rows=int(np.isnan(codes).sum())
        )
    if codes.dtype.kind not in "biuf" or (codes != np.floor(codes)).any():
        raise InputError("reports must be codes: 0, 1, ... for the categories in their order")
    return codes.astype(np.int64)


def items(codes: NDArray[np.int64], channels: Any) -> tuple[NDArray[np.int64], list[Channel]]:
    """Reports about several items, a column each, and the items' devices, checked."""
    devices = list(channels) if isinstance(channels, list | tuple) else [channels]
    devices = [yes_last(each) if isinstance(each, Channel) else each for each in devices]
    strange = [each for each in devices if not isinstance(each, Channel)]
    if strange:
        raise InputError(f"the devices are a list of channels, such as [Warner(0.8), Warner(0.8)], not {strange[0]!r}")
    if codes.ndim != 2 or codes.shape[1] != len(devices) or not devices:
        raise InputError(f"reports must have one column per item: {codes.shape} for {len(devices)} channels")
    if len(codes) < 2:
        raise TooFewReportsError(
            f"only {counted(len(codes), 'respondent')}; an estimate with an error needs at least 2", n=len(codes)
        )
    return codes, devices


def yes_last(channel: Channel) -> Channel:
    """A device of two truths with the sensitive one last, as reports of 0 and 1 count them."""
    turned = channel.sensitive == 0 or says_yes_first(channel.categories)
    return channel.in_order_of((channel.categories or (1, 0))[::-1]) if turned else channel


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
    """The fit of lambda = c + A theta to counts, A the slopes: theta = back (lambda - c)."""

    theta: Array
    covariance: Array
    loglik: float
    g2: float
    df: int
    slopes: Array
    back: Array
    groups: Groups
    fitted: Array

    def fit_test(self) -> TestResult | None:
        """G2 against the groups' own shares, where there are more groups than unknowns."""
        if self.df == 0:
            return None
        told = "goodness of fit (G2)"
        if self.groups.spread is None:
            return TestResult(self.g2, float(stats.chi2.sf(self.g2, self.df)), self.df, told)
        left = np.eye(len(self.fitted)) - self.slopes @ self.back
        alone, sampled = (left @ v @ left.T for v in (self.groups.plain(self.fitted), self.groups.spread))
        effects = np.linalg.eigvals(np.linalg.pinv(alone, hermitian=True) @ sampled).real
        return second_order(self.g2, np.sort(effects)[-self.df :], self.groups.df, told)

    def effect(self, of: Array) -> float:
        """The design effect of a linear function of theta."""
        return self.groups.effect(of @ self.back, self.fitted)


def fit_linear(groups: Groups, A: Array, c: Array) -> Linear:
    """Maximum likelihood without any constraint but that every lambda is a probability."""
    yes, n = groups.yes, groups.n
    count, unknowns = A.shape
    if np.linalg.matrix_rank(A, tol=1e-9) < unknowns:
        raise NotIdentifiedError(
            f"{count} groups with these devices do not determine {unknowns} unknowns: the groups' devices must differ",
            groups=count,
        )
    share = (yes + 0.5) / (n + 1)
    back = np.linalg.inv(A) if count == unknowns else np.zeros((unknowns, count))
    theta = back @ (yes / n - c)
    for _ in range(0 if count == unknowns else 100):  # scoring: least squares with the weights of the last fit
        weight = n / (share * (1 - share))
        back = np.linalg.solve(A.T @ (weight[:, None] * A), A.T * weight)
        last, theta = theta, back @ (yes / n - c)
        share = np.clip(c + A @ theta, 1e-9, 1 - 1e-9)
        if np.abs(theta - last).max() < 1e-13:
            break
    share = c + A @ theta
    inside = np.clip(share, 1e-12, 1 - 1e-12)
    spread = groups.plain(share if count == unknowns else inside) if groups.spread is None else groups.spread
    value = loglik(yes, n, inside)
    return Linear(
        theta.astype(np.float64),
        (back @ spread @ back.T).astype(np.float64),
        value,
        2 * (loglik(yes, n, yes / n) - value),
        count - unknowns,
        A,
        back.astype(np.float64),
        groups,
        inside,
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
