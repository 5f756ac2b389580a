"""Reports as data: which channel each row went through, and what its report says about each truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.channel import Channel
from deniable.channels.sets.possible_sets import holds_sets
from deniable.core.domain import Variable
from deniable.device.protocol.answer_encoding import SKIPPED
from deniable.errors import DesignError, InputError, MissingValueError, UnknownCategoryError
from deniable.frozen import readonly
from deniable.regression.likelihood.mixture_likelihood import Factor
from deniable.text import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.core.domain import Category
    from deniable.regression.likelihood.responses import Response

    Array = NDArray[np.float64]

Channels = Channel | None | Mapping[Any, Channel | None] | Sequence[Channel | None]


@dataclass(frozen=True)
class Disguised:
    """A disguised column.

    Attributes:
        name: the column.
        labels: the truth's categories.
        chance: r[i, v] = P_i[report_i, v], the probability of row i's report under each truth.
        scores: an unbiased score for each truth, E(scores[i, v] | truth_i) = [truth_i = v].
        matrices: P of each distinct channel.
        design: which of them each row went through.
    """

    name: str
    labels: tuple[Category, ...]
    chance: Array
    scores: Array
    matrices: tuple[Array, ...]
    design: NDArray[np.intp]


@dataclass(frozen=True)
class Outcome:
    """The left-hand side: what the response is told of each row, and whether its truth is hidden."""

    response: Response
    data: Array
    disguised: Disguised | None
    extra: tuple[str, ...] = ()  # equations beside the regression, each a constant: the linear model's log sigma
    modelled: Response | None = None  # where some prefer not to say: the response of those who answer

    @property
    def name(self) -> str:
        """What it is called."""
        return "outcome" if self.disguised is None else self.disguised.name

    @property
    def skips(self) -> int:
        """How many equations of the predictors tell who answers: the last one, where some prefer not to say."""
        return int(self.modelled is not None)

    @property
    def truths(self) -> tuple[Category, ...]:
        """The categories that are modelled."""
        if self.disguised is None:
            return ()
        return tuple(label for label in self.disguised.labels if not self.skips or label != SKIPPED)


def disguised(
    name: str,
    column: Any,
    channel: Channels,
    *,
    by: NDArray[Any] | None = None,
    categories: Sequence[Category] | None = None,
) -> Disguised:
    """Read a column of reports.

    Args:
        name: the column's name, for messages.
        column: the reports: categories where these are known, else codes 0, 1, ...
        channel: one for all rows; one per row; or one per value of `by`. None is a direct question.
        by: which of several channels a row went through.
        categories: the truth's categories in order; by default those of the first channel that names them. Channels
            that name them in another order are brought to it.
    """
    channels, design = _designs(channel, len(column), by)
    known = [one for one in channels if one is not None]
    sets = [one.name for one in known if holds_sets(one)]
    if sets:
        raise DesignError(
            f"reports of {name!r} through {sets[0]} are sets of answers, which have no likelihood for a regression. "
            f"Ask through a channel whose reports are answers: KRR, a survey device, or HadamardResponse",
            attribute=name,
        )
    stated = categories or next((one.categories for one in known if one.categories is not None), None)
    if stated is not None:
        channels = [
            one if one is None or len(stated) != one.inputs else one.in_order_of(stated, name) for one in channels
        ]
    sizes = {one.inputs for one in known} | ({len(stated)} if stated is not None else set())
    if len(sizes) > 1:
        raise DesignError(
            f"the channels of {name!r} (and its categories) do not agree on how many categories the truth has: "
            f"{listed(sorted(sizes))}",
            attribute=name,
            sizes=sorted(sizes),
        )
    truths = sizes.pop() if sizes else _observed(name, column)
    labels = tuple(stated) if stated is not None else tuple(range(truths))
    variable = Variable(name, labels)
    chance, scores = np.empty((len(column), truths)), np.empty((len(column), truths))
    matrices = []
    for place, one in enumerate(channels):
        rows = np.flatnonzero(design == place)
        matrix = np.eye(truths) if one is None else one.matrix()
        inverse = np.eye(truths) if one is None else one.solve(np.eye(one.outputs))
        square = stated is not None and len(matrix) == truths
        codes = variable.encode(column[rows]) if square else _codes(name, column[rows], len(matrix))
        chance[rows], scores[rows] = matrix[codes], inverse.T[codes]
        matrices.append(matrix)
    return Disguised(name, labels, chance, scores, tuple(matrices), design)


def factor_of(outcome: Outcome, matrix: Array, terms: Sequence[str], offset: int) -> tuple[Factor, list[Any]]:
    """The outcome's factor with its coefficients from `offset` on, and their labels."""
    equations = outcome.response.equations
    regular = equations - len(outcome.extra)
    width = len(terms)
    ones = readonly(np.ones((len(matrix), 1)))
    designs = tuple(matrix if equation < regular else ones for equation in range(equations))
    places = [slice(offset + k * width, offset + (k + 1) * width) for k in range(regular)]
    places += [slice(offset + regular * width + k, offset + regular * width + k + 1) for k in range(len(outcome.extra))]
    if regular - outcome.skips > 1:
        labels: list[Any] = [(truth, term) for truth in outcome.truths[1:] for term in terms]
    else:
        labels = list(terms)
    if outcome.skips and outcome.disguised is not None:
        labels += [f"{outcome.disguised.name} = {SKIPPED}: {term}" for term in terms]
    return Factor(outcome.response, outcome.data, designs, tuple(places)), [*labels, *outcome.extra]


def _designs(channel: Channels, rows: int, by: NDArray[Any] | None) -> tuple[list[Channel | None], NDArray[np.intp]]:
    """The distinct channels, and each row's."""
    if channel is None or isinstance(channel, Channel):
        return [channel], np.zeros(rows, dtype=np.intp)
    if isinstance(channel, Mapping):
        if by is None:
            raise InputError(
                "several channels were given by name, but not which rows went through which: name the column that says "
                "so with design_column="
            )
        strangers = sorted({str(value) for value in set(by.tolist()) - set(channel)})
        if strangers:
            raise UnknownCategoryError(
                f"the design column holds {listed(strangers)}, for which no channel is given; there are channels for "
                f"{listed(channel)}. Use None for a direct question",
                value=strangers[0],
            )
        names = list(channel)
        place = {value: index for index, value in enumerate(names)}
        return [channel[value] for value in names], np.array([place[value] for value in by.tolist()], dtype=np.intp)
    if not isinstance(channel, Sequence | np.ndarray):
        raise InputError(f"the outcome's device must be a channel, such as Warner(0.8), not {channel!r}")
    if len(channel) != rows:
        raise InputError(f"{len(channel)} channels for {rows} rows: give one per row, or one for all", rows=rows)
    # By identity first: rows usually share a few objects, and comparing channels costs more than comparing addresses.
    seen: dict[int, int] = {}
    distinct: dict[object, int] = {}
    found: list[Channel | None] = []
    for one in channel:
        if id(one) not in seen:  # equal channels may list their truths otherwise
            known = None if one is None else (one, one.categories, one.sensitive)
            seen[id(one)] = distinct.setdefault(known, len(distinct))
            found += [one] if len(distinct) > len(found) else []
    return found, np.array([seen[id(one)] for one in channel], dtype=np.intp)


def _codes(name: str, column: Any, outputs: int) -> NDArray[np.intp]:
    """Whole numbers 0 .. outputs - 1 out of a pandas series."""
    missing = int(column.isna().sum())
    if missing:
        raise MissingValueError(
            f"column {name!r} has {missing} missing values; drop the rows, or declare a category for a skipped answer",
            attribute=name,
            rows=missing,
        )
    values = column.to_numpy()
    if values.dtype.kind == "f" and (values == np.floor(values)).all():
        values = values.astype(np.int64)
    if values.dtype.kind not in "iub":
        raise UnknownCategoryError(
            f"the reports in {name!r} are not codes 0, 1, ... Name the truth's categories in order, with "
            "categories=(...) or in the channel",
            attribute=name,
        )
    codes = values.astype(np.intp)
    outside = int(((codes < 0) | (codes >= outputs)).sum())
    if outside:
        raise UnknownCategoryError(
            f"{outside} reports in {name!r} lie outside the codes 0 to {outputs - 1} of its channel",
            attribute=name,
            rows=outside,
        )
    return codes


def _observed(name: str, column: Any) -> int:
    """How many categories a column of directly given codes has, when nobody says."""
    return max(int(_codes(name, column, np.iinfo(np.int16).max).max(initial=0)) + 1, 2)
