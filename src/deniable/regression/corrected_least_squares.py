"""Linear regression of a disguised number, on disguised and open predictors: least squares on unbiased scores.

    b = M^-1 m,     M = E x x',  m = E x y,     x the terms of the formula, y the outcome's number,

with every mean from all reports that speak of what it is made of (see `moments`). These are the coefficients that least
squares on the true answers estimates, whatever the distribution of anything. A respondent i who pulls M by M_i and m by
m_i pulls b by  M^-1 (m_i - M_i b),  and the covariance of b is the sum of the outer products of these, over respondents
or over clusters: a sandwich.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.results import backend_of
from deniable.core.summary import Shown, Summary
from deniable.designs.reports.reports import Reports
from deniable.errors import DesignError, FormulaError, InputError, NotIdentifiedError, TooFewReportsError
from deniable.estimation.intervals import critical_value
from deniable.frozen import Frozen, readonly
from deniable.inference.attribute_pairs import Missing, check_missing
from deniable.regression.coefficients import Coefficients, plot_coefficients
from deniable.regression.cross_moments import Voices, Wanted, cells_of, pool, voices_of, voices_of_columns
from deniable.regression.data_source import told_channel
from deniable.regression.formula import Design, as_pandas, check_rank, column_of, split, variables_of
from deniable.regression.likelihood.disguised_outcome import Channels, disguised
from deniable.regression.likelihood.hidden_predictor import fixed, spanning
from deniable.regression.likelihood.posterior import public_of
from deniable.regression.likelihood.refusal_cells import Answering
from deniable.regression.likelihood.responses import Normal
from deniable.regression.marginal_effects import predictions
from deniable.regression.missing_answers import answers, counted_out, skipped, told_of
from deniable.regression.model import Options, drawn_of
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.core.domain import Category
    from deniable.core.results import Frame
    from deniable.regression.likelihood.covariance import Drawn
    from deniable.regression.likelihood.disguised_outcome import Disguised

    Array = NDArray[np.float64]

_LEAST = 1e-8  # eigenvalue of M, its terms scaled to one, below which coefficients are not told apart


@dataclass(frozen=True, eq=False, repr=False)
class LeastSquares(Coefficients, Shown, Frozen):
    """A linear regression on unbiased scores.

    Attributes:
        formula: as it was given.
        design: the predictors.
        labels: the terms.
        values: their coefficients.
        matrix: the covariance of these.
        kind: "sandwich", or "survey" where weights, strata or clusters are given.
        n: how many respondents said anything of it.
        hidden: the disguised predictors.
        channel: what the outcome went through, in words.
        used: what was used of the reports, and how many said what; empty for frames.
        freedom: degrees of freedom of the errors: `Sampling.df_beside` the coefficients; else infinite.
    """

    formula: str
    design: Design
    labels: tuple[str, ...]
    values: Array
    matrix: Array
    kind: str
    n: int
    hidden: tuple[str, ...]
    backend: Any
    channel: str
    used: tuple[str, ...] = ()
    freedom: float = np.inf

    model = "linear"
    response = Normal()

    @property
    def main(self) -> int:  # type: ignore[override]
        """All of them are coefficients."""
        return len(self.values)

    @property
    def df(self) -> int:
        """The number of coefficients."""
        return len(self.values)

    def predict(self, frame: Any = None, level: float = 0.95) -> Frame:
        """Fitted means, one row a row of `frame`, which holds the predictors' true values."""
        return predictions(self, frame, critical_value(1 - level, self.degrees))

    def summary(self, level: float = 0.95) -> Summary:
        """A table as text or HTML."""
        facts = {
            "model": f"linear, {self.formula}",
            "outcome through": self.channel,
            "modelled": "the mean",
            **({"disguised predictors": ", ".join(self.hidden)} if self.hidden else {}),
            "respondents": self.n,
            "standard errors": self.kind,
        }
        return Summary(self.told(level), ("Least squares on unbiased scores.", *self.used), facts=facts)

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw every coefficient but the intercept with its interval."""
        return plot_coefficients(self.summary(level), level, ax)

    def __repr__(self) -> str:
        return f"<linear on unbiased scores: {self.formula}; {self.n} respondents>"


@dataclass(frozen=True)
class _Scored:
    """Rows with their voices: what a frame and reports have in common here."""

    data: Any
    labels: Mapping[str, tuple[Category, ...]]
    voices: list[Voices]
    through: str
    backend: Any
    used: tuple[str, ...]
    columns: tuple[Disguised, ...] = ()  # of a frame


def on_scores(
    formula: str,
    frame: Any,
    channel: Channels,
    *,
    design_column: str | None,
    categories: Sequence[Category] | None,
    options: Options,
) -> LeastSquares:
    """Fit a linear model of a disguised outcome."""
    check_missing(options.get("missing"))
    known = ("rr", "weights", "strata", "clusters", "covariance", "missing")
    strangers = [option for option in options if option not in known]
    if strangers:
        raise InputError(
            f"{listed(strangers)} are for likelihoods; a disguised outcome of a linear model is fitted by least "
            f"squares on unbiased scores, which need no model of the predictors. Leave them out"
        )
    left, right = split(formula)
    if isinstance(frame, Reports):
        if channel is not None or options.get("rr"):
            raise InputError(
                "reports know from their design what every answer went through; channel= and rr= are for columns of "
                "frames. Leave them out"
            )
        scored = _of_reports(left, right, frame)
    else:
        by = None if design_column is None else np.asarray(column_of(as_pandas(frame), design_column))
        outcome = disguised(left, column_of(as_pandas(frame), left), channel, by=by, categories=categories)
        scored = _of_frame(outcome, frame, channel, options)
    hidden = tuple(name for name in scored.labels if name != left)
    unused = [name for name in hidden if name not in variables_of(right)]
    if unused:
        raise FormulaError(f"the formula does not use the disguised predictors {listed(unused)}", formula=right)
    drawn = drawn_of(options, frame, scored.data)
    weights = np.ones(len(scored.data)) if drawn is None else drawn.sampling.weights
    kind = "sandwich" if drawn is None else "survey"
    if options.get("covariance", kind) != kind:
        raise InputError(f"here the covariance is the {kind}, not {options['covariance']!r}: there is no likelihood")
    missing = options.get("missing")
    design, means, pulls = _means(right, left, scored, weights, missing)
    values, matrix = _solve(means, pulls, len(design.terms), drawn)
    spoken = sum(len(voice.rows) for voice in scored.voices if voice.names)
    freedom = np.inf if drawn is None else drawn.sampling.df_beside(len(design.terms))
    refused = [name for name in hidden if skipped(scored.labels[name]) is not None]
    silent = None if skipped(scored.labels[left]) is None else left
    assumed = told_of(missing, silent, refused)
    if missing == "drop":
        out = counted_out(frame, [*refused, *([] if silent is None else [silent])], scored.columns, options)
        assumed = (*out, *assumed)
    told = (scored.backend, scored.through, (*scored.used, *assumed), freedom)
    return LeastSquares(formula, design, design.terms, values, matrix, kind, spoken, hidden, *told)


def _of_reports(left: str, right: str, reports: Reports) -> _Scored:
    if not reports.n:
        raise TooFewReportsError("there are no reports", n=0)
    used = variables_of(right)
    names = [name for name in reports.design.domain if name in used and name != left] + [left]
    heard = voices_of(reports, names)
    voices, told = heard.voices, heard.used
    through = "; ".join(sorted({line.split(" through ")[1].split(",")[0] for line in told if " through " in line}))
    labels = {name: heard.asked[name].categories for name in names}
    return _Scored(public_of(reports), labels, voices, through, reports.backend, told)


def _of_frame(outcome: Disguised, frame: Any, channel: Channels, options: Options) -> _Scored:
    data = as_pandas(frame)
    if not len(data):
        raise TooFewReportsError("the frame has no rows", n=0)
    columns = [disguised(name, column_of(data, name), one) for name, one in (options.get("rr") or {}).items()]
    columns.append(outcome)
    labels = {column.name: column.labels for column in columns}
    voices = voices_of_columns(columns, len(data))
    return _Scored(data, labels, voices, told_channel(channel), backend_of(frame), (), tuple(columns))


def _means(
    right: str, left: str, scored: _Scored, weights: Array, missing: Missing | None
) -> tuple[Design, Array, Array]:
    """The design, the means of all products of terms (as in `_pairs`) and then with y, and everybody's pulls.

    All of it is zero in those who take no part, so that the means are those of the others times their share.
    """
    hidden = [name for name in scored.labels if name != left]
    numbers, part = _numbers(left, scored.labels[left], missing)
    labels = {name: scored.labels[name] for name in hidden}
    codes = cells_of(labels, hidden)
    who = Answering.of(labels, missing)
    design = Design.of(right, spanning(scored.data, who.labels))
    matrices = np.stack([design.on(fixed(scored.data, who.labels, who.codes(cell))) for cell in codes.T])
    check_rank(matrices.reshape(-1, matrices.shape[2]), design.terms)
    matrices[who.aside(codes.T)] = 0.0
    if len(scored.data) <= len(design.terms):
        raise TooFewReportsError(f"{len(scored.data)} rows for {len(design.terms)} coefficients", n=len(scored.data))
    shape = tuple(len(labels[name]) for name in hidden)
    tables = matrices.reshape(*shape, *matrices.shape[1:])
    depends = [_depends(tables[..., j], hidden) for j in range(len(design.terms))]
    wanted = []
    for j, k in _pairs(len(design.terms)):
        names = tuple(name for name in hidden if name in (*depends[j], *depends[k]))
        squares = _on(tables[..., j], hidden, names) * _on(tables[..., k], hidden, names)
        if part.all():
            wanted.append(Wanted(names, squares))
        else:
            both = squares[:, None, :] * part[None, :, None]
            wanted.append(Wanted((*names, left), both.reshape(-1, squares.shape[1])))
    for j, own in enumerate(depends):
        values = _on(tables[..., j], hidden, own)
        outer = values[:, None, :] * numbers[None, :, None]
        wanted.append(Wanted((*own, left), outer.reshape(-1, values.shape[1])))
    return design, *pool(scored.voices, wanted, weights)


def _pairs(terms: int) -> list[tuple[int, int]]:
    """The entries of a symmetric matrix."""
    return [(j, k) for j in range(terms) for k in range(j, terms)]


def _solve(means: Array, pulls: Array, terms: int, drawn: Drawn | None) -> tuple[Array, Array]:
    """The coefficients and their covariance."""
    pairs = _pairs(terms)
    M = np.zeros((terms, terms))
    for (j, k), mean in zip(pairs, means, strict=False):
        M[j, k] = M[k, j] = mean
    size = np.sqrt(np.maximum(np.diagonal(M), 0))
    if (size <= 0).any() or np.linalg.eigvalsh(M / np.outer(size, size))[0] < _LEAST:
        raise NotIdentifiedError(
            "the estimated squares and products of the predictors are not those of any distribution: there is too much "
            "noise for the respondents at hand. Use fewer terms, or more respondents"
        )
    values = np.linalg.solve(M, means[len(pairs) :])
    moved = pulls[:, len(pairs) :].copy()
    for place, (j, k) in enumerate(pairs):
        moved[:, j] -= pulls[:, place] * values[k]
        if k != j:
            moved[:, k] -= pulls[:, place] * values[j]
    n = len(moved)
    meat = n / (n - 1) * moved.T @ moved if drawn is None else drawn.covariance(moved)
    bread = np.linalg.inv(M)
    covariance: Array = np.asarray(bread @ meat @ bread, dtype=np.float64)
    return readonly(np.asarray(values, dtype=np.float64)), readonly(covariance)


def _numbers(name: str, labels: Sequence[Category], missing: Missing | None) -> tuple[Array, Array]:
    """What every answer counts, and whether it takes part."""
    place = None if missing is None else skipped(labels)
    kept = tuple(labels) if place is None else answers(labels)
    if not all(isinstance(label, int | float) and not isinstance(label, bool) for label in kept):
        raise DesignError(
            f"the answers about {name!r} are {listed(labels)}, which are no numbers. Use logit() or multinomial() for "
            f'categories, or a domain whose categories are numbers; beside "prefer not to say", say missing="drop"',
            attribute=name,
        )
    numbers = np.array(kept, dtype=np.float64)
    if place is None:
        return numbers, np.ones(len(numbers), dtype=np.bool_)
    return np.insert(numbers, place, 0.0), np.arange(len(labels)) != place


def _depends(table: Array, hidden: Sequence[str]) -> tuple[str, ...]:
    """The hidden predictors that a term changes with."""
    return tuple(name for axis, name in enumerate(hidden) if np.ptp(table, axis=axis).any())


def _on(table: Array, hidden: Sequence[str], names: Sequence[str]) -> Array:
    """A term on the cells of some hidden predictors, which are all it changes with: (cells, rows)."""
    picked = table[tuple(slice(None) if name in names else 0 for name in hidden)]
    return picked.reshape(-1, table.shape[-1])
