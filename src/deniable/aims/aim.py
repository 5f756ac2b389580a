"""Wanted numbers: what a survey is made for, a kind a file of `kinds`.

A wanted number is a linear functional w . pi of the shares pi, and a `Wanted` is some of them that belong together:

    Wanted.table("sex", "income")        every cell of a table
    Wanted.shares("age")                 the share of every category: the table of one attribute
    Wanted.mean("age")                   the mean of the categories' scores
    Wanted.cdf("age")                    the shares up to each category but the last
    Wanted.quantiles("age", [0.5])       the median
    Wanted.ranges("age", [(20, 40)])     the share from one category to another, both included
    Wanted.difference("pay", by="sex")   the mean (or each category's share) in one group less that in another
    Wanted.association("sex", "income")  the interaction of attributes: their table without what its margins tell

Scores are scaled to range 1, or a mean of incomes would outweigh every share. `weight` multiplies the variance of each
of the numbers in the sum that is to be small; its root multiplies the row. What is not linear (quantiles, differences)
stands for its derivative at the assumed truth, which is what its variance depends on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from deniable.core.registry import Registry
from deniable.errors import InputError
from deniable.frozen import Frozen
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.aims.parse import Call
    from deniable.core.domain import Category, Domain, Variable
    from deniable.core.table import Table

_BESIDES = 0.03  # what is needed besides, as a share of what is wanted
_COUNTS = {(1, 1): "one attribute", (2, 2): "two attributes", (2, None): "two attributes or more"}


@dataclass(frozen=True)
class Wanted(Frozen, ABC):
    """Numbers that are wanted of some attributes; each kind of them is a class in a file of `deniable.aims.kinds`.

    Attributes:
        kind: what they are; the name of the file.
        example: one of them as a text.
        estimator: where the function is that tells them of reports; None where estimates of tables are all there is.
        seen_in: without an estimator, and for no table: what stands in the number's place.
        fewest: of so many attributes they are at least.
        most: of so many at most; None for any number.
        is_table: whether they are the cells of the table of their attributes.
        attributes: what they are numbers of.
        weight: what the variance of each is multiplied by where variances are summed.

    >>> from deniable.core.domain import Domain
    >>> Wanted.cdf("age").rows(Domain({"age": ["young", "middle", "old"]})).tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """

    kind: ClassVar[str]
    example: ClassVar[str]
    estimator: ClassVar[str | None] = "deniable.inference.numbers.aim_estimates.of_shares"
    seen_in: ClassVar[str] = ""
    fewest: ClassVar[int] = 1
    most: ClassVar[int | None] = 1
    is_table: ClassVar[bool] = False

    attributes: tuple[str, ...]
    weight: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.attributes or len(set(self.attributes)) != len(self.attributes):
            raise InputError(f"name each attribute of a wanted {self.kind} once, not {listed(self.attributes)}")
        if not self.fewest <= len(self.attributes) <= (self.most or len(self.attributes)):
            raise InputError(
                f"a wanted {self.kind} is about {_COUNTS[self.fewest, self.most]}, not {listed(self.attributes)}"
            )
        if not (isfinite(self.weight) and self.weight > 0):
            raise InputError(f"a weight multiplies a variance and must be above 0, not {self.weight!r}")

    # -- one of each kind ----------------------------------------------------------------------------------------------

    @staticmethod
    def table(*attributes: str, weight: float = 1.0) -> Wanted:
        """Every cell of the joint table of these attributes."""
        return _made("table", attributes, weight)

    @staticmethod
    def shares(attribute: str, *, weight: float = 1.0) -> Wanted:
        """The share of every category of one attribute."""
        return _made("table", (attribute,), weight)

    @staticmethod
    def mean(attribute: str, *, scores: Sequence[float | None] | None = None, weight: float = 1.0) -> Wanted:
        """The mean of scores, scaled to range 1: by default what the categories count as, `aims.category_scores`."""
        return _made("mean", (attribute,), weight, scores=scores)

    @staticmethod
    def cdf(attribute: str, *, weight: float = 1.0) -> Wanted:
        """The shares up to each category; the last is 1 and nobody needs to ask."""
        return _made("cdf", (attribute,), weight)

    @staticmethod
    def quantiles(
        attribute: str,
        levels: Sequence[float] = (0.5,),
        *,
        edges: Sequence[float] | None = None,
        weight: float = 1.0,
    ) -> Wanted:
        """Quantiles; `edges` are the categories' bounds, one more than categories, between which they are interpolated.

        By default those that the bins say. Categories without bounds are points, of which a quantile is one.
        """
        return _made("quantiles", (attribute,), weight, levels=levels, edges=edges)

    @staticmethod
    def ranges(attribute: str, ends: Sequence[tuple[Category, Category]], *, weight: float = 1.0) -> Wanted:
        """The shares from a first to a last category, both included."""
        return _made("ranges", (attribute,), weight, ends=ends)

    @staticmethod
    def difference(
        of: str,
        by: str,
        *,
        groups: Sequence[tuple[Category, Category]] | None = None,
        scores: Sequence[float] | None = None,
        weight: float = 1.0,
    ) -> Wanted:
        """How groups differ: in the mean of `scores` of the first attribute, else in the share of each category.

        `groups` are pairs of the second attribute's categories; by default all.
        """
        return _made("difference", (of, by), weight, groups=groups, scores=scores)

    @staticmethod
    def association(*attributes: str, weight: float = 1.0) -> Wanted:
        """The table of the attributes less all that tables of fewer of them tell (at even shares)."""
        return _made("association", attributes, weight)

    # -- what a kind says ----------------------------------------------------------------------------------------------

    @abstractmethod
    def _rows(self, own: Domain, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The functionals as rows over the cells of the attributes, of which these are the shares."""

    def even_sets(self, names: tuple[str, ...]) -> Iterable[tuple[str, ...]]:  # noqa: ARG002 - kinds need it
        """The sets of attributes (of these names, its own in some order) all of whose contrasts weigh the same in it.

        At even shares, and where it has no part in any other set; none, where that is not so.
        """
        return ()

    def unit(self, domain: Domain) -> float | None:  # noqa: ARG002 - kinds need it
        """From the least to the largest that its numbers can be; None where they are shares of respondents."""
        return None

    def needs(self, domain: Domain) -> NDArray[np.float64] | None:  # noqa: ARG002 - kinds need it
        """What must be told besides, as rows: what a number that is not linear is computed from, whatever the truth.

        A quantile takes the whole distribution function, a difference the numerator and the denominator of each group.
        Their derivative at an assumed truth is next to nothing where the truth is another one.
        """
        return None

    def which(self, domain: Domain) -> list[str]:
        """What tells its numbers apart: nothing, where it is one."""
        count = len(self.rows(domain))
        return [str(place) for place in range(1, count + 1)] if count > 1 else [""]

    def _body(self) -> str:
        return self._called(", ".join(self.attributes))

    def _written(self) -> list[str]:
        """The options, as texts."""
        return []

    @classmethod
    def parse(cls, call: Call) -> Self:
        """Read what stands between the brackets: an attribute, unless the kind says more."""
        call.options()
        return cls(call.names(), call.weight)

    # -- what follows from it ------------------------------------------------------------------------------------------

    @property
    def is_whole(self) -> bool:
        """Whether all contrasts of a set of attributes weigh the same in it, at even shares."""
        return any(True for _ in self.even_sets(self.attributes))

    @property
    def options(self) -> dict[str, Any]:
        """What else the kind has been given: scores, levels, ends."""
        return {one.name: getattr(self, one.name) for one in fields(self)[len(fields(Wanted)) :]}

    def __str__(self) -> str:
        """As a text, in the language of `deniable.aims.parse`."""
        return self._body() + ("" if self.weight == 1 else f" weight {spaced([self.weight])}")

    def rows(self, domain: Domain, truth: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """The functionals as rows over the cells of their own attributes, each times the root of its weight.

        `truth` are the shares of these cells, by default all the same.
        """
        return sqrt(self.weight) * np.asarray(self._rows(*self._at(domain, truth)), dtype=np.float64)

    def own_rows(self, domain: Domain, truth: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """The functionals in their own unit and without weight: their standard errors are those that people know."""
        return np.asarray(self._rows(*self._at(domain, truth)), dtype=np.float64) * (self.unit(domain) or 1.0)

    def _at(self, domain: Domain, truth: NDArray[np.float64] | None) -> tuple[Domain, NDArray[np.float64]]:
        own = domain.project(self.attributes)
        return own, np.full(own.shape, 1 / own.cells) if truth is None else np.reshape(truth, own.shape)

    def _called(self, inside: str) -> str:
        return f"{self.kind}({'; '.join([inside, *self._written()])})"


AIMS: Registry[type[Wanted]] = Registry("wanted number", "deniable.aims.kinds")


def _made(kind: str, attributes: Sequence[str], weight: float, **options: object) -> Wanted:
    return made(kind, attributes, weight, options)


def made(kind: str, attributes: Sequence[str], weight: float, options: Mapping[str, object]) -> Wanted:
    """A wanted number of a kind, of its parts; see `options`."""
    home: Any = AIMS[kind]
    one: Wanted = home(tuple(attributes), weight, **options)
    return one


def channel_rows(domain: Domain, wanted: Iterable[Wanted], truth: Table | None = None) -> NDArray[np.float64]:
    """What a channel of one question is made for: all wanted numbers, and a little of what they are computed from.

    Without it the best channel for a median at even shares would tell nothing at other truths.

    >>> from deniable.core.domain import Domain
    >>> median = Wanted.quantiles("age")
    >>> [len(rows(Domain({"age": range(5)}), [median])) for rows in (matrix_of, channel_rows)]
    [1, 5]
    """
    parts = []
    for one in wanted:
        rows = matrix_of(domain, [one], truth)
        parts.append(rows)
        needed = one.needs(domain)
        if needed is not None:
            more = lifted(domain, one.attributes, needed)
            parts.append(more * sqrt(_BESIDES * _length(rows) / _length(more)))
    return np.concatenate(parts)


def _length(rows: NDArray[np.float64]) -> float:
    return float(((rows - rows.mean(axis=1, keepdims=True)) ** 2).sum())


def asked_of(domain: Domain, wanted: Iterable[Wanted]) -> Domain:
    """The attributes that some wanted number needs, in the domain's order: nobody is asked about others."""
    needed = {domain[name].name for one in wanted for name in one.attributes}
    return domain.project([name for name in domain if name in needed])


def matrix_of(domain: Domain, wanted: Iterable[Wanted], truth: Table | None = None) -> NDArray[np.float64]:
    """All wanted numbers as rows over the cells of `domain`.

    >>> from deniable.core.domain import Domain
    >>> matrix_of(Domain({"a": [0, 1], "b": [0, 1]}), [Wanted.mean("a")]).tolist()
    [[0.0, 0.0, 1.0, 1.0]]
    """
    found = []
    for one in wanted:
        own = None if truth is None else truth.project(one.attributes).values
        found.append(lifted(domain, one.attributes, one.rows(domain, own)))
    return np.concatenate(found)


def lifted(domain: Domain, attributes: Sequence[str], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows over the cells of some attributes, as rows over all cells."""
    places = [int(axis) for axis in domain.axes(attributes)]
    shape = [len(rows), *(len(domain[name]) for name in attributes), *[1] * (len(domain) - len(places))]
    rest = [axis for axis in range(len(domain)) if axis not in places]
    spread = np.moveaxis(rows.reshape(shape), range(1, len(domain) + 1), [axis + 1 for axis in (*places, *rest)])
    return np.broadcast_to(spread, (len(rows), *domain.shape)).reshape(len(rows), -1)


# -- what kinds have in common -----------------------------------------------------------------------------------------


def spaced(numbers: Iterable[float | None]) -> str:
    """Numbers as a text, to the last digit; "-" for one that is none."""
    return " ".join("-" if number is None else repr(float(number)).removesuffix(".0") for number in numbers)


def scores_text(scores: Iterable[float | None]) -> str:
    """Scores, as `Call.scores` reads them."""
    return f"scores {spaced(scores)}"


def pairs_text(pairs: Iterable[tuple[Category, Category]]) -> str:
    """Pairs of categories, as `Call.pairs` reads them."""
    return ", ".join(f"{first}..{last}" for first, last in pairs)


def only(domain: Domain) -> Variable:
    """The attribute of a domain that has one."""
    (variable,) = domain.values()
    return variable


def code_of(variable: Variable, category: Category) -> int:
    """The code of a category, or of the one that is written like it: texts know no numbers."""
    if category not in variable.categories:
        alike = [code for code, each in enumerate(variable.categories) if str(each) == str(category)]
        if len(alike) == 1:
            return alike[0]
    return variable.code(category)


def scaled(scores: Sequence[float | None], variable: Variable) -> NDArray[np.float64]:
    """Scores, scaled to range 1."""
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != (len(variable),) or not np.isfinite(values).all() or np.ptp(values) == 0:
        raise InputError(
            f"the scores of {variable.name!r} must be {len(variable)} numbers, a category each and not all the same; "
            f"got {listed(scores)}",
            attribute=variable.name,
        )
    return (values - values.min()) / np.ptp(values)
