"""The covariance of what is linear in weighted reports, for respondents that were drawn by strata and clusters.

Let report u of group o pull an estimate by A_o[u], and let respondent i have sent it with weight w_i. Then

    z_i = k_o (A_o[u] - mean of A_o over the group's weighted reports),   k_o^2 = (1 - 1 / n) / (1 - 1 / n_o)

is what the respondent contributes: how many reports each group has is not what is estimated, and k_o makes up for the
mean's own error, n_o of n respondents being in the group. Their sums have the covariance that `Sampling` states; with
equal weights and neither strata nor clusters it is the sum over o of n_o / (n_o - 1) (sum A^2 - (sum A)^2 / n_o).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.table import Table
from deniable.likelihood.covariance_operator import Dispersion
from deniable.likelihood.report_likelihoods import Moments, unbiased_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from deniable.likelihood.evidence import Evidence
    from deniable.likelihood.report_group import Group
    from deniable.likelihood.report_likelihoods import Said
    from deniable.sampling.sampling import Linear

    Array = NDArray[np.float64]


def contributions(evidence: Evidence, pulls: Sequence[Array]) -> Linear:
    """What every respondent contributes to numbers that each report pulls: their rows in a table, and the table.

    Args:
        evidence: what the reports say, with their respondents.
        pulls: for every group (reports, numbers): how far one report of unit weight moves each of them.
    """
    people = evidence.respondents
    assert people is not None
    n, rows, firsts, first = people.n, [], [], 0
    for group, a in zip(evidence.groups, pulls, strict=True):
        y, asked = counts_of(group), group.said.n
        if asked > 1:
            k = np.sqrt((1 - 1 / n) / (1 - 1 / asked))
            rows.append(k * (a - (y / y.sum()) @ a))
        else:
            rows.append(a)  # a single report does not show how reports vary; on average it pulls nowhere
        firsts.append(first)
        first += len(a)
    start = np.array([*firsts, 0])[people.group]  # the last, -1, stands for those who were asked something else
    speaks = people.group >= 0
    if people.sampling is not None:
        speaks = speaks & people.sampling.within
    return np.where(speaks, start + people.report, -1), np.concatenate(rows)


def counts_of(group: Group) -> Array:
    """How often each report of a group came, also where they count by their moments."""
    said = group.said
    if not isinstance(said, Moments):
        return said.counts
    assert said.reports is not None
    return said.reports.counts


def recounted(said: Said, counts: Array) -> Said:
    """The same reports, counted otherwise."""
    if not isinstance(said, Moments):
        return replace(said, counts=counts)
    assert said.reports is not None
    made = replace(said.reports, counts=counts)
    return replace(said, source=made.observation(), reports=made)


def moment_pulls(said: Moments) -> Array:
    """How far a report of unit weight moves the unbiased table of a group that counts by its moments."""
    assert said.reports is not None
    return unbiased_scores(said.reports, said.part) / said.reports.counts.sum()


@dataclass(frozen=True, eq=False)
class Linearized(Dispersion):
    """The covariance of a weighted estimate, by linearization: a small matrix, known from the start."""

    known: Array = field(default_factory=lambda: np.zeros((0, 0)))
    degrees: float = np.inf

    are_counts = False

    @property
    def df(self) -> float:
        """Those of the evidence."""
        return self.degrees

    @property
    def design_effect(self) -> Array:
        """Linearized variance over that of as many independent respondents with equal weights."""
        plain = Dispersion(self.samples, self.domain).variances
        return np.divide(self.variances, plain, out=np.ones_like(plain), where=plain > 0)

    @property
    def variances(self) -> Array:
        """The diagonal."""
        return np.maximum(np.diagonal(self.known), 0.0).reshape(self.domain.shape)

    def at(self, truth: Array) -> Linearized:  # noqa: ARG002 - how clusters differ is known as it was observed
        """Itself: what clusters would do if the truth were another is not known."""
        return self

    def __matmul__(self, w: ArrayLike) -> Array:
        """Multiply by a vector over the cells."""
        return Table(self.domain, self.known @ np.asarray(w, dtype=np.float64).ravel()).values


def linearized(evidence: Evidence, inverse: Dispersion) -> Linearized:
    """The covariance of the pooled inverse of the groups that cover a table."""
    assert evidence.sampling is not None
    domain, pulls = inverse.domain, []
    weights = {sample.group: sample.weight for sample in inverse.samples}
    for number, group in enumerate(evidence.groups):
        said = group.said.reports if isinstance(group.said, Moments) else group.said
        assert said is not None
        if number in weights:
            pulls.append(weights[number] * unbiased_scores(said, domain) / said.counts.sum())
        else:
            pulls.append(np.zeros((len(said.counts), domain.cells)))
    known = evidence.sampling.covariance(contributions(evidence, pulls))
    return Linearized(inverse.samples, domain, known=known, degrees=evidence.df)
