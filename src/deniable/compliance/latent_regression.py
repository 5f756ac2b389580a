"""Regression where some respondents do not do as told: a trait and a manner of answering, both unseen.

    Pr(report_i) = sum over trait v and manner m of  Pr(v | x_i) Pr(m | z_i) Pr(report_i | v, m)

Trait and manner each have a logistic model; what a report says of them follows from the device. The fit is maximum
likelihood with exact derivatives, from several starts, as in `regression`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from deniable.core.results import backend_of
from deniable.errors import DivergenceError, InputError
from deniable.frozen import readonly
from deniable.regression.formula import Design, as_pandas, check_rank, split, terms_without
from deniable.regression.likelihood.covariance import covariance
from deniable.regression.likelihood.disguised_outcome import Outcome, factor_of
from deniable.regression.likelihood.hidden_predictor import fixed
from deniable.regression.likelihood.maximize import jitter, lower_maxima, maximise
from deniable.regression.likelihood.mixture_likelihood import Cell, Factor, Likelihood
from deniable.regression.likelihood.responses import LOGIT, Binary
from deniable.regression.model import Options, drawn_of
from deniable.regression.result import Regression

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from deniable.sampling.sampling import Sampling

    Array = NDArray[np.float64]

_STARTS = 4
_LOGISTIC, _YES = Binary(LOGIT), ("no", "yes")


class HowDrawn(TypedDict, total=False):
    """How respondents were drawn.

    Attributes:
        weights: survey weights: a column, one number per row, or what `rake` or `replicate_weights` returns.
        strata: a column, or one value per row.
        clusters: a column, or one value per row.
    """

    weights: str | ArrayLike | Sampling
    strata: str | ArrayLike
    clusters: str | ArrayLike


@dataclass(frozen=True)
class Manner:
    """The second unseen thing: its name, the right-hand side of its model, and what a report says.

    Attributes:
        name: of the manner that is modelled, "truthful" for example.
        right: its model; "1" for the same share everywhere.
        chance: Pr(report | trait, manner), (rows, 2, 2).
        device: the device in words.
    """

    name: str
    right: str
    chance: Array
    device: str


@dataclass(frozen=True)
class _Trait:
    """The trait's part of the model: factors for either value of it, and what they are made of."""

    factors: tuple[tuple[Factor, ...], tuple[Factor, ...]]
    design: Design
    labels: list[Any]
    outcome: Outcome
    hidden: tuple[str, ...] = ()


def of_trait(model: str, formula: str, frame: Any, manner: Manner, how: HowDrawn) -> Regression:
    """The trait on the left-hand side: log odds of carrying it = x'b."""
    data = as_pandas(frame)
    design = Design.of(split(formula)[1], data)
    check_rank(design.matrix, design.terms)
    place = slice(0, len(design.terms))
    no, yes = (Factor(_LOGISTIC, _known(v, len(data)), (design.matrix,), (place,)) for v in (0, 1))
    outcome = Outcome(_LOGISTIC, np.empty((0, 2)), None)
    return _fit((model, formula), frame, manner, _Trait(((no,), (yes,)), design, list(design.terms), outcome), how)


def with_trait(
    model: str,
    formula: str,
    frame: Any,
    manner: Manner,
    outcome: Outcome,
    *,
    trait: str,
    how: HowDrawn,
) -> Regression:
    """The trait among the predictors of an open outcome; its own model has all terms without it."""
    data = as_pandas(frame)
    right = split(formula)[1]
    design = Design.of(right, data.assign(**{trait: np.arange(len(data)) % 2}))
    if trait not in design.variables:
        raise InputError(f"the formula does not use the trait {trait!r}; name it on the right-hand side")
    matrices = [readonly(design.on(fixed(data, {trait: (0, 1)}, [v]))) for v in (0, 1)]
    check_rank(np.concatenate(matrices), design.terms)
    part = Design.of(" + ".join(terms_without(right, [trait])), data)
    labels = factor_of(outcome, matrices[0], design.terms, 0)[1]
    place = slice(len(labels), len(labels) + len(part.terms))
    no, yes = (
        (
            factor_of(outcome, matrices[v], design.terms, 0)[0],
            Factor(_LOGISTIC, _known(v, len(data)), (part.matrix,), (place,)),
        )
        for v in (0, 1)
    )
    names = [*labels, *(f"{trait}: {term}" for term in part.terms)]
    shown = Design(readonly((matrices[0] + matrices[1]) / 2), design.terms, design.spec)
    return _fit((model, formula), frame, manner, _Trait((no, yes), shown, names, outcome, (trait,)), how)


def _known(v: int, n: int) -> Array:
    return readonly(np.broadcast_to(np.eye(2)[v], (n, 2)))


def _fit(names: tuple[str, str], frame: Any, manner: Manner, trait: _Trait, how: HowDrawn) -> Regression:
    model, formula = names
    data = as_pandas(frame)
    options = Options()
    options.update(how)  # type: ignore[typeddict-item]
    drawn = drawn_of(options, frame, data)
    heavy = np.ones(len(data)) if drawn is None else drawn.sampling.weights
    part = Design.of(manner.right, data)
    check_rank(part.matrix, part.terms)
    place = slice(len(trait.labels), len(trait.labels) + len(part.terms))
    cells = []
    with np.errstate(divide="ignore"):
        logs = np.log(manner.chance)
    for v in (0, 1):
        for m in (0, 1):
            other = Factor(_LOGISTIC, _known(m, len(data)), (part.matrix,), (place,))
            cells.append(Cell((*trait.factors[v], other), readonly(logs[:, v, m])))
    labels = [*trait.labels, *(f"{manner.name}: {term}" for term in part.terms)]
    outcome = trait.outcome
    likelihood = Likelihood(tuple(cells), heavy, len(labels))
    first = np.zeros(len(labels))
    if outcome.extra:  # a number: its mean and spread
        first[0] = float(np.average(outcome.data[:, 0], weights=heavy))
        first[len(trait.design.terms)] = float(np.log(max(outcome.data[:, 0].std(), 1e-8)))
    found, ends = maximise(likelihood, [first, *jitter(first, likelihood, _STARTS)])
    if found.diverged:
        worst = str(labels[int(np.argmax(np.abs(found.direction)))])
        raise DivergenceError(
            f"the likelihood keeps rising while {worst!r} runs away: its share is 0 or 1 as far as these reports show. "
            f"If nobody is other than {manner.name}, leave that model out and use logit() with the device's channel; "
            f"else use fewer predictors",
            loglik=found.value,
        )
    kind = "hessian" if drawn is None else "survey"
    matrix = covariance(kind, likelihood, found.params, found.hessian, drawn)
    return Regression(
        model=model,
        formula=formula,
        response=outcome.response,
        truths=_YES if isinstance(outcome.response, Binary) else (),
        design=trait.design,
        labels=tuple(labels),
        main=len(trait.design.terms),
        values=found.params,
        matrix=matrix,
        kind=kind,
        loglik=found.value,
        steps=found.steps,
        notes=lower_maxima(found, ends),
        penalty=None,
        weighted="weights" in how,
        freedom=np.inf if drawn is None else drawn.sampling.df_beside(len(trait.design.terms)),
        likelihood=likelihood,
        hidden=trait.hidden,
        data=data.copy(),
        backend=backend_of(frame),
        channel=manner.device,
    )
