"""The same categories, by name: wherever two things meet that have categories, names decide and order does not.

Where both have the same categories in another order, one is brought to the other's; where they have not, they mean
different things by one name, and are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import UnknownCategoryError
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from deniable.core.domain import Category, Domain, Variable


def places(own: Sequence[Category], wanted: Sequence[Category], name: str) -> NDArray[np.int64]:
    """Where each wanted category stands among a thing's own; refused where they are not the same.

    >>> places(("yes", "no"), ("no", "yes"), "smokes").tolist()
    [1, 0]
    """
    keys, looked = _keys(own), _keys(wanted)
    if len(keys) != len(looked) or set(keys) != set(looked):
        raise UnknownCategoryError(
            f"{name!r} has the categories {listed(own)} here and {listed(wanted)} there; categories are matched by "
            f"name, so bring both to the same ones, in whatever order",
            attribute=name,
        )
    where = {key: place for place, key in enumerate(keys)}
    return np.array([where[key] for key in looked], dtype=np.int64)


def _keys(categories: Sequence[Category]) -> list[tuple[bool, Category]]:
    return [(type(category) is bool, category) for category in categories]  # 1 and 1.0 are one number, True is none


def have_same(own: Variable, wanted: Variable) -> bool:
    """Whether two attributes have the same categories, in whatever order."""
    return own is wanted or (len(own) == len(wanted) and set(_keys(own.categories)) == set(_keys(wanted.categories)))


_YES = {"no": "yes", "n": "y", "false": "true", "0": "1", "nein": "ja", "non": "oui"}  # in small letters


def says_yes_first(categories: Sequence[Category] | None) -> bool | None:
    """Whether a yes-or-no question's answers are listed with yes first; None where the words do not tell.

    >>> says_yes_first(("yes", "no")), says_yes_first((False, True)), says_yes_first(("user", "other"))
    (True, False, None)
    """
    if categories is None or len(categories) != 2:
        return None
    # 1.0 is written like 1.
    first, last = (str(int(c) if type(c) is float and c.is_integer() else c).casefold() for c in categories)
    return True if _YES.get(last) == first else False if _YES.get(first) == last else None


def same_order(own: Variable, wanted: Variable) -> bool:
    """Whether two attributes have the same categories in the same order; refused where they are not the same."""
    if own is wanted:
        return True
    return bool((places(own.categories, wanted.categories, own.name) == np.arange(len(own))).all())


def arranged(values: NDArray[np.float64], own: Domain, wanted: Domain) -> NDArray[np.float64]:
    """Values over one domain, with axes and categories in the order of another with the same attributes."""
    there = np.transpose(values, [own.names.index(name) for name in wanted])
    for axis, name in enumerate(wanted):
        if not same_order(own[name], wanted[name]):
            there = np.take(there, places(own[name].categories, wanted[name].categories, name), axis=axis)
    return there


def refuse_other_order(domains: Iterable[Domain]) -> None:
    """Refuse what means different things by one name, or lists its categories otherwise."""
    known: dict[str, Variable] = {}
    for variable in (v for domain in domains for v in domain.values()):
        other = known.setdefault(variable.name, variable)
        if not have_same(other, variable) or not same_order(other, variable):
            raise UnknownCategoryError(
                f"{variable.name!r} has the categories {listed(other.categories)} in some reports and "
                f"{listed(variable.categories)} in others; bring them to the same categories in the same order",
                attribute=variable.name,
            )
