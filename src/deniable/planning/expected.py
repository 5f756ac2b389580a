"""What a design's reports would look like on average: observations whose counts are expectations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.designs.observation import Observation, merge
from deniable.errors import InputError, NotCoveredError, UnknownCategoryError
from deniable.tables.table import Table
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.designs.base import Design


def expected_observations(
    design: Design, table: Table | None, n: float, attributes: Sequence[str]
) -> list[Observation]:
    """Expected counts about some attributes from n respondents, for ballots that ask all of them.

    `table` is the assumed truth (even shares by default; also for attributes it does not hold).
    """
    if not n >= 2:
        raise InputError(f"a forecast needs at least 2 respondents, not {n}", n=n)
    names = design.domain.project(attributes).names
    for name in names:
        if table is not None and name in table.domain and table.domain[name] != design.domain[name]:
            raise UnknownCategoryError(
                f"{name!r} has the categories {listed(table.domain[name].categories)} in the assumed table and "
                f"{listed(design.domain[name].categories)} in the design",
                attribute=name,
            )
    found = []
    for ballot in range(len(design.ballots)):
        told = design.told(ballot, names)
        if told is None or not set(names) <= set(told.domain):
            continue
        truth = _truth(told.domain.names, design, table)
        counts = n / len(design.ballots) * told.channel.apply(truth.values.reshape(told.channel.input_shape))
        found.append(Observation(told.domain, told.channel, counts, population=round(n)))
    if not found:
        raise NotCoveredError(
            f"a {type(design).__name__} design asks nobody about {listed(names)} together", attributes=names
        )
    return merge(found)


def _truth(names: Sequence[str], design: Design, table: Table | None) -> Table:
    known = [] if table is None else [name for name in names if name in table.domain]
    others = [name for name in names if name not in known]
    parts = []
    if known:
        assert table is not None
        parts.append(table.normalize().project(known))
    if others:
        domain = design.domain.project(others)
        parts.append(Table(domain, np.full(domain.shape, 1 / domain.cells)))
    whole = parts[0] if len(parts) == 1 else parts[0] * parts[1]
    if (whole.values < 0).any():
        raise InputError("the assumed table has negative cells; project it to the simplex first")
    return whole.project(names)
