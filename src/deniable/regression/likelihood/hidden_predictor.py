"""Disguised predictors: the likelihood summed over what they could be.

    L_i = sum over x of  f(y_i | x, z_i)  prod_j Pr(x_j | x_1 .. x_j-1, z_i)  P_j[report_ij, x_j]

f is the outcome's model; each disguised predictor has a multinomial logit model of its own, given the other predictors
and the disguised ones before it. The formula is evaluated once per possible x, so that interactions and transformations
of a disguised predictor work like any others.

Where one question asks for several of them, Pr(report | x, y) is no product; it stands in the place of f's truth then.
Attributes u that ride along come last, with shares of their own for every x and y, moved by the open predictors z:
leaving y out would take u for independent of y, leaving z out for independent of z.

    L_i = sum over x, y, u of  Pr(x | z_i) Pr(y | x, z_i) Pr(u | y, x, z_i) Pr(report_i | x, y, u)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import ConvergenceError, FormulaError, InputError
from deniable.frozen import readonly
from deniable.regression.formula import Design, check_rank, quoted, terms_without
from deniable.regression.likelihood.disguised_outcome import Disguised, Outcome, factor_of
from deniable.regression.likelihood.first_guesses import start_of
from deniable.regression.likelihood.maximize import ascend
from deniable.regression.likelihood.mixture_likelihood import Cell, Factor, Likelihood
from deniable.regression.likelihood.refusal_cells import Answering, outcomes
from deniable.regression.likelihood.responses import Normal, Softmax
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from deniable.core.domain import Category
    from deniable.inference.attribute_pairs import Missing
    from deniable.regression.likelihood.posterior import Heard

    Array = NDArray[np.float64]

_MOST_CELLS = 256  # more combinations of hidden predictors than this are refused


@dataclass(frozen=True)
class Laid:
    """A likelihood laid out.

    Attributes:
        design: the outcome's design; its matrix holds each row's expected predictors.
        cells: what the hidden predictors could be, and a hidden outcome where attributes ride along; the last factor
            sums over these.
        labels: the parameters' labels.
        start: where to start; with reports that are heard together, `completed` finds it, but for the shares of what
            rides along, which the likeliest table gives.
        riding: how many parameters, the last ones, are of attributes that ride along.
        steady: a little that keeps the shares of these inside.
    """

    design: Design
    cells: tuple[Cell, ...]
    labels: list[Any]
    start: Array
    riding: int = 0
    steady: tuple[Factor, ...] = ()


def lay_out(
    outcome: Outcome,
    right: str,
    data: Any,
    columns: Sequence[Disguised],
    *,
    models: Mapping[str, str],
    weights: Array,
    heard: Heard | None = None,
    missing: Missing | None = None,
) -> Laid:
    """Lay the likelihood out, from columns that were disguised one by one, or from all that reports say together."""
    names = [column.name for column in columns]
    combinations = _combinations(columns, models)
    wide = spanning(data, {c.name: c.labels for c in columns})
    frames = [fixed(data, {c.name: c.labels for c in columns}, cell) for cell in combinations]

    who = Answering.of({c.name: c.labels for c in columns}, missing)
    design = Design.of(right, spanning(data, who.labels))
    unused = [name for name in names if name not in design.variables]
    if unused:
        raise FormulaError(f"the formula does not use the disguised predictors {listed(unused)}", formula=right)
    matrices = _on(design, [fixed(data, who.labels, who.codes(cell)) for cell in combinations])

    # Each hidden predictor's own model; its design depends on the cell through the hidden predictors before it.
    others = terms_without(right, names)
    posterior = np.ones((len(combinations), len(data))) if heard is None else heard.posterior
    log_chance = np.zeros((len(combinations), len(data)))
    own: list[tuple[Disguised, Design, list[Array], Array]] = []
    for place, column in enumerate(columns):
        before = [f"C({quoted(earlier.name)})" for earlier in columns[:place]]
        part = Design.of(models.get(column.name, " + ".join([*others, *before])), wide)
        parts = _on(part, frames)
        start = np.zeros((len(column.labels) - 1) * len(part.terms))
        if heard is None:
            expected = _expected(parts, posterior)
            start = _fit_alone(column, expected, weights)
            shares = Softmax(len(column.labels)).shares(expected @ start.reshape(-1, expected.shape[1]).T)[0]
            for cell, codes in enumerate(combinations):
                code = codes[place]
                posterior[cell] *= column.chance[:, code] * shares[:, code]
                with np.errstate(divide="ignore"):
                    log_chance[cell] += np.log(column.chance[:, code])
        own.append((column, part, parts, start))
    aside = who.aside(combinations)
    expected = _expected(matrices, posterior * ~aside[:, None])

    _, labels = factor_of(outcome, expected, design.terms, 0)
    scores = outcome.data if outcome.disguised is None else outcome.disguised.scores
    first = start_of(outcome.response, expected, scores)[0] if heard is None else np.zeros(len(labels))
    placed: list[tuple[slice, ...]] = []
    starts = [first]
    for column, part, _, start in own:
        width = len(part.terms)
        equations = len(column.labels) - 1
        placed.append(_places(len(labels), width, equations))
        labels += [f"{column.name} = {label}: {term}" for label in column.labels[1:] for term in part.terms]
        starts.append(start)
    plain = [factor_of(outcome, matrix, design.terms, 0)[0] for matrix in matrices]
    outcome_factors, more, steady = outcomes(outcome, plain, aside, _alone(others, data), len(labels))
    labels += [f"{outcome.name} | {who.told(combinations[cell])}: {label}" for cell, label in more]
    starts.append(np.zeros(len(more)))
    made = []
    for cell, codes in enumerate(combinations):
        theirs = [
            Factor(
                Softmax(len(column.labels)),
                _certain(code, len(column.labels), len(data)),
                (parts[cell],) * len(places),
                places,
            )
            for (column, _, parts, _), places, code in zip(own, placed, codes, strict=True)
        ]
        made.append(Cell((outcome_factors[cell], *theirs), log_chance[cell]))
    shown = Design(expected, design.terms, design.spec)
    laid = Laid(shown, tuple(made), labels, np.concatenate(starts), steady=steady)
    if heard is None:
        return laid
    return _told_together(laid, heard) if not heard.riding else _with_riding(laid, outcome, heard, _open(others, data))


def _combinations(columns: Sequence[Disguised], models: Mapping[str, str]) -> list[tuple[int, ...]]:
    """Everything that the hidden predictors could be."""
    names = [column.name for column in columns]
    strangers = [name for name in models if name not in names]
    if strangers:
        raise InputError(f"rr_models names {listed(strangers)}, not among the disguised predictors {listed(names)}")
    found = list(product(*(range(len(column.labels)) for column in columns)))
    if len(found) > _MOST_CELLS:
        raise InputError(f"{len(found)} combinations of disguised predictors; at most {_MOST_CELLS} are summed")
    return found


def _on(design: Design, frames: Sequence[Any]) -> list[Array]:
    """A design's matrix on each of some frames, all alike but for the hidden predictors."""
    import pandas as pd

    used = list(design.variables)
    # In one go: reading a formula takes as long as evaluating it on some thousand rows.
    every = frames[0] if len(frames) == 1 else pd.concat([frame[used] for frame in frames], ignore_index=True)
    whole = design.on(every)
    check_rank(whole, design.terms)
    return [readonly(part.copy()) for part in np.split(whole, len(frames))]


def _told_together(laid: Laid, heard: Heard) -> Laid:
    """Put what reports say of predictors and outcome together in the place of separate columns."""
    cells = []
    for x, cell in enumerate(laid.cells):
        said = heard.chance[:, x, :, 0]
        if heard.outcome is not None:
            cells.append(Cell((replace(cell.factors[0], data=readonly(said)), *cell.factors[1:])))
        else:
            with np.errstate(divide="ignore"):
                cells.append(Cell(cell.factors, np.log(said[:, 0])))
    return replace(laid, cells=tuple(cells))


def _alone(terms: Sequence[str], data: Any) -> Design:
    """The open predictors and an intercept."""
    return Design.of(" + ".join(terms), data)


def _open(terms: Sequence[str], data: Any) -> Design | None:
    """The open predictors by themselves, without an intercept; None if there are none."""
    named = [term for term in terms if term != "1"]
    if not named:
        return None
    whole = Design.of(" + ".join(["1", *named]), data)
    kept = [place for place, term in enumerate(whole.terms) if term != "Intercept"]
    return Design(readonly(whole.matrix[:, kept]), tuple(whole.terms[place] for place in kept), whole.spec)


def _with_riding(laid: Laid, outcome: Outcome, heard: Heard, opened: Design | None) -> Laid:
    """The sum over y as well; u has shares of its own for every x and y."""
    n, _, truths, along = heard.chance.shape
    own = _given_outcome(outcome, heard)
    design = own if opened is None else readonly(np.concatenate([own, opened.matrix], axis=1))
    slopes = () if opened is None else opened.terms
    width, response = own.shape[1], Softmax(along)
    labels = list(laid.labels)
    moved = [np.arange(place.start, place.stop) for place in _places(len(labels), len(slopes), along - 1)]
    labels += [f"{name}: {term}" for name in _riding_names(heard) for term in slopes]
    cells, steady = [], []
    start = np.zeros(len(labels) + len(laid.cells) * truths * width * (along - 1))
    for x, cell in enumerate(laid.cells):
        for y in range(truths):
            apart = _places(len(labels), width, along - 1)
            places = tuple(np.append(np.arange(a.start, a.stop), m) for a, m in zip(apart, moved, strict=True))
            shares = np.log(heard.table[x, y, 1:] / heard.table[x, y, 0])
            level = 1.0 if heard.outcome is None and not isinstance(outcome.response, Normal) else np.eye(width)[0]
            start[len(labels) : len(labels) + len(shares) * width] = (shares[:, None] * level * np.ones(width)).ravel()
            labels += _riding_labels(heard, x, y, width)
            first = cell.factors[0]
            if heard.outcome is not None:
                first = replace(first, data=_certain(y, truths, n))
            # The sum over u is the rider's own: cells of its own would make every row cost as many times as much.
            said = heard.chance[:, x, y]
            possible = np.asarray(said.any(axis=1))
            told = readonly(np.where(possible[:, None], said, 1.0))
            rider = Factor(response, told, (design,) * (along - 1), places)
            cells.append(Cell((first, *cell.factors[1:], rider), readonly(np.where(possible, 0.0, -np.inf))))
            corners = readonly(np.concatenate([np.eye(design.shape[1])] * along))
            every = readonly(np.repeat(np.eye(along), design.shape[1], axis=0))
            steady.append(Factor(response, every, (corners,) * (along - 1), places))
    return replace(
        laid,
        cells=tuple(cells),
        labels=labels,
        start=start,
        riding=len(labels) - len(laid.labels),
        steady=(*laid.steady, *steady),
    )


def _riding_names(heard: Heard) -> list[str]:
    """What can ride along, but the first of it."""
    names = []
    for u in range(1, heard.chance.shape[3]):
        at = np.unravel_index(u, [len(v) for v in heard.riding])
        names.append(", ".join(f"{v.name} = {v.categories[code]}" for v, code in zip(heard.riding, at, strict=True)))
    return names


def _riding_labels(heard: Heard, x: int, y: int, width: int) -> list[str]:
    """Which share given what; an open outcome's own terms are numbered."""
    given = [*heard.predictors, *([heard.outcome] if heard.outcome is not None else [])]
    codes = np.unravel_index(x * heard.chance.shape[2] + y, [len(v) for v in given]) if given else ()
    known = ", ".join(f"{v.name} = {v.categories[code]}" for v, code in zip(given, codes, strict=True))
    given_open = [f": {k}" for k in range(width)] if width > 1 else [""]
    return [f"{name} | {known}{which}" for name in _riding_names(heard) for which in given_open]


def _given_outcome(outcome: Outcome, heard: Heard) -> Array:
    """What the shares of riding attributes may depend on besides x and a hidden y: an open y."""
    n = len(heard.rows)
    if heard.outcome is not None:
        return readonly(np.ones((n, 1)))
    if isinstance(outcome.response, Normal):
        y = outcome.data[:, 0]
        return readonly(np.stack([np.ones(n), (y - y.mean()) / max(float(y.std()), 1e-300)], axis=1))
    return outcome.data


def _places(first: int, width: int, equations: int) -> tuple[slice, ...]:
    return tuple(slice(first + k * width, first + (k + 1) * width) for k in range(equations))


def _certain(code: int, size: int, n: int) -> Array:
    """A truth that is known: the same in every row."""
    return readonly(np.broadcast_to(np.eye(size)[code], (n, size)))


def spanning(data: pd.DataFrame, labels: Mapping[str, Sequence[Category]]) -> pd.DataFrame:
    """The frame with every category of every hidden predictor in it, so that the formula knows them all."""
    rows = np.arange(len(data))
    return data.assign(**{name: _column(known, rows % len(known)) for name, known in labels.items()})


def fixed(
    data: pd.DataFrame, labels: Mapping[str, Sequence[Category]], codes: Sequence[int] | NDArray[np.intp]
) -> pd.DataFrame:
    """The frame with the hidden predictors set to one combination."""
    set_to = {name: _column(labels[name], np.full(len(data), code)) for name, code in zip(labels, codes, strict=True)}
    return data.assign(**set_to)


def _column(labels: Sequence[Category], codes: NDArray[np.intp]) -> Any:
    """Numbers stay numbers; texts and truth values become categories."""
    import pandas as pd

    if isinstance(labels[0], str | bool):
        return pd.Categorical.from_codes(codes, categories=list(labels))
    return np.asarray(labels)[codes]


def _expected(matrices: Sequence[Array], posterior: Array) -> Array:
    """Average the cells' designs with their posterior probabilities."""
    shares = posterior / np.maximum(posterior.sum(axis=0), 1e-300)
    return np.asarray(sum(share[:, None] * matrix for share, matrix in zip(shares, matrices, strict=True)))


def _fit_alone(column: Disguised, design: Array, weights: Array) -> Array:
    """Start a hidden predictor's model from its own reports alone."""
    response = Softmax(len(column.labels))
    start = start_of(response, design, column.scores)[0]
    width = design.shape[1]
    places = tuple(slice(k * width, (k + 1) * width) for k in range(response.equations))
    factor = Factor(response, column.chance, (readonly(design),) * response.equations, places)
    try:
        end = ascend(Likelihood((Cell((factor,)),), weights, len(start)), start)
    except ConvergenceError:
        return start
    return start if end.diverged else end.params
