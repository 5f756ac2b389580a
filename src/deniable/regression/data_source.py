"""Source: the rows of a regression, its outcome and its disguised predictors, out of a frame or out of reports.

In a frame everything is as it stands unless the caller names a channel. In `Reports` the attributes of the design are
disguised, the public columns are not, and neither is ever taken for the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from deniable.channels.channel import Channel
from deniable.core.results import backend_of
from deniable.designs.reports.reports import Reports
from deniable.errors import InputError, MissingColumnError, NotIdentifiedError, TooFewReportsError
from deniable.frozen import readonly
from deniable.regression.formula import as_pandas, column_of, load_formulaic, split, variables_of
from deniable.regression.likelihood.cell_likelihood import Tabled, tabled
from deniable.regression.likelihood.disguised_outcome import Channels, Disguised, Outcome, disguised
from deniable.regression.likelihood.posterior import Heard, listen, public_of
from deniable.regression.likelihood.responses import Normal
from deniable.regression.missing_answers import skipped, with_skips
from deniable.text import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.inference.attribute_pairs import Missing
    from deniable.regression.likelihood.hidden_predictor import Laid
    from deniable.regression.likelihood.mixture_likelihood import Likelihood
    from deniable.regression.likelihood.responses import Response

_ALIKE = 0.5  # of the respondents that differ: below it those who do not are put together
_WORST_CONDITION = 1e6  # a channel noisier than this leaves nothing to regress on


class Read(Protocol):
    """How a kind of regression reads its outcome."""

    def column(self, name: str, data: Any, channel: Channels) -> Outcome:
        """Out of a column of a frame."""

    def heard(self, found: Disguised) -> Outcome:
        """Out of what reports say."""


@dataclass(frozen=True)
class Categories:
    """An outcome that is a category; `response` makes its model for so many of them."""

    response: Callable[[int], Response]
    design_column: str | None
    categories: Sequence[Any] | None
    missing: Missing | None = None

    def column(self, name: str, data: Any, channel: Channels) -> Outcome:
        """Reports through a channel, or the truth."""
        by = None if self.design_column is None else np.asarray(column_of(data, self.design_column))
        return self._outcome(disguised(name, column_of(data, name), channel, by=by, categories=self.categories))

    def heard(self, found: Disguised) -> Outcome:
        """What reports say of each category."""
        if self.design_column is not None or (self.categories is not None and tuple(self.categories) != found.labels):
            raise InputError(
                f"the design of the reports says what the answers about {found.name!r} went through and that its "
                f"categories are {listed(found.labels)}; leave design_column= and categories= out"
            )
        return self._outcome(found)

    def _outcome(self, found: Disguised) -> Outcome:
        place = None if self.missing is None else skipped(found.labels)
        if place is None:
            return Outcome(self.response(len(found.labels)), found.chance, found)
        alone = self.response(len(found.labels) - 1)
        return Outcome(with_skips(alone, place), found.chance, found, modelled=alone)


@dataclass(frozen=True)
class Source:
    """What is regressed on what.

    Attributes:
        right: the right-hand side of the formula.
        data: the rows, as pandas: the columns that are what they say.
        whole: the same with the rows that say nothing; weights and clusters are given for all of them.
        backend: the data frame library of the answers.
        outcome: the left-hand side.
        columns: the disguised predictors.
        through: what the outcome went through, in words.
        heard: what reports say of outcome and predictors together; None for a frame.
        named: the public columns beside these reports that the model uses.
    """

    right: str
    data: Any
    whole: Any
    backend: Any
    outcome: Outcome
    columns: tuple[Disguised, ...]
    through: str
    heard: Heard | None = None
    named: tuple[str, ...] = ()

    def only(self, values: NDArray[Any]) -> NDArray[Any]:
        """Those of the rows that are fitted."""
        return values if self.heard is None else values[self.heard.rows]

    def compact(self, likelihood: Likelihood, laid: Laid) -> Likelihood | Tabled:
        """The same likelihood; respondents whose reports say the same, and who are the same in public, share a row."""
        if self.heard is None:
            return likelihood
        public = self.alike_in_public()
        # A number differs between any two; and where it shows groups by itself, respondents are looked at one by one.
        found = None if isinstance(self.outcome.response, Normal) else tabled(laid, self.heard, likelihood, public)
        if found is not None:
            return found
        place = public * (int(self.heard.alike.max(initial=0)) + 1) + self.heard.alike
        _, first, row = np.unique(place, return_index=True, return_inverse=True)
        if len(first) > _ALIKE * len(place):
            return likelihood
        weights = np.bincount(row.ravel(), likelihood.weights, len(first)).astype(np.float64)
        return replace(likelihood.take(first), weights=readonly(weights))

    def alike_in_public(self) -> NDArray[np.int64]:
        """For every row, a number that those share which are the same in all public columns that the model uses."""
        if not self.named:
            return np.zeros(len(self.data), dtype=np.int64)
        by = self.data.groupby(list(self.named), dropna=False, sort=False, observed=True)
        return np.asarray(by.ngroup().to_numpy(), dtype=np.int64)


def read_source(
    formula: str, frame: Any, read: Read, channel: Channels, *, rr: Mapping[str, Channel], models: Mapping[str, str]
) -> Source:
    """Read a formula on a frame or on reports."""
    left, right = split(formula)
    load_formulaic()  # which brings pandas
    if isinstance(frame, Reports):
        check_there(left, frame)
        used = variables_of(right)
        predictors = [name for name in frame.design.domain if name in used]
        if predictors or left in frame.design.domain:
            return _of_reports(left, right, predictors, frame, read, channel=channel, rr=rr, models=models)
        data, backend = public_of(frame), frame.backend
    else:
        data, backend = as_pandas(frame), backend_of(frame)
    if not len(data):
        raise TooFewReportsError("the frame has no rows", n=0)
    outcome = read.column(left, data, channel)
    if outcome.disguised is not None:
        _check_channels(outcome.disguised)
    columns = tuple(disguised(name, column_of(data, name), one) for name, one in rr.items())
    return Source(right, data, data, backend, outcome, columns, told_channel(channel))


def check_there(name: str, reports: Reports) -> None:
    """Refuse a name that reports do not have, and say what they have, disguised and in clear."""
    attributes, public = list(reports.design.domain), [] if reports.public is None else reports.public.columns
    if name.isidentifier() and name not in (*attributes, *public):
        clear = f", in clear {listed(public)}" if public else ""
        raise MissingColumnError(
            f"the reports have no {name!r}; they have, disguised, {listed(attributes)}{clear}", columns=[name]
        )


def _of_reports(
    left: str,
    right: str,
    predictors: Sequence[str],
    reports: Reports,
    read: Read,
    *,
    channel: Channels,
    rr: Mapping[str, Channel],
    models: Mapping[str, str],
) -> Source:
    if channel is not None or rr:
        raise InputError(
            "reports know from their design what every answer went through; channel= and rr= are for columns of "
            "frames. Leave them out"
        )
    if not reports.n:
        raise TooFewReportsError("there are no reports", n=0)
    heard = listen(reports, predictors, left if left in reports.design.domain else None)
    whole = public_of(reports)
    used = {left}.union(*map(variables_of, [right, *models.values()]))
    named = tuple(name for name in whole.columns if name in used)
    data = whole.iloc[heard.rows].reset_index(drop=True)
    outcome = read.heard(heard.column(left)) if heard.outcome is not None else read.column(left, data, None)
    columns = tuple(heard.column(name) for name in predictors)
    return Source(right, data, whole, reports.backend, outcome, columns, heard.through, heard, named)


def _check_channels(outcome: Disguised) -> None:
    """Refuse channels that together say next to nothing about the truth."""
    shares = np.bincount(outcome.design, minlength=len(outcome.matrices)) / len(outcome.design)
    stacked = np.concatenate([np.sqrt(share) * P for share, P in zip(shares, outcome.matrices, strict=True)])
    condition = float(np.linalg.cond(stacked))
    if condition > _WORST_CONDITION:
        raise NotIdentifiedError(
            f"the channels of {outcome.name!r} leave the truth undetermined (condition number {condition:.3g}): "
            "reports are all but independent of the answers. Use a channel with less noise, or add direct questions",
            condition=condition,
        )


def told_channel(channel: Channels) -> str:
    """What a column went through, in words."""
    if channel is None:
        return "direct question"
    if isinstance(channel, Channel):
        return channel.name
    distinct = set(channel.values()) if isinstance(channel, Mapping) else set(channel)
    return "; ".join(sorted("direct question" if one is None else one.name for one in distinct))
