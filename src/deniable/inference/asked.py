"""Two attributes, as people name them; what is named otherwise is answered with the line to write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.designs.reports import Reports
from deniable.errors import InputError
from deniable.wording import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from deniable.domain import Category
    from deniable.estimation.estimate import Estimate


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


def contrast(estimate: Estimate, groups: Sequence[Category] | None, outcome: Category | None) -> tuple[int, int, int]:
    """The codes of two groups, by default the first and last, and of an outcome, by default the last."""
    two_way(estimate)
    rows, columns = estimate.table.domain.values()
    a, b = pair(rows.categories, groups)
    return a, b, len(columns) - 1 if outcome is None else columns.code(outcome)


def pair(categories: Sequence[Category], named: Sequence[Category] | None) -> tuple[int, int]:
    """The codes of two categories, by default the first and last."""
    if named is None:
        return 0, len(categories) - 1
    missing = [name for name in named if name not in categories]
    if len(named) != 2 or missing or named[0] == named[1]:
        raise InputError(f"name two different categories of {listed(categories)}, not {listed(named)}")
    return categories.index(named[0]), categories.index(named[1])
