"""Respondents: who said what, for whatever needs them one by one: regression, weights, clusters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from deniable.channels.sets.possible_sets import holds_sets, places_of, possible_sets
from deniable.frozen import Frozen, readonly

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw
    from numpy.typing import NDArray

    from deniable.designs.marginal_channel import Told
    from deniable.designs.reports.reports import Reports
    from deniable.sampling.sampling import Sampling


@dataclass(frozen=True, eq=False)
class Respondents(Frozen):
    """The rows behind an `Evidence`, in the order of the reports (one source after the other).

    Attributes:
        sources: the reports.
        names: the asked attributes.
        origins: rows of a source, one of its ballots, the group it went to and where its reports begin there.
        sampling: how they were drawn; None where all count alike, each for itself.
    """

    sources: Sequence[Reports]
    names: Sequence[str]
    origins: NDArray[np.int64]
    sampling: Sampling | None = None

    @property
    def n(self) -> int:
        """How many there are, silent ones included."""
        return sum(source.n for source in self.sources)

    @property
    def weights(self) -> NDArray[np.float64]:
        """One for everybody, with a mean of one."""
        return np.ones(self.n) if self.sampling is None else self.sampling.scaled

    @property
    def public(self) -> nw.DataFrame[Any] | None:
        """The public columns as a narwhals frame, where there is one source that has them; else None."""
        return self.sources[0].public if len(self.sources) == 1 else None

    @cached_property
    def _index(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        group, report = np.full(self.n, -1, dtype=np.int64), np.full(self.n, -1, dtype=np.int64)
        first = np.cumsum([0, *(source.n for source in self.sources)])
        for at, ballot, number, begins in self.origins.tolist():
            source = self.sources[at]
            rows = first[at] + source.rows_of(ballot)
            told = source.told(ballot, [name for name in self.names if name in source.design.domain])
            assert told is not None
            group[rows] = number
            report[rows] = begins + place_of(told, source.codes(ballot, told))
        return readonly(group), readonly(report)

    @property
    def group(self) -> NDArray[np.int64]:
        """Which group of the evidence each respondent's report is in; -1 for those who were asked something else."""
        return self._index[0]

    @property
    def report(self) -> NDArray[np.int64]:
        """Which report of the group it is: a place in its counts; -1 likewise."""
        return self._index[1]


def how_listed(told: Told) -> Literal["cells", "sets", "seen"]:
    """How a ballot's reports are listed: cells of its channel, all possible sets, or the different ones that came."""
    # Several answers of a respondent name one and the same context (block): never a product of contexts.
    if len(told.columns) > 1 and any(column.channel.shares_context for column in told.columns):
        return "seen"
    if not holds_sets(told.channel):
        return "cells"
    return "seen" if possible_sets(told.channel) is None else "sets"


def place_of(told: Told, codes: NDArray[Any]) -> NDArray[np.int64]:
    """The place of each report (a row of codes) among those listed."""
    how = how_listed(told)
    if how == "seen":
        return np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    if how == "cells":
        shape = tuple(column.channel.outputs for column in told.columns)
        return np.ravel_multi_index(tuple(codes.T.astype(np.int64)), shape)
    return places_of(told.channel, codes)
