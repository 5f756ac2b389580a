"""Surveys that are not a plain random sample: weights, strata and clusters, by Taylor linearization.

Respondents carry weights w and are drawn by clusters (households, schools) inside strata (regions). The share of report
u in a group g is a ratio of totals, lambda_gu = sum w [report u, group g] / sum w [group g], whose linear part is

    z_gu = w [group g] ([report u] - lambda_gu) / W_g,

and with Z_c the totals of z in cluster c of stratum h, n_h clusters there (drawn with replacement, as is usual):

    Cov = sum over h of  n_h / (n_h - 1)  sum over c of (Z_c - mean_h Z)(Z_c - mean_h Z)'.

Estimates are linear in the shares, so their covariance is Q Cov Q'. With equal weights and neither strata nor clusters
this is the plain n - 1 formula.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from deniable.errors import InputError, MissingValueError, TooFewReportsError
from deniable.estimation.dispersion import Dispersion, Sample
from deniable.tables.table import Table
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from narwhals.typing import IntoSeries
    from numpy.typing import ArrayLike, NDArray

    from deniable.designs.observation import Observation
    from deniable.domain import Domain

    Column: TypeAlias = Sequence[Any] | NDArray[Any] | IntoSeries  # one value a respondent


@dataclass(frozen=True)
class Shares:
    """Weighted shares of the reports by group, shape (groups, reports), and the covariance of all of them."""

    values: NDArray[np.float64]
    covariance: NDArray[np.float64]
    df: float


def column(values: Any, name: str, rows: int | None = None) -> NDArray[Any]:
    """Read a column (a list, an array, or a series of any library) as an array; refuse gaps and wrong lengths."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        arrow = values.to_arrow() if hasattr(values, "to_arrow") else values
        if not isinstance(arrow, pa.Array | pa.ChunkedArray):
            arrow = pa.array(arrow, from_pandas=True)
    except (TypeError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:  # ArrowTypeError is a TypeError
        raise InputError(f"{name}: expected a list, array or series with one value a respondent ({error})") from None
    if pa.types.is_dictionary(arrow.type):
        arrow = arrow.cast(arrow.type.value_type)
    if pa.types.is_nested(arrow.type):
        raise InputError(f"{name}: expected one value a respondent, not {arrow.type}")
    gaps = arrow.null_count + (pc.sum(pc.is_nan(arrow)).as_py() or 0 if pa.types.is_floating(arrow.type) else 0)
    if gaps:
        raise MissingValueError(
            f"{name}: {gaps} of {len(arrow)} values are missing. Drop these rows, or give gaps a category of their own",
            rows=gaps,
        )
    if rows is not None and len(arrow) != rows:
        raise InputError(f"{name} must hold one value for each of the {rows} reports, not {len(arrow)}", column=name)
    return np.asarray(arrow.to_numpy(**({} if isinstance(arrow, pa.ChunkedArray) else {"zero_copy_only": False})))


def numbered(values: NDArray[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """The different values of a column in order, and each row's position among them."""
    different, codes = np.unique(values, return_inverse=True)
    return different.tolist(), codes.reshape(-1)


def weighted_shares(
    codes: NDArray[np.integer],
    reports: int,
    groups: NDArray[np.int64],
    weights: NDArray[np.float64],
    *,
    strata: NDArray[Any] | None = None,
    clusters: NDArray[Any] | None = None,
) -> Shares:
    """Shares of the reports in every group, with their linearized covariance."""
    from scipy import sparse

    if weights.dtype.kind not in "fiu" or (weights < 0).any() or not np.isfinite(weights.astype(float)).all():
        raise InputError("weights must be numbers from 0 upwards")
    rows, count = len(codes), int(groups.max()) + 1
    cells = count * reports
    stratum = np.zeros(rows, dtype=np.int64) if strata is None else numbered(strata)[1]
    cluster = np.arange(rows) if clusters is None else _nested(clusters, stratum)
    home = np.zeros(int(cluster.max()) + 1, dtype=np.int64)
    home[cluster] = stratum
    sizes = np.bincount(home)
    if (sizes < 2).any():
        lonely = int((sizes < 2).sum())
        where = "there is" if len(sizes) == 1 else f"{lonely} of {len(sizes)} strata hold"
        way_out = "" if len(sizes) == 1 else ". Join them with neighbouring strata"
        raise TooFewReportsError(
            f"{where} a single cluster, in which the variance between clusters cannot be seen{way_out}", strata=lonely
        )
    cell = groups * reports + codes
    # T[c, cell]: weights by cluster and cell. Z = T M, so that only T'T and the strata's totals are ever formed.
    totals = sparse.csr_matrix((weights, (cluster, cell)), shape=(len(home), cells))
    by_cell = np.asarray(totals.sum(axis=0)).ravel().reshape(count, reports)
    whole = by_cell.sum(axis=1)
    if (whole <= 0).any():
        raise TooFewReportsError("a group has no weight at all, so no share can be estimated in it")
    shares = by_cell / whole[:, None]
    linear = np.zeros((cells, cells))
    for g in range(count):
        part = slice(g * reports, (g + 1) * reports)
        linear[part, part] = (np.eye(reports) - shares[g][None, :]) / whole[g]
    scale = sizes / (sizes - 1)
    squares = (totals.T @ sparse.diags(scale[home]) @ totals).toarray()
    in_strata = (sparse.csr_matrix((np.ones(len(home)), (home, np.arange(len(home))))) @ totals).toarray()
    centred = squares - in_strata.T @ (in_strata * (scale / sizes)[:, None])
    return Shares(shares, linear.T @ centred @ linear, float(len(home) - len(sizes)))


def _nested(clusters: NDArray[Any], stratum: NDArray[np.int64]) -> NDArray[np.int64]:
    names, cluster = numbered(clusters)
    first = np.zeros(len(names), dtype=np.int64)
    first[cluster] = stratum
    split = np.unique(cluster[first[cluster] != stratum])
    if len(split):
        raise InputError(
            f"clusters {listed(names[c] for c in split)} lie in more than one stratum; a cluster belongs to one. "
            f"Number clusters anew in each stratum",
            clusters=len(split),
        )
    return cluster


@dataclass(frozen=True, eq=False)
class Linearized(Dispersion):
    """The covariance of a weighted estimate, by linearization: a small matrix, known from the start."""

    known: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    degrees: float = np.inf

    @classmethod
    def of(cls, observation: Observation, domain: Domain, covariance: NDArray[np.float64], df: float) -> Linearized:
        """Map the covariance of an observation's report shares through its channel."""
        half = observation.channel.solve(covariance.reshape(*observation.channel.output_shape, -1))
        flat = half.reshape(domain.cells, -1)
        whole = observation.channel.solve(flat.T.reshape(*observation.channel.output_shape, -1))
        return cls([Sample(observation, domain, 1.0)], domain, known=whole.reshape(domain.cells, -1), degrees=df)

    @property
    def df(self) -> float:
        """Clusters less strata."""
        return self.degrees

    @property
    def design_effect(self) -> NDArray[np.float64]:
        """Linearized variance over that of as many independent respondents with equal weights."""
        plain = Dispersion(self.samples, self.domain).variances
        return np.divide(self.variances, plain, out=np.ones_like(plain), where=plain > 0)

    @property
    def variances(self) -> NDArray[np.float64]:
        """The diagonal."""
        return np.diagonal(self.known).reshape(self.domain.shape)

    def __matmul__(self, w: ArrayLike) -> NDArray[np.float64]:
        """Multiply by a vector over the cells."""
        return Table(self.domain, self.known @ np.asarray(w, dtype=np.float64).ravel()).values
