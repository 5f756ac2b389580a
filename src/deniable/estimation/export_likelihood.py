"""The likelihood of reports as plain data, for programs that sample posteriors: Stan, PyMC, and whatever reads JSON.

With pi[g] the shares of the cells in public group g, the log-likelihood of everything reported is

    sum over rows r of  count[r] log( sum over cells c of  L[r][c] pi[group[r]][c] ).

L[r][c] = Pr(report r | cell c): what a respondent was not asked is summed over, so rows of different ballots stand side
by side. A row is a different report of a group and `count` how often it came; nothing of a single respondent is in it
that the reports do not show. A prior, and how groups hang together, is the reader's own program's to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from deniable.designs.reports.reports import Reports
from deniable.errors import EstimationError, InputError
from deniable.estimation.by_group import by_group
from deniable.likelihood.gather import gather
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deniable.estimation.report_sources import Collected
    from deniable.likelihood.evidence import Evidence

_MOST = 1 << 24  # numbers of L


class LikelihoodData(TypedDict):
    """What `likelihood_data` returns.

    Attributes:
        attributes: from each attribute of a cell to its categories, the asked ones first; cells are numbered like the
            cells of a table with these axes, the last changing fastest.
        asked: how many of the attributes were asked for; those behind them ride along.
        groups: the values of the public column, or one group that is everybody.
        cells: how many cells there are.
        rows: how many rows there are.
        L: Pr(report | cell), a row each.
        count: how often each row came.
        group: the group of each row, numbered from 1 as Stan does.
    """

    attributes: dict[str, list[Any]]
    asked: int
    groups: list[Any]
    cells: int
    rows: int
    L: list[list[float]]
    count: list[float]
    group: list[int]


def likelihood_data(reports: Collected, attributes: str | Iterable[str], *, by: str | None = None) -> LikelihoodData:
    """The likelihood of the table of some attributes as lists and numbers, ready for `json.dumps`.

    Args:
        reports: what respondents sent, tallies, observations, or a list of these.
        attributes: whose table the cells are.
        by: a public column: rows are then told apart by its values, so that every group can have shares of its own.

    >>> import deniable as dn
    >>> data = likelihood_data(dn.Observation("x", dn.KRR(2, 1.0), [60, 40]), "x")
    >>> data["count"], [[round(p, 3) for p in row] for row in data["L"]]
    ([60.0, 40.0], [[0.731, 0.269], [0.269, 0.731]])
    """
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    if by is None:
        parts: dict[Any, Evidence] = {"everybody": gather(reports, names, singly=True)}
    elif isinstance(reports, Reports):
        parts = by_group(by, reports.groups(by), lambda part: gather(part, names, singly=True))
    else:
        raise InputError("by= needs reports with public columns; observations and simulations have none")
    found = list(parts.values())
    if len({evidence.domain for evidence in found}) > 1:
        raise EstimationError(
            f"the groups of {by!r} were asked {listed(names)} in different ways; export them one by one"
        )
    rows, counts, groups = [], [], []
    for place, evidence in enumerate(found, start=1):
        if not evidence.has_likelihood:
            raise EstimationError(
                f"some reports about {listed(names)} are known by their moments alone (counts of what sets hold, or "
                f"too many attributes at once), which have no likelihood. Give the reports themselves, about fewer "
                f"attributes"
            )
        came = evidence.counts[:, 0] > 0
        if evidence.counts.size * evidence.cells > _MOST:
            raise EstimationError(
                f"{int(came.sum())} different reports about {evidence.cells} cells are too many to write out. Ask for "
                f"fewer attributes",
                cells=evidence.cells,
            )
        rows.append(evidence.matrix()[came])
        counts.append(evidence.counts[came, 0])
        groups.append(np.full(int(came.sum()), place))
    first, likelihood = found[0], np.concatenate(rows)
    return LikelihoodData(
        attributes={name: list(variable.categories) for name, variable in first.domain.items()},
        asked=len(names),
        groups=list(parts),
        cells=first.cells,
        rows=len(likelihood),
        L=likelihood.tolist(),
        count=np.concatenate(counts).tolist(),
        group=np.concatenate(groups).tolist(),
    )
