"""Post-stratification: what a fit says of a population whose cells are known, also of groups with few reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.results import backend_of
from deniable.core.table import Table
from deniable.errors import InputError, MissingValueError, UnknownCategoryError
from deniable.estimation.notes.stamped import stamped
from deniable.regression.formula import as_pandas, column_of
from deniable.regression.poststratified import Cells, Poststratified
from deniable.regression.random_intercept import RandomIntercept
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from deniable.core.domain import Category

    Array = NDArray[np.float64]

_FEW = 10  # groups below which the spread between them is known so badly that errors are too small


@stamped
def poststratify(
    fit: RandomIntercept,
    population: Any,
    *,
    sizes: str | None = "size",
    by: str | Sequence[str] = (),
) -> Poststratified:
    """Shares of a population by a fit with a random intercept: multilevel regression and post-stratification.

    Every cell of the population is predicted by its predictors and its group's effect, as far as the group's reports
    tell it; cells are summed by their sizes. A group that nobody was asked in is predicted as any group may be, and its
    error says so. Sizes are taken as known, and large: a share is that of all people who are like those of a cell.

    Args:
        fit: of `random_intercept`.
        population: its cells: a data frame with the predictors, the groups and the sizes, a row a cell; a `Table`; or
            a mapping such as `{("village", "sex"): {("Ash", "F"): 510, ("Ash", "M"): 490}}`. In a disguised
            predictor's column stand true answers.
        sizes: the frame's column that says how many people are in a cell; None for a row a person.
        by: the column of the population, or several, whose values are to be told apart.

    Raises:
        UnknownCategoryError: the population has categories that the fit does not know.

    >>> import numpy as np, pandas as pd
    >>> import deniable as dn
    >>> rng = np.random.default_rng(1)
    >>> village = np.repeat(["Ash", "Elm", "Fir", "Oak", "Yew"], 300)
    >>> truth = (rng.random(1500) < np.repeat([0.1, 0.3, 0.5, 0.3, 0.2], 300)).astype(int)
    >>> device = dn.Warner(0.85)
    >>> frame = pd.DataFrame({"village": village, "cheated": device.randomize(truth, source=dn.Seeded(1))})
    >>> fit = dn.random_intercept("cheated ~ 1", frame, device, groups="village")
    >>> sizes = {"village": {"Ash": 900, "Elm": 500, "Fir": 100, "Oak": 400, "Yew": 500}}
    >>> shares = dn.poststratify(fit, sizes)
    >>> round(shares.overall.value, 2), round(shares.overall.std_error, 3)
    (0.22, 0.019)
    """
    if not isinstance(fit, RandomIntercept):
        raise InputError(
            f"a fit of random_intercept() is needed, not {type(fit).__name__}; of other regressions, predict() gives "
            "the share of every cell"
        )
    cells, size = _population(population, sizes)
    wanted = [by] if isinstance(by, str) else list(by)
    for name in (*fit.fixed.design.variables, fit.between, *wanted):
        if column_of(cells, name).isna().any():
            raise MissingValueError(f"{name!r} is missing in some cells of the population; leave these out, or fill in")
    group, strangers = _groups(fit, cells)
    rows, row = _rows(cells, wanted)
    per_row = np.bincount(row, size).astype(np.float64)
    design = _design(fit, cells)
    values, covariance = Cells(design, group, row, size / per_row[row]).estimate(fit.marginal, fit.values, fit.matrix)
    asked = f"{fit.groups} asked"
    facts = {
        "model": f"{fit.fixed.model} with a random intercept per {fit.between}, {fit.formula}",
        "outcome through": fit.fixed.channel,
        "reports": fit.fixed.n,
        "groups": f"{asked}, {len(strangers)} of the population not" if strangers else asked,
    }
    return Poststratified(
        name=f"Pr({fit.fixed.truths[1]})",
        rows=rows,
        sizes=per_row,
        values=values,
        covariance=covariance,
        facts=facts,
        notes=_notes(fit, strangers, float(size[group >= fit.groups].sum() / size.sum())),
        backend=backend_of(population) if hasattr(population, "columns") else fit.fixed.backend,
    )


def _population(given: Any, sizes: str | None) -> tuple[pd.DataFrame, Array]:
    """The cells that have people, and how many."""
    import pandas as pd

    if isinstance(given, Table):
        cells, size = pd.DataFrame(given.cells()), given.values.ravel()
    elif isinstance(given, Mapping):
        cells, size = _of_mapping(given)
    else:
        cells = as_pandas(given)
        counted = np.ones(len(cells)) if sizes is None else column_of(cells, sizes).to_numpy()
        try:
            size = np.asarray(counted, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"the sizes of cells must be numbers; the column {sizes!r} holds others") from None
    if not len(size) or not np.isfinite(size).all() or (size < 0).any() or not size.sum() > 0:
        raise InputError("the sizes of the population's cells must be numbers from 0 upwards, not all of them zero")
    return cells[size > 0].reset_index(drop=True), size[size > 0]


def _of_mapping(given: Mapping[Any, Any]) -> tuple[pd.DataFrame, Array]:
    import pandas as pd

    if len(given) != 1 or not isinstance(next(iter(given.values())), Mapping):
        raise InputError(
            "a population is one mapping from the names of its columns to its cells, such as "
            '{("village", "sex"): {("Ash", "F"): 510, ("Ash", "M"): 490}}, or a data frame with a row a cell'
        )
    ((names, known),) = given.items()
    columns = [names] if isinstance(names, str) else list(names)
    labels = [(cell,) if isinstance(names, str) else cell for cell in known]
    wrong = [cell for cell in labels if not isinstance(cell, tuple) or len(cell) != len(columns)]
    if wrong:
        raise InputError(f"a cell of the population is a tuple of {listed(columns)}, not {wrong[0]!r}")
    size = np.array([float(many) for many in known.values()])
    return pd.DataFrame(labels, columns=columns), size


def _groups(fit: RandomIntercept, cells: pd.DataFrame) -> tuple[NDArray[np.intp], list[Any]]:
    """Each cell's group, numbered as the fit does; those that it has no reports of come after."""
    import pandas as pd

    known = pd.Index(pd.unique(pd.Series(np.asarray(fit.fixed.data[fit.between]))))
    here = np.asarray(cells[fit.between])
    place = known.get_indexer(pd.Index(here))
    if (place < 0).all():
        raise UnknownCategoryError(
            f"the fit has reports of no {fit.between} of the population: it has {listed(known.tolist())}, the "
            f"population {listed(pd.unique(pd.Series(here)).tolist())}. Write them alike in both",
            attribute=fit.between,
        )
    new, strangers = pd.factorize(pd.Series(here[place < 0]))
    place[place < 0] = len(known) + new
    return place.astype(np.intp), strangers.tolist()


def _rows(cells: pd.DataFrame, by: list[str]) -> tuple[dict[str, tuple[Category, ...]], NDArray[np.intp]]:
    """The rows of the result, and the row of every cell."""
    if not by:
        return {"population": ("everybody",)}, np.zeros(len(cells), dtype=np.intp)
    row = cells.groupby(by, sort=True, observed=True).ngroup().to_numpy().astype(np.intp)
    _, first = np.unique(row, return_index=True)
    return {name: tuple(cells[name].iloc[first].tolist()) for name in by}, row


def _design(fit: RandomIntercept, cells: pd.DataFrame) -> Array:
    try:
        return fit.fixed.design.on(cells)
    except UnknownCategoryError:
        data = fit.fixed.data
        told = [
            f"{name} {listed(sorted(map(str, new)))}"
            for name in fit.fixed.design.variables
            if name in data and name not in fit.fixed.hidden and (new := set(cells[name]) - set(data[name]))
        ]
        raise UnknownCategoryError(
            f"the population has categories of which there are no reports, so the fit has no coefficient for them: "
            f"{'; '.join(told) or 'of a disguised predictor'}. Join them with others, in the population and in the "
            "fit, or leave their cells out",
            formula=fit.formula,
        ) from None


def _notes(fit: RandomIntercept, strangers: list[Any], part: float) -> tuple[str, ...]:
    notes = [*fit.notes]
    if fit.missing == "drop" and fit.fixed.assumed:
        notes.append(
            "Cells count all their people: shares are those of who would answer, as if they were spread over the cells "
            "like everybody."
        )
    if strangers:
        notes.append(
            f"Nobody was asked in {fit.between} {listed(strangers)}, {part:.1%} of the population: predicted as "
            "any group may be."
        )
    if fit.groups < _FEW:
        notes.append(
            f"With {fit.groups} groups the spread between them is known badly, and errors of groups with few reports "
            "may be too small."
        )
    return tuple(notes)
