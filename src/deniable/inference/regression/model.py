"""From a formula and a frame to a fitted model: what all regressions have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from deniable.channels.base import Channel
from deniable.designs.reports import Reports
from deniable.errors import ConvergenceError, InputError, MissingValueError, NotIdentifiedError, TooFewReportsError
from deniable.estimation.fit.gathering import refuse_pairs
from deniable.inference.regression import predictor
from deniable.inference.regression.covariance import covariance, inverse
from deniable.inference.regression.diagnosis import refusal
from deniable.inference.regression.fit import Optimum, jitter, lower_maxima, maximise, search
from deniable.inference.regression.formula import (
    Design,
    as_pandas,
    channels_of,
    check_rank,
    column_of,
    refuse_unread,
    split,
    variables_of,
)
from deniable.inference.regression.likelihood import Cell, Likelihood
from deniable.inference.regression.outcome import Channels, Disguised, Outcome, disguised, factor_of
from deniable.inference.regression.penalty import Jeffreys
from deniable.inference.regression.responses import Normal
from deniable.inference.regression.result import Regression
from deniable.inference.regression.starts import start_of
from deniable.results import backend_of
from deniable.wording import listed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from deniable.domain import Category
    from deniable.inference.regression.responses import Response

    Array = NDArray[np.float64]

Read = Callable[[str, Any, Channels, "Sequence[Category] | None"], Outcome]
_STARTS = 4  # starts besides the first
_WORST_CONDITION = 1e6  # a channel noisier than this leaves nothing to regress on


class Options(TypedDict, total=False):
    """What every regression takes.

    Attributes:
        rr: disguised predictors, name -> channel. In the formula the name stands for the truth.
        rr_models: for a disguised predictor, the right-hand side of the model for its truth; by default all terms of
            the formula without disguised predictors, and the disguised predictors named before it.
        weights: a column, or one number per row. Survey weights: standard errors are then the sandwich's.
        clusters: a column, or one value per row, that names each row's cluster.
        covariance: "hessian", "opg", "sandwich" or "cluster"; see `deniable.inference.regression.covariance`.
        penalty: None, or "jeffreys".
    """

    rr: Mapping[str, Channel]
    rr_models: Mapping[str, str]
    weights: str | ArrayLike
    clusters: str | ArrayLike
    covariance: str
    penalty: str | None


def regress(
    name: str,
    formula: str,
    frame: Any,
    read: Read,
    *,
    channel: Channels,
    options: Options,
) -> Regression:
    """Fit a model. `read` makes the outcome out of its column."""
    _check_options(options)
    hidden = dict(options.get("rr") or {})
    left, right = split(formula)
    backend = None
    labels_of: dict[str, tuple[Category, ...]] = {}
    if isinstance(frame, Reports):
        refuse_pairs([frame])
        known, used = channels_of(frame), variables_of(right)
        refuse_unread(frame, {left, *used}, {*hidden, *([left] if channel is not None else [])})
        labels_of = {name: variable.categories for name, variable in frame.design.domain.items()}
        channel = known.get(left) if channel is None else channel
        hidden = {**{name: one for name, one in known.items() if name in used}, **hidden}
        backend, frame = frame.backend, frame.labelled()
    data = as_pandas(frame)
    backend = backend or backend_of(frame)
    if not len(data):
        raise TooFewReportsError("the frame has no rows", n=0)
    public = data.drop(columns=list(labels_of))  # what says of a row how it counts is never a disguised answer
    outcome = read(left, public.assign(**data[[left]]) if left in labels_of else public, channel, labels_of.get(left))
    if outcome.disguised is not None:
        _check_channels(outcome.disguised)
    weights = _weights(options.get("weights"), public)
    clusters = membership(options.get("clusters"), public, "cluster")
    kind = options.get("covariance") or (
        "cluster" if clusters is not None else "sandwich" if options.get("weights") is not None else "hessian"
    )
    penalty = options.get("penalty")
    if hidden:
        design, cells, labels, firsts = predictor.cells(
            outcome,
            right,
            data,
            hidden=hidden,
            models=options.get("rr_models") or {},
            weights=weights,
            labels_of=labels_of,
        )
    else:
        design = Design.of(right, data)
        check_rank(design.matrix, design.terms)
        cells, labels, firsts = _one_cell(outcome, design)
    likelihood = Likelihood(cells, weights, len(labels))
    _check_enough(int(np.count_nonzero(weights)), len(labels))
    starts = [*firsts, *jitter(firsts[0], likelihood, _STARTS)]
    main = len(design.terms) * (outcome.response.equations - len(outcome.extra))
    if penalty:
        if hidden or outcome.disguised is None:
            raise InputError("the penalty is for models of a disguised category without disguised predictors")
        objective = Jeffreys(likelihood, outcome.disguised)
        best, ends = search(objective, starts[:2])
        notes = lower_maxima(best, ends)
        information = objective.information(best.params)
        loglik = likelihood.evaluate(best.params)[0]
        found = Optimum(best.params, loglik, -information, best.steps, best.diverged, best.direction)
        matrix = (
            inverse(information)
            if kind == "hessian"
            else covariance(kind, likelihood, best.params, -information, clusters)
        )
    else:
        found, ends = _maximum(likelihood, starts, outcome, design, labels[:main])
        notes = lower_maxima(found, ends)
        matrix = covariance(kind, likelihood, found.params, found.hessian, clusters)
    return Regression(
        model=name,
        formula=formula,
        response=outcome.response,
        truths=outcome.disguised.labels if outcome.disguised is not None else (),
        design=design,
        labels=tuple(labels),
        main=main,
        values=found.params,
        matrix=matrix,
        kind=kind,
        loglik=found.value,
        steps=found.steps,
        notes=notes,
        penalty=penalty,
        weighted=options.get("weights") is not None,
        likelihood=likelihood,
        hidden=tuple(hidden),
        data=data.copy(),
        backend=backend,
        channel=_told(channel),
    )


def _one_cell(outcome: Outcome, design: Design) -> tuple[tuple[Cell, ...], list[Any], list[Array]]:
    """No hidden predictor: one cell, one factor."""
    factor, labels = factor_of(outcome, design.matrix, design.terms, 0)
    response = outcome.disguised.scores if outcome.disguised is not None else outcome.data
    return (Cell((factor,)),), labels, start_of(outcome.response, design.matrix, response)


def _maximum(
    likelihood: Likelihood, starts: Sequence[Array], outcome: Outcome, design: Design, labels: Sequence[Any]
) -> tuple[Optimum, list[Optimum]]:
    names = [label if isinstance(label, str) else f"{label[0]}: {label[1]}" for label in labels]
    chance = outcome.disguised.chance if outcome.disguised is not None and len(likelihood.cells) == 1 else None
    try:
        found, ends = maximise(likelihood, starts)
    except ConvergenceError as error:
        if isinstance(outcome.response, Normal):
            way_out = "Do the predictors explain the outcome without error? Then sigma runs to zero"
        else:
            way_out = 'Try penalty="jeffreys", or fewer predictors' if chance is not None else "Try fewer predictors"
        raise ConvergenceError(f"{error.message}. {way_out}") from None
    if found.diverged:
        raise refusal(found, design.matrix, chance, names, penalty=chance is not None)
    return found, ends


def _check_options(options: Options) -> None:
    strangers = [option for option in options if option not in Options.__annotations__]
    if strangers:
        raise InputError(f"there is no option {listed(strangers)}; there are {listed(Options.__annotations__)}")
    if options.get("penalty") not in {None, "jeffreys"}:
        raise InputError(f'penalty is None or "jeffreys", not {options["penalty"]!r}')


def _check_enough(reports: int, parameters: int) -> None:
    if reports <= parameters:
        raise TooFewReportsError(
            f"{reports} reports for {parameters} parameters; there must be more reports than parameters",
            n=reports,
            parameters=parameters,
        )


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


def _weights(given: Any, data: Any) -> Array:
    if given is None:
        return np.ones(len(data))
    column = column_of(data, given) if isinstance(given, str) else given
    try:
        weights = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != (len(data),) or not np.isfinite(weights).all() or weights.min() < 0 or not weights.any():
        raise InputError(f"weights must be {len(data)} numbers from 0, one per row, not all zero")
    return weights


def membership(given: Any, data: Any, kind: str) -> NDArray[np.intp] | None:
    """Which cluster or group each row belongs to, numbered from 0."""
    import pandas as pd

    if given is None:
        return None
    column = pd.Series(np.asarray(column_of(data, given) if isinstance(given, str) else given))
    if len(column) != len(data):
        raise InputError(f"{kind}s must be {len(data)} values, one per row, not {len(column)}")
    if column.isna().any():
        raise MissingValueError(f"some rows have no {kind}; give each a value of its own, or drop them")
    return np.asarray(pd.factorize(column)[0], dtype=np.intp)


def _told(channel: Channels) -> str:
    if channel is None:
        return "direct question"
    if isinstance(channel, Channel):
        return channel.name
    distinct = set(channel.values()) if isinstance(channel, Mapping) else set(channel)
    return "; ".join(sorted("direct question" if one is None else one.name for one in distinct))


def read_categories(
    response: Callable[[int], Response],
    design_column: str | None,
    categories: Sequence[Any] | None,
) -> Read:
    """How to read an outcome that is a category."""

    def read(name: str, data: Any, channel: Channels, labels: Sequence[Category] | None) -> Outcome:
        by = None if design_column is None else np.asarray(column_of(data, design_column))
        found = disguised(name, column_of(data, name), channel, by=by, categories=categories or labels)
        return Outcome(response(len(found.labels)), found.chance, found)

    return read
