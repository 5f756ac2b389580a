"""Identification: do different parameters give the reports different probabilities?

All probabilities of all reports, at every row that differs in public from the others, are differentiated in the
parameters. These are determined where no direction leaves all probabilities as they are, up to 1e-8 of the largest;
parameters of attributes that ride along may be undetermined as long as the others are not drawn in. A row can only add
to what is determined: rows are looked at until everything is, so that no small group is missed, and only a refusal
takes all of them. Rank is a generic property: it is looked for at three random places, and one that has it suffices.

Why a likelihood has no finite maximum: separation, or noise.

Separation: some change V of the coefficients makes no report less likely and some report more likely, from wherever
it starts. For row i let v* be the truth that its report speaks for most; then  x_i'V_v* >= x_i'V_v  for every truth v
and every row, with at least one strict. That is a linear program.

Without separation a disguised outcome can still have its highest likelihood at infinity: the estimate of a share near
0 is negative in many samples, and the likelihood then rises all the way to minus infinity on the logit scale.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linprog

from deniable.errors import DivergenceError, EstimationError, NotIdentifiedError, SeparationError
from deniable.frozen import readonly
from deniable.likelihood.report_likelihoods import Moments
from deniable.regression.likelihood.maximize import jitter
from deniable.regression.likelihood.mixture_likelihood import Cell, Factor, Likelihood
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from deniable.likelihood.report_group import Group
    from deniable.regression.likelihood.hidden_predictor import Laid
    from deniable.regression.likelihood.posterior import Heard

    Array = NDArray[np.float64]
    from deniable.regression.likelihood.maximize import Optimum

SMALLEST = 1e-8  # of the largest singular value: below it a direction changes nothing
_PLACES = 3
_ROWS = 24  # rows that are looked at first; then as many again, and so on
_TYPICAL = 4096  # rows that say how large parameters are
_ENTRIES = 1 << 24  # derivatives that are held at once
_REPORTS = 4096  # of a group of reports that are listed one by one
_DRAWN_IN = 1e-5  # how much of a direction without effect may lie in the parameters that are wanted


def check_identified(laid: Laid, heard: Heard, public: NDArray[np.int64]) -> None:
    """Refuse a model whose parameters the reports cannot tell apart.

    `public` numbers the rows by what the model uses of their public columns; rows that do not count have a -1.
    """
    numbers, first = np.unique(public, return_index=True)
    rows = np.random.default_rng(0).permutation(first[numbers >= 0])
    roots = [_root(group) for group in heard.groups]
    wanted = len(laid.labels) - laid.riding
    most = max(1, _ENTRIES // (prod(heard.chance.shape[1:]) * len(laid.labels)))
    worst: Array = np.zeros(0)
    for place in jitter(np.zeros(len(laid.labels)), _likelihood(laid, heard, rows[:_TYPICAL]), _PLACES):
        drawn = _undetermined_in(rows, partial(_changes, laid, heard, place, roots), wanted, most)
        if drawn is None:
            return
        worst = drawn
    names = [str(label) for label, part in zip(laid.labels, np.abs(worst), strict=False) if part > 0.1 * worst.max()]
    asked = [variable.name for variable in (*heard.predictors, *([heard.outcome] if heard.outcome else []))]
    raise NotIdentifiedError(
        f"different parameters give the reports the same probabilities, so they cannot be told apart: {listed(names)}. "
        f"Use fewer terms, or a design that asks {listed(asked)} together of the same respondents: Independent, Joint, "
        f"or Views with k={len(asked)}",
        terms=names,
    )


def _likelihood(laid: Laid, heard: Heard, rows: NDArray[np.intp]) -> Likelihood:
    """Of some rows, with nothing hidden."""
    return Likelihood(complete(laid, heard, rows), np.ones(len(rows)), len(laid.labels))


def _changes(laid: Laid, heard: Heard, place: Array, roots: Sequence[Array], rows: NDArray[np.intp]) -> Array:
    """The Jacobian at some rows."""
    return _jacobian(_likelihood(laid, heard, rows), place, roots)


def _undetermined_in(
    rows: NDArray[np.intp], jacobian: Callable[[NDArray[np.intp]], Array], wanted: int, most: int
) -> Array | None:
    """As `_undetermined`, of all these rows together, which are taken batch by batch, `most` at once."""
    drawn, known = None, jacobian(rows[:0])
    done = 0
    while done < len(rows):
        batch = rows[done : done + min(max(_ROWS, done), most)]
        # R'R = J'J: what the rows say together, in as many rows as parameters.
        known = np.asarray(np.linalg.qr(np.concatenate([known, jacobian(batch)]), mode="r"))
        done += len(batch)
        drawn = _undetermined(known, wanted)
        if drawn is None:
            return None
    return drawn


def complete(laid: Laid, heard: Heard, rows: NDArray[np.intp]) -> tuple[Cell, ...]:
    """The cells with nothing hidden in any: a probability for every x, y and u."""
    cells = []
    _, _, truths, along = heard.chance.shape
    for cell in laid.cells:
        factors = tuple(factor.take(rows) for factor in cell.factors)
        if heard.riding:
            cells += [Cell((*factors[:-1], _known(factors[-1], u, along))) for u in range(along)]
        elif heard.outcome is None:
            cells.append(Cell(factors))
        else:
            cells += [Cell((_known(factors[0], y, truths), *factors[1:])) for y in range(truths)]
    return tuple(cells)


def _known(factor: Factor, code: int, size: int) -> Factor:
    """The same factor where its truth is known."""
    return replace(factor, data=readonly(np.broadcast_to(np.eye(size)[code], (len(factor.data), size))))


def _root(group: Group) -> Array:
    """R with R'R = P'P over the cells of x, y and u: as many rows as cells, however many reports there are."""
    assert not isinstance(group.said, Moments)
    # Spread over all of them: reports are in order, and the first ones are sets with the same first members.
    reports = np.linspace(0, len(group.counts) - 1, min(len(group.counts), _REPORTS)).astype(np.intp)
    return np.asarray(np.linalg.qr(group.said.rows(reports), mode="r"))[:, group.cell]


def _jacobian(everything: Likelihood, params: Array, roots: Sequence[Array]) -> Array:
    """How the probabilities of all reports change: (rows of every group at every row, parameters)."""
    _, changes = everything.cells_at(params)
    return np.concatenate([np.einsum("rc,cip->rip", root, changes).reshape(-1, len(params)) for root in roots])


def _undetermined(jacobian: Array, wanted: int) -> Array | None:
    """A direction that changes no probability, as far as it lies in the wanted parameters; None if there is none."""
    size = np.linalg.norm(jacobian, axis=0)
    empty = np.flatnonzero(size[:wanted] == 0)
    if len(empty):
        return np.eye(wanted)[empty[0]]
    _, values, right = np.linalg.svd(jacobian / np.where(size > 0, size, 1.0), full_matrices=True)
    values = np.append(values, np.zeros(len(right) - len(values)))
    idle = right[values <= SMALLEST * values[0], :wanted]
    if not idle.size or np.abs(idle).max() < _DRAWN_IN:
        return None
    return np.asarray(np.abs(idle[np.argmax(np.abs(idle).max(axis=1))]))


_DIAGNOSIS_ROWS = 5_000  # the linear program looks at this many rows first: no separation there is none anywhere


def separating(design: Array, chance: Array) -> Array | None:
    """A direction (equations x q, flattened) that separates the reports, or None."""
    equations, width = chance.shape[1] - 1, design.shape[1]
    best = np.argmax(chance, axis=1)
    # Rows of  eta_best - eta_v  as functions of V; the first truth is the reference, whose predictor is 0.
    informative = np.ptp(chance, axis=1) > 0
    differences = []
    for truth in range(equations + 1):
        rows = informative & (best != truth)
        part = np.zeros((int(rows.sum()), equations, width))
        here = np.flatnonzero(rows)
        ahead = best[here]
        inside = np.flatnonzero(ahead > 0)
        part[inside, ahead[inside] - 1] += design[here[inside]]
        if truth > 0:
            part[:, truth - 1] -= design[here]
        differences.append(part.reshape(len(here), equations * width))
    system = np.concatenate(differences)
    size = np.sqrt((system**2).mean(axis=0))
    system = system / np.where(size > 0, size, 1.0)
    found = _direction(system[np.random.default_rng(0).permutation(len(system))[:_DIAGNOSIS_ROWS]])
    if found is None:
        return None
    if (system @ found).min() < -1e-9:  # separates the sample only: ask all rows
        found = _direction(system)
    return None if found is None else found / np.where(size > 0, size, 1.0)


def _direction(system: Array) -> Array | None:
    """V in [-1, 1]^q with  system v >= 0  and the largest sum; None when that sum is zero."""
    width = system.shape[1]
    total = system.mean(axis=0)
    solved = linprog(-total, A_ub=-system, b_ub=np.zeros(len(system)), bounds=[(-1, 1)] * width, method="highs")
    if not solved.success or -solved.fun < 1e-7:
        return None
    return np.asarray(solved.x)


def refusal(
    optimum: Optimum, design: Array, chance: Array | None, terms: Sequence[str], *, penalty: bool = True
) -> EstimationError:
    """The error to raise for coefficients that ran away; `penalty` says whether the model can be penalised."""
    finite = ', or use penalty="jeffreys", whose estimates are always finite' if penalty else ""
    direction = None if chance is None else separating(design, chance)
    if direction is not None:
        names = _largest(direction, design, terms)
        return SeparationError(
            f"the predictors tell the reports apart without error, so no finite coefficient fits best (those running "
            f"away: {listed(names)}). Leave the predictor out, or join categories that have one kind of report "
            f"only{finite}",
            terms=names,
            loglik=optimum.value,
        )
    names = _largest(optimum.direction, design, terms)
    return DivergenceError(
        f"the likelihood keeps rising as coefficients go to infinity (those running away: {listed(names)}), although "
        "no predictor separates the reports. Noise does this when the share of the sensitive category is close to 0 or "
        f"1 somewhere: an unbiased estimate of it would be outside [0, 1]. Take more reports or fewer "
        f"predictors{finite}",
        terms=names,
        loglik=optimum.value,
    )


def _largest(direction: Array, design: Array, terms: Sequence[str]) -> list[str]:
    size = np.abs(direction[: len(terms)]) * np.resize(np.sqrt((design**2).mean(axis=0)), len(terms))
    return [term for term, part in zip(terms, size, strict=True) if part > 0.05 * max(size.max(), 1e-300)]
