"""Synthetic records: a data frame whose tables are the estimated ones.

The reports go into one joint model: the log-linear table while the full table can be held, the graphical model (extra
`graphical`) beyond. Records are then dealt out by systematic sampling: every cell gets the whole number of records just
below or just above its due, so that nothing but rounding is added to the errors the estimates have anyway.

What is published of disguised answers is as private as they are: making records of them costs no epsilon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.randomness import SECURE, Source, check_source
from deniable.core.results import frame_of
from deniable.designs.reports.reordered import in_one_order
from deniable.designs.reports.reports import Reports
from deniable.designs.reports.tallies import Tallies
from deniable.errors import InputError
from deniable.estimation.joint_tables.graphical_model import fit_graphical
from deniable.estimation.joint_tables.uncovered_tables import ENGINES, forget_blocks, has_sets
from deniable.estimation.report_sources import Collected, origin_of
from deniable.estimation.several_sources import DEALT, warn_of_differing
from deniable.files.reserved_columns import ORIGIN
from deniable.likelihood.efficient_estimate import determined
from deniable.likelihood.em import MOST_CELLS
from deniable.likelihood.gather import gather, tabulated
from deniable.sampling.read_sampling import sampling_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.core.domain import Domain
    from deniable.core.results import Frame
    from deniable.core.table import Table
    from deniable.sampling.read_sampling import Weights


def synthesize(
    reports: Collected,
    n: int,
    *,
    attributes: str | Sequence[str] | None = None,
    source: Source = SECURE,
    most_cells: int = MOST_CELLS,
    weights: Weights = None,
) -> Frame:
    """Make n synthetic records that reproduce what the reports say.

    Args:
        reports: what respondents sent (or tallies, or observations, or a list of these).
        n: how many records.
        attributes: which attribute, or attributes, a record has; all that the reports speak of by default.
        source: where the order of the records and the rounding come from.
        most_cells: beyond this many cells of the full table, the graphical model is used.
        weights: survey weights, as for `estimate`: the records are then those of the population that weights stand for.
            (Strata and clusters make no difference to records, which have no errors.)

    Returns:
        A data frame of the library that the reports came in, else a pyarrow table. Records made of simulated reports,
        or of a pilot's, have a column `dn_origin` that says so.

    Warns:
        SourcesDifferWarning: several sources are taken for one population, and differ.

    Raises:
        TooFewReportsError: nobody was asked about some attribute; name the others as `attributes`.
        NotCoveredError: the shares of some attribute are not told: its channel was made for other numbers.
    """
    check_source(source)
    _require_records(n)
    if isinstance(reports, list | tuple):
        reports = in_one_order(reports)
    listing: Any = reports if isinstance(reports, list) else [reports]
    if attributes is None:
        attributes = list(dict.fromkeys(name for part in listing for name in _speaks_of(part)))
    attributes = [attributes] if isinstance(attributes, str) else list(attributes)
    sampling = sampling_of(reports, weights)
    if sampling is None:
        told = forget_blocks(tabulated(reports, attributes, everybody=True))
    else:
        told = forget_blocks(gather(reports, attributes, sampling=sampling, everybody=True))
    domain = told.asked
    warn_of_differing(reports, attributes, DEALT, sampling)
    partly = {name for group in told.groups if group.said.channel.is_partial for name in group.said.part}
    for name in partly & set(attributes):  # a record has one category of each, and nobody may make up their shares
        determined(gather(reports, [name], sampling=sampling, everybody=True))
    stream = source.stream()
    if domain.cells <= most_cells:
        # Reports that are sets have no likelihood: their tables are fitted proportionally instead.
        table = ENGINES["ipf" if has_sets(told) else "loglinear"](told)[0]
        codes = deal(table, n, stream.words(1, 64)[0] / 2.0**64)
    else:
        codes = fit_graphical(told).records(n, int(stream.words(1, 32)[0]))
    backend = next((part.backend for part in listing if isinstance(part, Reports | Tallies)), None)
    origin = origin_of(reports).column
    records = {**domain.decode(codes[stream.permutation(n)]), **({ORIGIN: [origin] * n} if origin else {})}
    return frame_of(records, backend)


def _require_records(n: Any) -> None:
    if not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"n must be a whole number of records, at least 1, not {n!r}", n=n)


def _speaks_of(part: Any) -> tuple[str, ...]:
    if isinstance(part, Tallies):
        return part.attributes
    domain: Domain = part.design.domain if isinstance(part, Reports) else part.domain
    return domain.names


def deal(table: Table, n: int, start: float) -> NDArray[np.integer]:
    """Deal n records out to the cells: systematic sampling with one random start in [0, 1).

    Record i is the cell in which the running sum of n pi passes i + start; a cell gets floor or ceil of n pi records.
    """
    ends = np.cumsum(table.normalize().values.ravel()) * n
    cells = np.searchsorted(ends, np.arange(n) + start, side="right")
    return np.stack(np.unravel_index(np.minimum(cells, table.values.size - 1), table.shape), axis=1)
