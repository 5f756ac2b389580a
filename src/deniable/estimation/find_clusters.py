"""Finding clusters of dependent attributes from a first small sample (RR-Clusters).

Domingo-Ferrer & Soria-Comas ask attributes that depend on each other as one tuple. Which do is itself learned from
disguised answers: a pilot sample answers every attribute independently, and its respondents have then spent their
budget and are not asked again. Pairs are joined in the order of their dependence, as long as the tuple stays small
enough.
"""

from __future__ import annotations

import warnings
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.randomness import SECURE, Source
from deniable.core.table import cramers_v
from deniable.designs.kinds.clusters import Clusters
from deniable.designs.kinds.independent import Independent
from deniable.errors import InputError, SourcesDifferWarning
from deniable.estimation.estimator import estimate
from deniable.estimation.notes.denominators import refuse_unknown_askings
from deniable.estimation.several_sources import ASSOCIATED, differing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from narwhals.typing import IntoDataFrame

    from deniable.core.domain import Domain
    from deniable.designs.reports.reports import Reports
    from deniable.estimation.estimate import Estimate
    from deniable.estimation.report_sources import Collected


def dependence(joint: Estimate) -> float:
    """Cramer's V of an estimated pair of attributes, less what noise alone could show.

    Noise adds to phi^2 = V^2 (min(r, c) - 1) a sum of variance / expected share over the cells that an interaction can
    use, df = (r - 1)(c - 1) of the r c. That sum varies like chi-square with df degrees of freedom, so its mean
    plus two standard deviations is subtracted before the root is taken.
    """
    rows, columns = joint.table.shape
    observed = cramers_v(joint.table) ** 2 * (min(rows, columns) - 1)
    expected = np.outer(joint.table.values.sum(axis=1), joint.table.values.sum(axis=0))
    # A cell nobody seems to be in would blow the noise up; no cell is taken to be rarer than a hundredth of an even
    # share.
    floor = 0.01 / expected.size
    noise = float((joint.dispersion.variances / np.maximum(expected, floor)).sum())
    df = (rows - 1) * (columns - 1)
    noise *= df / (rows * columns) * (1 + 2 * (2 / df) ** 0.5)
    return float(np.sqrt(max(0.0, observed - noise) / (min(rows, columns) - 1)))


def find_clusters(
    reports: Collected,
    attributes: Sequence[str] | None = None,
    *,
    most_cells: int = 50,
    least_dependence: float = 0.1,
) -> list[list[str]]:
    """Partition attributes so that dependent ones share a cluster.

    Args:
        reports: a pilot sample that covers every pair (an `Independent` design does).
        attributes: which attributes to partition; all of the pilot's by default.
        most_cells: a cluster's tuple may have at most this many values.
        least_dependence: pairs with a noise-corrected Cramer's V below this stay apart.
    """
    if attributes is None:
        design = getattr(reports, "design", None)
        if design is None:
            raise InputError("name the attributes to partition; observations do not tell which belong to the survey")
        attributes = design.domain.names
    pairs = {pair: estimate(reports, pair, method="norm_sub") for pair in combinations(attributes, 2)}
    size = {name: n for joint in pairs.values() for name, n in zip(joint.attributes, joint.table.shape, strict=True)}
    for joint in pairs.values():
        refuse_unknown_askings(joint.table.domain)
    strength = {pair: dependence(joint) for pair, joint in pairs.items()}
    for told in differing(reports, list(pairs), ASSOCIATED):
        warnings.warn(told, SourcesDifferWarning, stacklevel=2)
    cluster = {name: [name] for name in attributes}
    for a, b in sorted(strength, key=lambda pair: -strength[pair]):
        if strength[a, b] < least_dependence:
            break
        joined = [*cluster[a], *cluster[b]]
        if cluster[a] is not cluster[b] and prod(size[name] for name in joined) <= most_cells:
            cluster |= dict.fromkeys(joined, joined)
    return [list(names) for names in dict.fromkeys(tuple(cluster[name]) for name in attributes)]


def randomize_in_clusters(
    frame: IntoDataFrame,
    domain: Domain,
    epsilon: float,
    *,
    pilot: float = 0.1,
    most_cells: int = 50,
    least_dependence: float = 0.1,
    source: Source = SECURE,
) -> tuple[Reports, Reports]:
    """Disguise a table in two phases: a random pilot finds the clusters, everybody else answers them.

    Nobody is asked twice, so everybody spends epsilon once. Returns the pilot's reports and the others';
    `estimate([pilot, others], ...)` uses both.
    """
    import narwhals as nw

    if not 0 < pilot < 1:
        raise InputError(f"the pilot is a share of the respondents between 0 and 1, not {pilot!r}", pilot=pilot)
    known: Any = nw.from_native(frame, eager_only=True)
    order = source.stream().permutation(len(known))
    first = max(2, round(pilot * len(known)))
    if first >= len(known):
        raise InputError(f"{len(known)} rows leave nobody to ask after a pilot of {first}", rows=len(known))
    in_pilot, others = known[np.sort(order[:first]).tolist()], known[np.sort(order[first:]).tolist()]
    pilot_reports = Independent(domain, epsilon).randomize(in_pilot.to_native(), source=source)
    clusters = find_clusters(pilot_reports, most_cells=most_cells, least_dependence=least_dependence)
    return pilot_reports, Clusters(domain, clusters, epsilon).randomize(others.to_native(), source=source)
