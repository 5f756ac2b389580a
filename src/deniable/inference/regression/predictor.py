"""Disguised predictors: the likelihood summed over what they could be.

    L_i = sum over x of  f(y_i | x, z_i)  prod_j Pr(x_j | x_1 .. x_j-1, z_i)  P_j[report_ij, x_j]

f is the outcome's model; each disguised predictor has a multinomial logit model of its own, given the other predictors
and the disguised ones before it. The formula is evaluated once per possible x, so that interactions and transformations
of a disguised predictor work like any others.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import ConvergenceError, FormulaError, InputError
from deniable.frozen import readonly
from deniable.inference.regression.fit import ascend
from deniable.inference.regression.formula import Design, check_rank, column_of, terms_of
from deniable.inference.regression.likelihood import Cell, Factor, Likelihood
from deniable.inference.regression.outcome import Disguised, Outcome, disguised, factor_of
from deniable.inference.regression.responses import Softmax
from deniable.inference.regression.starts import start_of
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.channels.base import Channel
    from deniable.domain import Category

    Array = NDArray[np.float64]

_MOST_CELLS = 256  # more combinations of hidden predictors than this are refused


def cells(
    outcome: Outcome,
    right: str,
    data: Any,
    *,
    hidden: Mapping[str, Channel],
    models: Mapping[str, str],
    weights: Array,
    labels_of: Mapping[str, Sequence[Category]],
) -> tuple[Design, tuple[Cell, ...], list[Any], list[Array]]:
    """Lay the likelihood out.

    Returns the outcome's design (its matrix holds each row's expected predictors), the cells, the parameters' labels
    and starts.
    """
    columns = [
        disguised(name, column_of(data, name), channel, categories=labels_of.get(name))
        for name, channel in hidden.items()
    ]
    combinations = list(product(*(range(len(column.labels)) for column in columns)))
    if len(combinations) > _MOST_CELLS:
        raise InputError(f"{len(combinations)} combinations of disguised predictors; at most {_MOST_CELLS} are summed")
    strangers = [name for name in models if name not in hidden]
    if strangers:
        raise InputError(f"rr_models names {listed(strangers)}, not among the disguised predictors {listed(hidden)}")
    spanning = _spanning(data, columns)
    frames = [_fixed(data, columns, cell) for cell in combinations]

    design = Design.of(right, spanning)
    unused = [name for name in hidden if name not in design.variables]
    if unused:
        raise FormulaError(f"the formula does not use the disguised predictors {listed(unused)}", formula=right)
    matrices = [design.on(frame) for frame in frames]
    check_rank(np.concatenate(matrices), design.terms)

    # Each hidden predictor's own model; its design depends on the cell through the hidden predictors before it.
    others = _terms_without(right, list(hidden))
    posterior = np.ones((len(combinations), len(data)))
    log_chance = np.zeros((len(combinations), len(data)))
    own: list[tuple[Disguised, Design, list[Array], Array]] = []
    for place, column in enumerate(columns):
        before = [f"C({earlier.name})" for earlier in columns[:place]]
        part = Design.of(models.get(column.name, " + ".join([*others, *before])), spanning)
        parts = [part.on(frame) for frame in frames]
        check_rank(np.concatenate(parts), part.terms)
        expected = _expected(parts, posterior)
        start = _fit_alone(column, expected, weights)
        shares = Softmax(len(column.labels)).shares(expected @ start.reshape(-1, expected.shape[1]).T)[0]
        for cell, codes in enumerate(combinations):
            code = codes[place]
            posterior[cell] *= column.chance[:, code] * shares[:, code]
            with np.errstate(divide="ignore"):
                log_chance[cell] += np.log(column.chance[:, code])
        own.append((column, part, parts, start))
    expected = _expected(matrices, posterior)

    _, labels = factor_of(outcome, expected, design.terms, 0)
    first = start_of(
        outcome.response, expected, outcome.data if outcome.disguised is None else outcome.disguised.scores
    )[0]
    placed: list[tuple[slice, ...]] = []
    starts = [first]
    for column, part, _, start in own:
        width = len(part.terms)
        equations = len(column.labels) - 1
        placed.append(tuple(slice(len(labels) + k * width, len(labels) + (k + 1) * width) for k in range(equations)))
        labels += [f"{column.name} = {label}: {term}" for label in column.labels[1:] for term in part.terms]
        starts.append(start)
    made = []
    for cell, codes in enumerate(combinations):
        factors = [factor_of(outcome, readonly(matrices[cell]), design.terms, 0)[0]]
        for (column, _, parts, _), places, code in zip(own, placed, codes, strict=True):
            truth = np.zeros((len(data), len(column.labels)))
            truth[:, code] = 1.0
            factors.append(
                Factor(Softmax(len(column.labels)), readonly(truth), (readonly(parts[cell]),) * len(places), places)
            )
        made.append(Cell(tuple(factors), log_chance[cell]))
    return Design(expected, design.terms, design.spec), tuple(made), labels, [np.concatenate(starts)]


def _spanning(data: Any, columns: Sequence[Disguised]) -> Any:
    """The frame with every category of every hidden predictor in it, so that the formula knows them all."""
    rows = np.arange(len(data))
    return data.assign(**{c.name: _column(c, rows % len(c.labels)) for c in columns})


def _fixed(data: Any, columns: Sequence[Disguised], codes: Sequence[int]) -> Any:
    """The frame with the hidden predictors set to one combination."""
    return data.assign(**{c.name: _column(c, np.full(len(data), code)) for c, code in zip(columns, codes, strict=True)})


def _column(column: Disguised, codes: NDArray[np.intp]) -> Any:
    """Numbers stay numbers; texts and truth values become categories."""
    import pandas as pd

    if isinstance(column.labels[0], str | bool):
        return pd.Categorical.from_codes(codes, categories=list(column.labels))
    return np.asarray(column.labels)[codes]


def _terms_without(right: str, names: Sequence[str]) -> list[str]:
    """The formula's terms that use none of the named columns, and the intercept."""
    free = [term for term, used in terms_of(right).items() if not used & set(names)]
    return free if "1" in free else ["1", *free]


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
