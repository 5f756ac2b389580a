"""Two attributes, as people name them; what is named otherwise is answered with the line to write.

How the cells of a two-way table differ from independence, d_ij = pi_ij - pi_i pi_j, and how that moves with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from deniable.core.data_frames import refuse_set
from deniable.designs.reports.reports import Reports
from deniable.device.protocol.answer_encoding import NOT_ASKED, SKIPPED
from deniable.errors import InputError
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.core.domain import Category, Variable
    from deniable.estimation.estimate import Estimate

Missing = Literal["drop", "model"]  # of whom a number is: of those who answer, or of everybody


def check_missing(missing: object) -> None:
    """Refuse any other word; None says nothing of it."""
    if missing not in (None, "drop", "model"):
        raise InputError(f'missing is "drop" or "model", not {missing!r}')


def both_asked(reports: Any, a: str | Sequence[str], b: str | None) -> tuple[str, str]:
    """The two attributes; a public column is told the way to go."""
    names = [a, b] if isinstance(a, str) and b is not None else [a] if isinstance(a, str) else [*a, b]
    named = [name for name in names if name is not None]
    if len(named) != 2:
        raise InputError(
            f"independence is a matter of two attributes, such as independence(reports, 'smokes', 'sleep'); named: "
            f"{listed(named)}"
        )
    columns = reports.public_names if isinstance(reports, Reports) else ()
    clear = next((name for name in named if name in columns and name not in reports.design.domain), None)
    if clear is not None:
        other = named[1 - named.index(clear)]
        raise InputError(
            f"{clear!r} is a public column: whether {other!r} is alike in its groups is told by homogeneity(reports, "
            f"{other!r}, by={clear!r})",
            attribute=clear,
        )
    return named[0], named[1]


def two_way(estimate: Estimate) -> NDArray[np.float64]:
    """The joint table of two attributes that a measure of association is one of."""
    if not hasattr(estimate, "efficient"):
        raise InputError(
            f"a measure of association is one of an estimate, not of {type(estimate).__name__}: write "
            f"odds_ratio(estimate(reports, ['smokes', 'sleep'])), and so for the others"
        )
    if estimate.efficient.values.ndim != 2:
        raise InputError(
            f"a measure of association needs the joint table of two attributes; this is one of "
            f"{listed(estimate.attributes)}"
        )
    return estimate.efficient.values


def contrast(
    estimate: Estimate, groups: Sequence[Category] | None, outcome: Category | None
) -> tuple[int, int, int, str]:
    """The codes of two groups and of an outcome, and what they are called: "smokes yes, sex M to F"."""
    two_way(estimate)
    rows, columns = estimate.table.domain.values()
    a, b = pair(rows, groups)
    k = one(columns, outcome, "outcome")
    return a, b, k, f"{columns.name} {columns.categories[k]}, {versus(rows, (a, b))}"


def one(variable: Variable, named: Category | None, argument: str) -> int:
    """The code of one category: the named one, or the second of two."""
    if named is not None:
        return variable.code(named)
    if not _stands_out(variable):
        raise _unnamed(variable, "which is meant", argument, [*variable.categories, *answers_of(variable)][-1])
    return 1


def pair(variable: Variable, named: Sequence[Category] | None, argument: str = "groups") -> tuple[int, int]:
    """The codes of two categories: the named ones, or the only two that there are."""
    categories = variable.categories
    if named is None:
        if not _stands_out(variable):
            such = answers if len(answers := answers_of(variable)) > 1 else categories
            raise _unnamed(variable, "which two are compared", argument, (such[0], such[-1]))
        return 0, 1
    refuse_set(named, "two categories, of which the second is compared with the first,")
    missing = [name for name in named if name not in categories]
    if len(named) != 2 or missing or named[0] == named[1]:
        raise InputError(f"name two different categories of {listed(categories)}, not {listed(named)}")
    return categories.index(named[0]), categories.index(named[1])


def versus(variable: Variable, codes: tuple[int, int]) -> str:
    """What two categories of an attribute are called, the second compared with the first: "sex M to F"."""
    first, second = (variable.categories[code] for code in codes)
    return f"{variable.name} {second} to {first}"


def _stands_out(variable: Variable) -> bool:
    """Whether nothing needs to be named: of two answers, the second is meant, or it against the first."""
    return len(variable) == 2 and not {SKIPPED, NOT_ASKED} & set(variable.categories)


def answers_of(variable: Variable) -> list[Category]:
    """The categories that answer the question, if any do."""
    return [category for category in variable.categories if category not in (SKIPPED, NOT_ASKED)]


def _unnamed(variable: Variable, what: str, argument: str, such: object) -> InputError:
    return InputError(
        f"{variable.name!r} has the categories {listed(variable.categories)}: say {what}, such as {argument}={such!r}",
        attribute=variable.name,
    )


def residual_of(
    matrix: NDArray[np.float64], rows: NDArray[np.float64], columns: NDArray[np.float64]
) -> NDArray[np.float64]:
    """J times a matrix over the cells, J = `residual_jacobian`: x_ij - pi_j x_i. - pi_i x_.j, column by column."""
    x = matrix.reshape(len(rows), len(columns), -1)
    moved = x - columns[:, None] * x.sum(axis=1, keepdims=True) - rows[:, None, None] * x.sum(axis=0, keepdims=True)
    return moved.reshape(matrix.shape)


def residual_jacobian(rows: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Derivatives of d_ij = pi_ij - pi_i pi_j by the cells: [ij = kl] - [i = k] pi_j - [j = l] pi_i."""
    r, c = len(rows), len(columns)
    by_row = np.einsum("ik,j->ijk", np.eye(r), columns)[..., None] * np.ones(c)
    by_column = np.einsum("jl,i->ijl", np.eye(c), rows)[:, :, None, :] * np.ones(r)[None, None, :, None]
    return np.eye(r * c) - (by_row + by_column).reshape(r * c, r * c)
