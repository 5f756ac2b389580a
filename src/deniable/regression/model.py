"""From a formula and a frame to a fitted model: what all regressions have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, TypeGuard

import numpy as np

from deniable.core.input_coercion import row_labels
from deniable.designs.reports.reports import Reports
from deniable.errors import ConvergenceError, InputError, MissingValueError, NotIdentifiedError, TooFewReportsError
from deniable.inference.attribute_pairs import Missing, check_missing
from deniable.regression.data_source import Read, Source, read_source
from deniable.regression.formula import Design, check_rank, column_of, split
from deniable.regression.likelihood.covariance import SURVEY, Drawn, covariance, expected_information, inverse
from deniable.regression.likelihood.disguised_outcome import Channels, Outcome, factor_of
from deniable.regression.likelihood.first_guesses import start_of
from deniable.regression.likelihood.hidden_predictor import Laid, lay_out
from deniable.regression.likelihood.identifiability import check_identified, refusal
from deniable.regression.likelihood.jeffreys_prior import Jeffreys, few_events
from deniable.regression.likelihood.label_switching import Others, parted, reaching, told, with_others
from deniable.regression.likelihood.maximize import Optimum, jitter, lower_maxima, maximise, search
from deniable.regression.likelihood.mixture_likelihood import Cell, Likelihood
from deniable.regression.likelihood.refusal_cells import held_skips
from deniable.regression.likelihood.responses import Binary, Normal
from deniable.regression.likelihood.starting_values import completed_start
from deniable.regression.missing_answers import counted_out, skipped, told_of
from deniable.regression.result import Regression
from deniable.sampling.read_sampling import column, sampling_by_columns
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from deniable.channels.channel import Channel
    from deniable.regression.likelihood.cell_likelihood import Tabled
    from deniable.sampling.sampling import Sampling

    Array = NDArray[np.float64]

_STARTS = 4  # starts besides the first
_FEW = 1  # where attributes ride along: the first comes from the likeliest table, and each takes long


class Options(TypedDict, total=False):
    """What every regression takes.

    Attributes:
        rr: disguised predictors, name -> channel. In the formula the name stands for the truth.
        rr_models: for a disguised predictor, the right-hand side of the model for its truth; by default all terms of
            the formula without disguised predictors, open ones that stand beside these only, and the disguised
            predictors named before it.
        weights: survey weights: a column, one number per row, or what `rake` or `replicate_weights` returns.
        strata: a column, or one value per row, that names each row's stratum.
        clusters: a column, or one value per row, that names each row's cluster. With any of these three, standard
            errors are "survey".
        covariance: "hessian", "expected", "opg", "sandwich" or "survey"; see `regression.likelihood.covariance`.
        penalty: None, or "jeffreys".
        missing: what of those who prefer not to say an answer, where that is a category: "drop", the model is of those
            who would answer everything; "model", it is of everybody, see `regression.missing_answers`.
    """

    rr: Mapping[str, Channel]
    rr_models: Mapping[str, str]
    weights: str | ArrayLike | Sampling
    strata: str | ArrayLike
    clusters: str | ArrayLike
    covariance: str
    penalty: str | None
    missing: Missing | None


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
    models = options.get("rr_models") or {}
    source = read_source(formula, frame, read, channel, rr=options.get("rr") or {}, models=models)
    outcome, data = source.outcome, source.data
    drawn = drawn_of(options, frame, source.whole, None if source.heard is None else source.heard.rows)
    weights = np.ones(len(data)) if drawn is None else drawn.sampling.weights[drawn.rows]
    kind = options.get("covariance") or ("hessian" if drawn is None else "survey")
    penalty = options.get("penalty")
    missing = options.get("missing")
    laid, firsts = _laid(source, models, weights, missing)
    likelihood = Likelihood(laid.cells, weights, len(laid.labels), laid.steady)
    _check_enough(int(np.count_nonzero(weights)), len(laid.labels) - laid.riding)
    if source.heard is not None:
        check_identified(laid, source.heard, np.where(weights > 0, source.alike_in_public(), -1))
    compact = source.compact(likelihood, laid)
    starts = [*firsts, *jitter(firsts[0], compact, _FEW if laid.riding else _STARTS)]
    others: Others | None = None
    notes: tuple[str, ...] = ()
    few: tuple[str, ...] = ()
    main = len(laid.design.terms) * (outcome.response.equations - len(outcome.extra) - outcome.skips)
    if outcome.skips and (penalty or kind == "expected"):
        raise InputError("with missing= there is no penalty and no expected information: leave them out")
    if penalty:
        found, ends, information = _penalised(likelihood, starts, outcome)
        matrix = covariance(kind, likelihood, found.params, -information, drawn)
        if isinstance(outcome.response, Binary):
            _, shares, *_ = outcome.response.link.parts(laid.design.matrix @ found.params[:main])
            few = few_events(laid.design, shares)
    else:
        found, ends = _maximum(compact, starts, outcome, laid.design, laid.labels[:main], riding=laid.riding)
        if _shows_groups(compact, outcome):
            nat = _nat(likelihood, found, drawn, main)
            found, others = with_others(compact, found, ends, laid.riding, nat=nat)
        hessian = found.hessian
        if kind == "expected":
            hessian = -expected_information(source, laid, likelihood, found.params)
        matrix = covariance(kind, likelihood, found.params, hessian, drawn)
        if others is not None and isinstance(compact, Likelihood):
            plain, matrix = matrix, reaching(compact, matrix, found, others, main)
            notes = told(others, np.diagonal(plain)[:main], np.diagonal(matrix)[:main])
    refused = [column.name for column in source.columns if skipped(column.labels) is not None]
    assumed = told_of(missing, split(formula)[0] if outcome.skips else None, refused)
    if missing == "drop":
        names = [*refused, *([split(formula)[0]] if outcome.skips else [])]
        assumed = (*counted_out(frame, names, (*source.columns, outcome.disguised), options), *assumed)
    return Regression(
        model=name,
        formula=formula,
        response=outcome.modelled or outcome.response,
        truths=outcome.truths,
        design=laid.design,
        labels=tuple(laid.labels),
        main=main,
        values=found.params,
        matrix=matrix,
        kind=kind,
        loglik=compact.loglik(found.params) if laid.steady else found.value,
        steps=found.steps,
        notes=(*assumed, *few, *(notes or lower_maxima(found, ends))),
        penalty=penalty,
        weighted=options.get("weights") is not None,
        freedom=np.inf if drawn is None or kind not in SURVEY else drawn.sampling.df_beside(main),
        likelihood=likelihood,
        hidden=tuple(column.name for column in source.columns),
        data=data.copy(),
        backend=source.backend,
        channel=source.through,
        used=() if source.heard is None else source.heard.used,
        assumed=assumed,
    )


def _laid(
    source: Source, models: Mapping[str, str], weights: Array, missing: Missing | None = None
) -> tuple[Laid, list[Array]]:
    """The likelihood laid out, and where to start."""
    outcome, heard = source.outcome, source.heard
    if source.columns or (heard is not None and heard.riding):
        given = outcome, source.right, source.data, source.columns
        laid = lay_out(*given, models=models, weights=weights, heard=heard, missing=missing)
        return laid, [laid.start if heard is None else completed_start(laid, heard, weights)]
    design = Design.of(source.right, source.data)
    check_rank(design.matrix, design.terms)
    cells, labels, firsts = _one_cell(outcome, design)
    steady = (held_skips(cells[0].factors[0]),) if outcome.skips else ()
    return Laid(design, cells, labels, firsts[0], steady=steady), firsts


def _penalised(
    likelihood: Likelihood, starts: Sequence[Array], outcome: Outcome
) -> tuple[Optimum, list[Optimum], Array]:
    """The highest penalised likelihood, and the information there."""
    if len(likelihood.cells) > 1 or outcome.disguised is None:
        raise InputError(
            "the penalty is for models of a disguised category without disguised predictors; fit without it, or leave "
            "disguised predictors out of the formula"
        )
    if not outcome.disguised.matrices:
        raise InputError(
            "the penalty needs all reports that can come, and these are too many to list; fit without it, or use a "
            "design whose reports are categories"
        )
    objective = Jeffreys(likelihood, outcome.disguised)
    best, ends = search(objective, starts[:2])
    information = objective.information(best.params)
    loglik = likelihood.evaluate(best.params)[0]
    found = Optimum(best.params, loglik, -information, best.steps, best.diverged, best.direction)
    return found, [replace(end, value=end.value - best.value + loglik) for end in ends], information


def _one_cell(outcome: Outcome, design: Design) -> tuple[tuple[Cell, ...], list[Any], list[Array]]:
    """No hidden predictor: one cell, one factor."""
    factor, labels = factor_of(outcome, design.matrix, design.terms, 0)
    response = outcome.disguised.scores if outcome.disguised is not None else outcome.data
    return (Cell((factor,)),), labels, start_of(outcome.response, design.matrix, response)


def _shows_groups(likelihood: Likelihood | Tabled, outcome: Outcome) -> TypeGuard[Likelihood]:
    """Whether an open number could show by itself who is in which category of a disguised predictor."""
    return isinstance(outcome.response, Normal) and len(likelihood.cells) > 1


def _maximum(
    likelihood: Likelihood | Tabled,
    starts: Sequence[Array],
    outcome: Outcome,
    design: Design,
    labels: Sequence[Any],
    *,
    riding: int,
) -> tuple[Optimum, list[Optimum]]:
    names = [label if isinstance(label, str) else f"{label[0]}: {label[1]}" for label in labels]
    chance = outcome.disguised.chance if outcome.disguised is not None and len(likelihood.cells) == 1 else None
    try:
        found, ends = maximise(likelihood, starts)
        if found.diverged and _shows_groups(likelihood, outcome):
            again = list(parted(likelihood, starts[0], riding))
            found, ends = maximise(likelihood, [*again, *starts[:1]]) if again else (found, ends)
    except ConvergenceError as error:
        if isinstance(outcome.response, Normal):
            way_out = "Do the predictors explain the outcome without error? Then sigma runs to zero"
        else:
            way_out = 'Try penalty="jeffreys", or fewer predictors' if chance is not None else "Try fewer predictors"
        raise ConvergenceError(f"{error.message}. {way_out}") from None
    if found.diverged:
        raise refusal(found, design.matrix, chance, names, penalty=chance is not None)
    return found, ends


def _nat(likelihood: Likelihood, found: Optimum, drawn: Drawn | None, main: int) -> float:
    """How many nats of a weighted likelihood are one of a sample that is worth as much as this one."""
    if drawn is None:
        return 1.0
    try:
        plain = np.diagonal(inverse(-found.hessian))[:main]
        stated = np.diagonal(covariance("survey", likelihood, found.params, found.hessian, drawn))[:main]
    except NotIdentifiedError:  # this may not be the best hill yet
        return float((likelihood.weights**2).sum() / likelihood.weights.sum())
    return float(np.mean(stated / plain))


def _check_options(options: Options) -> None:
    check_missing(options.get("missing"))
    if not options.keys() <= Options.__annotations__.keys():
        raise TypeError(f"options are {listed(Options.__annotations__)}")  # the door says it in our words
    if options.get("penalty") not in {None, "jeffreys"}:
        raise InputError(f'penalty is None or "jeffreys", not {options["penalty"]!r}')


def _check_enough(reports: int, parameters: int) -> None:
    if reports <= parameters:
        raise TooFewReportsError(
            f"{reports} reports for {parameters} parameters; there must be more reports than parameters",
            n=reports,
            parameters=parameters,
        )


def drawn_of(
    options: Mapping[str, Any], frame: Any, whole: Any, spoken: NDArray[np.intp] | None = None
) -> Drawn | None:
    """How the rows of a frame or of reports were drawn, of which some are fitted; None where nothing is said of it.

    `whole` are its rows, numbered; one value a row is matched to them by the labels that rows had before, if any.
    """
    n, index = len(whole), frame.index if isinstance(frame, Reports) else row_labels(frame)

    def read(part: Any, name: str) -> NDArray[Any]:
        return column(column_of(whole, part).to_numpy() if isinstance(part, str) else part, name, n, index)

    given = (options.get(name) for name in ("weights", "strata", "clusters"))
    sampling = sampling_by_columns(n, read, *given)
    return None if sampling is None else Drawn(sampling, np.arange(n) if spoken is None else spoken)


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
