"""Predictions and average marginal effects, with standard errors by the delta method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import special

from deniable.core.results import backend_of, frame_of
from deniable.errors import InputError
from deniable.regression.formula import as_pandas, quoted
from deniable.regression.likelihood.responses import Binary, Normal
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from deniable.core.results import Frame
    from deniable.regression.corrected_least_squares import LeastSquares
    from deniable.regression.likelihood.responses import Categorical
    from deniable.regression.result import Regression

    Array = NDArray[np.float64]


def predictions(fit: Regression | LeastSquares, frame: Any, wide: float) -> Frame:
    """Fitted values with standard errors and intervals of `wide` standard errors either side."""
    if frame is None and fit.hidden:
        raise InputError(f"give a frame: nobody knows the truth of {listed(fit.hidden)} in the fitted rows")
    matrix = fit.design.matrix if frame is None else fit.design.on(as_pandas(frame))
    backend = fit.backend if frame is None else backend_of(frame)
    if isinstance(fit.response, Binary | Normal):
        width = matrix.shape[1]
        eta = matrix @ fit.values[:width]
        error = _errors(matrix, fit.matrix[:width, :width])
        ends = eta - wide * error, eta + wide * error
        if isinstance(fit.response, Normal):
            return frame_of(_columns(eta, error, *ends), backend)
        _, share, density, _ = fit.response.link.parts(eta)
        low, high = (fit.response.link.parts(end)[1] for end in ends)
        return frame_of(_columns(share, density * error, low, high), backend)
    shares, slopes = _shares(cast("Regression", fit), matrix)
    columns: dict[str, Array] = {}
    for place, truth in enumerate(cast("Regression", fit).truths):
        jacobian = np.einsum("ik,ij->ikj", slopes[:, place], matrix).reshape(len(matrix), -1)
        error = _errors(jacobian, fit.matrix[: fit.main, : fit.main])
        share = shares[:, place]
        made = _columns(share, error, share - wide * error, share + wide * error)
        columns |= {f"{truth} {name}": column for name, column in made.items()}
    return frame_of(columns, backend)


def average_effects(fit: Regression, variables: Iterable[str] | None, wide: float) -> Frame:
    """Average marginal effects of the named variables, or of all."""
    if fit.hidden or isinstance(fit.response, Normal):
        raise InputError(
            "average marginal effects are for disguised outcomes with open predictors; in a linear model they are the "
            "coefficients"
        )
    names: dict[str, list[str]] = {"variable": [], "contrast": [], "category": []}
    effects, jacobians = [], []
    shown = range(1, 2) if len(fit.truths) == 2 else range(len(fit.truths))
    for variable in fit.design.variables if variables is None else variables:
        for contrast, above, below, distance in _contrasts(fit, variable):
            effect, jacobian = _effect(fit, above, below, distance)
            for place in shown:
                for column, text in zip(names.values(), (variable, contrast, str(fit.truths[place])), strict=True):
                    column.append(text)
                effects.append(effect[place])
                jacobians.append(jacobian[place])
    estimate, slopes = np.array(effects), np.array(jacobians).reshape(len(effects), fit.main)
    error = _errors(slopes, fit.matrix[: fit.main, : fit.main])
    with np.errstate(divide="ignore", invalid="ignore"):
        pvalue = 2 * special.ndtr(-np.abs(estimate / error))
    made = _columns(estimate, error, estimate - wide * error, estimate + wide * error)
    return frame_of({**names, **made, "pvalue": pvalue}, fit.backend)


def _columns(estimate: Array, error: Array, low: Array, high: Array) -> dict[str, Array]:
    return {"estimate": estimate, "std_error": error, "low": low, "high": high}


def _errors(jacobian: Array, covariance: Array) -> Array:
    """The square roots of the diagonal of J C J'."""
    return np.sqrt(np.einsum("ij,jk,ik->i", jacobian, covariance, jacobian, optimize=True))


def _shares(fit: Regression, matrix: Array) -> tuple[Array, Array]:
    """Probabilities (n, K) and their slopes in the linear predictors (n, K, m)."""
    coefficients = fit.values[: fit.main].reshape(fit.response.equations, -1)
    shares, slopes, _ = cast("Categorical", fit.response).shares(matrix @ coefficients.T)
    return shares, slopes


def _contrasts(fit: Regression, name: str) -> list[tuple[str, Array, Array, float]]:
    """(what is compared, design above, design below, distance) for one variable."""
    import pandas as pd

    if name not in fit.design.variables:
        raise InputError(f"the formula has no variable {name!r}; it has {listed(fit.design.variables)}")
    column = fit.data[name]
    wrapped = any(f"C({quoted(name)}" in term for term in fit.design.terms)
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column) and not wrapped:
        step = 1e-4 * (float(column.std()) or 1.0)
        above, below = (fit.design.on(fit.data.assign(**{name: column + side * step})) for side in (0.5, -0.5))
        return [("dPr/dx", above, below, step)]
    is_category = isinstance(column.dtype, pd.CategoricalDtype)
    levels = list(column.cat.categories) if is_category else sorted(column.unique().tolist())

    def design_at(level: Any) -> Array:
        """The design with one level in every row."""
        constant = pd.Series([level], dtype=column.dtype).repeat(fit.n).set_axis(column.index)
        return fit.design.on(fit.data.assign(**{name: constant}))

    first, *others = [design_at(level) for level in levels]
    return [(f"{level} - {levels[0]}", matrix, first, 1.0) for level, matrix in zip(levels[1:], others, strict=True)]


def _effect(fit: Regression, above: Array, below: Array, distance: float) -> tuple[Array, Array]:
    """The mean change of every category's probability (K), and its slope in the parameters (K, size)."""
    weight = fit.likelihood.weights / fit.likelihood.weights.sum()
    effect, jacobian = np.zeros(len(fit.truths)), np.zeros((len(fit.truths), fit.main))
    for sign, matrix in ((1, above), (-1, below)):
        shares, slopes = _shares(fit, matrix)
        effect += sign * (weight @ shares)
        jacobian += sign * np.einsum("i,ivk,ij->vkj", weight, slopes, matrix, optimize=True).reshape(jacobian.shape)
    return effect / distance, jacobian / distance
