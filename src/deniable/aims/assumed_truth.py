"""A guess of the truth: what variances are judged at where somebody knows better than even shares.

It may be a table; shares of some attributes, which are then taken to be independent; or several of these, a mixture:
then losses are averaged over them, each with its weight. Whatever a guess does not hold is even, and independent of the
rest. A guess decides which design is made, and at which truth a loss is stated; what an estimate is made of it does
not touch, so that a wrong guess costs respondents and never truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from deniable.core.domain import Domain
from deniable.core.input_coercion import attributes_told, by_category, has_labels, in_order
from deniable.core.table import Table, as_table
from deniable.errors import InputError, UnknownAttributeError
from deniable.frozen import Frozen
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

One: TypeAlias = "Table | Population | Mapping[str, Sequence[float]]"
Truth: TypeAlias = "One | Guess | Sequence[One | tuple[float, One]]"
"""What may be given as a guess: a table, shares by attribute, or several of these, each alone or with its weight."""


@dataclass(frozen=True, eq=False)
class Population(Frozen):
    """Tables of disjoint attributes that are independent of each other; asked for others, they are even."""

    tables: tuple[Table, ...]

    @property
    def domain(self) -> Domain:
        """The attributes that something is known about."""
        return Domain([variable for table in self.tables for variable in table.domain.values()])

    def normalize(self) -> Population:
        """Itself: its tables sum to one."""
        return self

    def in_order_of(self, domain: Domain) -> Population:
        """The same with the categories of each attribute in the order that a domain lists them in."""
        return Population(tuple(table.in_order_of(domain) for table in self.tables))

    def project(self, attributes: str | Iterable[str]) -> Table:
        """The table of some of its attributes."""
        names = [attributes] if isinstance(attributes, str) else list(attributes)
        parts = [table.project(held) for table in self.tables if (held := [n for n in table.domain if n in names])]
        whole = parts[0]
        for part in parts[1:]:
            whole = whole * part
        return whole.project(names)

    def shares(self, own: Domain) -> NDArray[np.float64]:
        """The shares of the cells of some attributes, even where nothing is known."""
        known = [name for name in own if name in self.domain]
        others = own.project([name for name in own if name not in known]) if len(known) < len(own) else None
        even = None if others is None else Table(others, np.full(others.shape, 1 / others.cells))
        if not known:
            assert even is not None
            return even.values
        table = self.project(known)
        return (table if even is None else table * even).project(own.names).values


@dataclass(frozen=True, eq=False)
class Guess(Frozen):
    """One population, or several with weights that sum to one.

    >>> from deniable.core.domain import Domain
    >>> domain = Domain({"smokes": ["no", "yes"], "sex": ["F", "M"]})
    >>> guess = Guess.of(domain, [{"smokes": [0.9, 0.1]}, {"smokes": [0.7, 0.3]}])
    >>> [part.shares(domain.project(["smokes"])).round(2).tolist() for part in guess.populations], guess.weights
    ([[0.9, 0.1], [0.7, 0.3]], (0.5, 0.5))
    """

    populations: tuple[Population, ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, domain: Domain, truth: Truth) -> Guess:
        """Read what somebody gives, and check it against the attributes it speaks of."""
        if isinstance(truth, Guess):
            return truth
        if isinstance(truth, Table | Population | Mapping) or attributes_told(truth, domain):
            return cls((_population(domain, truth),), (1.0,))
        given: Any = truth  # whatever it is
        listing = [] if isinstance(given, str) or not isinstance(given, Sequence) else given
        several = [each if isinstance(each, tuple) and len(each) == 2 else (1.0, each) for each in listing]
        weights = [float(weight) if isinstance(weight, Real) else 0.0 for weight, _ in several]
        if not several or not all(isfinite(weight) and weight > 0 for weight in weights):
            raise InputError(
                "a guess is a table, or shares by attribute; several guesses are a list of these, each alone or with a "
                "weight above 0: [(2, {'smokes': [0.9, 0.1]}), (1, {'smokes': [0.7, 0.3]})]"
            )
        total = sum(weights)
        made = tuple(_population(domain, one) for _, one in several)
        return cls(made, tuple(weight / total for weight in weights))


def _population(domain: Domain, given: Any) -> Population:
    if isinstance(given, Population):
        return given.in_order_of(domain)
    if isinstance(given, Table):
        return Population((_checked(domain, given),))
    if attributes_told(given, domain):
        return Population((_checked(domain, as_table(given, domain, "the guess")),))
    if not isinstance(given, Mapping) or not given:
        raise InputError("a guess is a table, or shares by attribute such as {'smokes': [0.9, 0.1]}, and not empty")
    return Population(tuple(_of_shares(domain, name, shares) for name, shares in given.items()))


def _checked(domain: Domain, given: Table) -> Table:
    if not any(name in domain for name in given.domain):
        raise UnknownAttributeError(
            f"the assumed table speaks of {listed(given.domain)}, and of none of {listed(domain)}",
            attribute=given.domain.names[0],
        )
    table = given.in_order_of(domain).normalize()
    if (table.values < 0).any():
        raise InputError("the assumed table has negative cells; project it to the simplex first")
    return table


def _of_shares(domain: Domain, name: str, shares: Sequence[float]) -> Table:
    if name not in domain:
        raise UnknownAttributeError(
            f"the guess speaks of {name!r}, which is not among {listed(domain)}", attribute=name
        )
    variable = domain[name]
    if has_labels(shares, variable.categories):
        values = by_category(shares, variable, f"the guess of {name!r}")
    else:
        values = in_order(shares, "shares")
    right = values.shape == (len(domain[name]),) and np.isfinite(values).all() and (values >= 0).all()
    if not right or not values.sum() > 0:
        raise InputError(
            f"the guess of {name!r} must be {len(domain[name])} shares from 0 upwards, one for each of "
            f"{listed(domain[name].categories)}",
            attribute=name,
        )
    return Table(domain.project([name]), values / values.sum())
