"""Wanted numbers: one small language for what a survey is made for.

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
of the numbers in the sum that is to be small; its root multiplies the row.

Quantiles and differences are not linear: they stand for their derivative at the assumed truth, which is what their
variance depends on. Of a quantile that is the derivative between the bounds of the category it falls into, steps of one
where categories have none; what reports then tell is what `deniable.quantile` says, one of the categories if these are
points.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from deniable.aims.category_scores import bounds_of, counts_as
from deniable.core.input_coercion import without_labels
from deniable.errors import InputError
from deniable.frozen import Frozen
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from deniable.core.domain import Category, Domain, Variable
    from deniable.core.table import Table

_BESIDES = 0.03  # what is needed besides, as a share of what is wanted

Kind = Literal["table", "mean", "cdf", "quantiles", "ranges", "difference", "association"]


@dataclass(frozen=True)
class Wanted(Frozen):
    """Numbers that are wanted of some attributes.

    Attributes:
        kind: what they are.
        attributes: what they are numbers of.
        weight: what the variance of each is multiplied by where variances are summed.
        options: what else the kind needs, in order: scores, levels, ends.

    >>> from deniable.core.domain import Domain
    >>> Wanted.cdf("age").rows(Domain({"age": ["young", "middle", "old"]})).tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """

    kind: Kind
    attributes: tuple[str, ...]
    weight: float = 1.0
    options: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind not in _ROWS:
            raise InputError(f"wanted numbers are {listed(_ROWS)}, not {self.kind!r}", kind=self.kind)
        if not self.attributes or len(set(self.attributes)) != len(self.attributes):
            raise InputError(f"name each attribute of a wanted {self.kind} once, not {listed(self.attributes)}")
        if not (isfinite(self.weight) and self.weight > 0):
            raise InputError(f"a weight multiplies a variance and must be above 0, not {self.weight!r}")

    @classmethod
    def table(cls, *attributes: str, weight: float = 1.0) -> Wanted:
        """Every cell of the joint table of these attributes."""
        return cls("table", attributes, weight)

    @classmethod
    def shares(cls, attribute: str, *, weight: float = 1.0) -> Wanted:
        """The share of every category of one attribute."""
        return cls("table", (attribute,), weight)

    @classmethod
    def mean(cls, attribute: str, *, scores: Sequence[float] | None = None, weight: float = 1.0) -> Wanted:
        """The mean of scores, scaled to range 1: by default `aims.category_scores`, what the categories count as."""
        return cls("mean", (attribute,), weight, () if scores is None else (tuple(without_labels(scores, "scores")),))

    @classmethod
    def cdf(cls, attribute: str, *, weight: float = 1.0) -> Wanted:
        """The shares up to each category; the last is 1 and nobody needs to ask."""
        return cls("cdf", (attribute,), weight)

    @classmethod
    def quantiles(
        cls,
        attribute: str,
        levels: Sequence[float] = (0.5,),
        *,
        edges: Sequence[float] | None = None,
        weight: float = 1.0,
    ) -> Wanted:
        """Quantiles; `edges` are the categories' bounds, one more than categories, between which they are interpolated.

        By default those that the bins say. Categories without bounds are points, of which a quantile is one.
        """
        if not levels or not all(0 < level < 1 for level in levels):
            raise InputError(f"the levels of quantiles lie between 0 and 1, not {listed(levels)}")
        bounds = () if edges is None else (tuple(without_labels(edges, "edges")),)
        return cls("quantiles", (attribute,), weight, (tuple(levels), *bounds))

    @classmethod
    def ranges(cls, attribute: str, ends: Sequence[tuple[Category, Category]], *, weight: float = 1.0) -> Wanted:
        """The shares from a first to a last category, both included."""
        return cls("ranges", (attribute,), weight, tuple((first, last) for first, last in ends))

    @classmethod
    def difference(
        cls,
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
        pairs = None if groups is None else tuple((one, other) for one, other in groups)
        return cls(
            "difference", (of, by), weight, (pairs, None if scores is None else tuple(without_labels(scores, "scores")))
        )

    @classmethod
    def association(cls, *attributes: str, weight: float = 1.0) -> Wanted:
        """The table of the attributes less all that tables of fewer of them tell (at even shares)."""
        if len(attributes) < 2:
            raise InputError(f"an association is between two attributes or more, not of {listed(attributes)}")
        return cls("association", attributes, weight)

    @property
    def is_whole(self) -> bool:
        """Whether all contrasts of a set of attributes weigh the same in it, at even shares."""
        return self.kind in ("table", "association")

    def __str__(self) -> str:
        """As a text, in the language of `deniable.aims.parse`."""
        names = self.attributes
        weight = "" if self.weight == 1 else f" weight {self.weight:g}"
        if self.kind == "table":
            return " * ".join(names) + weight
        inside = ", ".join(names) if self.kind != "difference" else " by ".join(names)
        return f"{self.kind}({'; '.join([inside, *_written(self)])}){weight}"

    def rows(self, domain: Domain, truth: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """The functionals as rows over the cells of their own attributes, each times the root of its weight.

        `truth` are the shares of these cells, by default all the same.
        """
        own = domain.project(self.attributes)
        shares = np.full(own.shape, 1 / own.cells) if truth is None else np.reshape(truth, own.shape)
        return sqrt(self.weight) * np.asarray(_ROWS[self.kind](self, own, shares), dtype=np.float64)

    def own_rows(self, domain: Domain, truth: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """The functionals in their own unit and without weight: their standard errors are those that people know.

        A mean of categories some of which stand aside is the derivative of a quotient.
        """
        own = domain.project(self.attributes)
        shares = np.full(own.shape, 1 / own.cells) if truth is None else np.reshape(truth, own.shape)
        if self.kind != "mean":
            return self.rows(domain, truth) / sqrt(self.weight) * (self.unit(domain) or 1.0)
        sizes = self._sizes(_only(own))
        counted = np.array([size is not None for size in sizes])
        values = np.array([0.0 if size is None else size for size in sizes])
        base = float(shares[counted].sum())
        mean = float((values * shares)[counted].sum()) / base
        return (np.where(counted, values - mean, 0.0) / base)[None]

    def unit(self, domain: Domain) -> float | None:
        """From the least to the largest that its numbers can be; None where they are shares of respondents."""
        first = domain[self.attributes[0]]
        if self.kind == "mean":
            counted = [size for size in self._sizes(first) if size is not None]
            return max(counted) - min(counted)
        if self.kind == "quantiles":
            edges = self.options[1] if len(self.options) > 1 else bounds_of(first)
            return float(edges[-1] - edges[0])
        if self.kind == "difference" and self.options[1] is not None:
            return float(np.ptp(self.options[1]))
        return None

    def _sizes(self, variable: Variable) -> list[float | None]:
        return counts_as(variable) if not self.options else list(self.options[0])

    def needs(self, domain: Domain) -> NDArray[np.float64] | None:
        """What must be told besides, as rows: what a number that is not linear is computed from, whatever the truth.

        A quantile takes the whole distribution function, a difference the numerator and the denominator of each group.
        Their derivative at an assumed truth is next to nothing where the truth is another one.
        """
        own = domain.project(self.attributes)
        if self.kind == "quantiles":
            return _cdf(self, own, np.empty(0))
        if self.kind != "difference":
            return None
        of, by = own.values()
        scores = np.eye(len(of)) if self.options[1] is None else _scaled(self.options[1], of)[None]
        return np.array([np.kron(row, group) for row in (*scores, np.ones(len(of))) for group in np.eye(len(by))])


def made_for(domain: Domain, wanted: Iterable[Wanted], truth: Table | None = None) -> NDArray[np.float64]:
    """What a channel of one question is made for: all wanted numbers, and a little of what they are computed from.

    Without it the best channel for a median at even shares would tell nothing at other truths.

    >>> from deniable.core.domain import Domain
    >>> median = Wanted.quantiles("age")
    >>> [len(rows(Domain({"age": range(5)}), [median])) for rows in (matrix_of, made_for)]
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


def _written(one: Wanted) -> list[str]:
    """The options of a kind, as texts."""
    if one.kind == "quantiles":
        levels, *edges = one.options
        return [_spaced(levels), *(f"edges {_spaced(bounds)}" for bounds in edges)]
    if one.kind == "ranges":
        return [_pairs(one.options)]
    if one.kind == "difference":
        pairs, scores = one.options
        return [
            *([] if pairs is None else [f"groups {_pairs(pairs)}"]),
            *([] if scores is None else [_scores_text(scores)]),
        ]
    return [_scores_text(scores) for scores in one.options]


def _spaced(numbers: Sequence[float]) -> str:
    return " ".join(f"{number:.12g}" for number in numbers)


def _scores_text(scores: Sequence[float]) -> str:
    return f"scores {_spaced(scores)}"


def _pairs(pairs: Sequence[tuple[Category, Category]]) -> str:
    return ", ".join(f"{first}..{last}" for first, last in pairs)


def _code(variable: Variable, category: Category) -> int:
    """The code of a category, or of the one that is written like it: texts know no numbers."""
    if category not in variable.categories:
        alike = [code for code, each in enumerate(variable.categories) if str(each) == str(category)]
        if len(alike) == 1:
            return alike[0]
    return variable.code(category)


def _scaled(scores: Sequence[float], variable: Variable) -> NDArray[np.float64]:
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != (len(variable),) or not np.isfinite(values).all() or np.ptp(values) == 0:
        raise InputError(
            f"the scores of {variable.name!r} must be {len(variable)} numbers, a category each and not all the same; "
            f"got {listed(scores)}",
            attribute=variable.name,
        )
    return (values - values.min()) / np.ptp(values)


def _scores(variable: Variable, given: Sequence[float] | None) -> NDArray[np.float64]:
    """The scores, scaled to range 1; of categories that stand aside, a second row tells those who do not."""
    sizes = counts_as(variable) if given is None else list(given)
    counted = [size for size in sizes if size is not None]
    if len(counted) == len(sizes):
        return _scaled(counted, variable)[None]
    # The mean of the others is N / D: both are needed, D as much as it moves the quotient at even shares.
    low, width = min(counted), max(counted) - min(counted)
    rows = [[0.0, 0.0] if size is None else [(size - low) / width, 0.5] for size in sizes]
    return np.array(rows).T


def _only(domain: Domain) -> Variable:
    (variable,) = domain.values()
    return variable


def _table(_: Wanted, own: Domain, _shares: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.eye(own.cells)


def _mean(one: Wanted, own: Domain, _shares: NDArray[np.float64]) -> NDArray[np.float64]:
    return _scores(_only(own), one.options[0] if one.options else None)


def _cdf(_: Wanted, own: Domain, _shares: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.tril(np.ones((own.cells, own.cells)))[:-1]


def _quantiles(one: Wanted, own: Domain, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """In category j, q = edge_j + width_j (level - F_j) / pi_j with F_j the shares before it; its derivative by pi."""
    levels, *bounds = one.options
    variable = _only(own)
    edges = np.asarray(bounds[0] if bounds else bounds_of(variable), dtype=np.float64)
    if edges.shape != (len(variable) + 1,) or not (np.diff(edges) > 0).all():
        raise InputError(
            f"the edges of {variable.name!r} must be {len(variable) + 1} rising numbers, one more than its categories",
            attribute=variable.name,
        )
    width = np.diff(edges) / (edges[-1] - edges[0])
    before = np.concatenate([[0.0], np.cumsum(shares)])
    rows = np.zeros((len(levels), len(variable)))
    for row, level in zip(rows, levels, strict=True):
        j = min(int(np.searchsorted(before, level, side="right")) - 1, len(variable) - 1)
        if not shares[j] > 0:
            raise InputError(f"the assumed truth has nobody where the quantile {level:g} of {variable.name!r} lies")
        row[:j] = -width[j] / shares[j]
        row[j] = -width[j] * (level - before[j]) / shares[j] ** 2
    return rows


def _ranges(one: Wanted, own: Domain, _shares: NDArray[np.float64]) -> NDArray[np.float64]:
    variable, places = _only(own), np.arange(own.cells)
    rows = [(_code(variable, first) <= places) & (places <= _code(variable, last)) for first, last in one.options]
    if not rows or not all(row.any() for row in rows):
        raise InputError(
            f"a range of {variable.name!r} goes from an earlier to a later category of {listed(variable.categories)}",
            attribute=variable.name,
        )
    return np.array(rows)


def _difference(one: Wanted, own: Domain, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of s(x) given a group g: the derivative by the cell (x, g) is (s(x) - mean_g) / pi_g."""
    of, by = own.values()
    pairs, given = one.options
    scores = np.eye(len(of)) if given is None else _scaled(given, of)[None]
    groups = shares.sum(axis=0)
    if not (groups > 0).all():
        raise InputError(f"the assumed truth has a group of {by.name!r} with nobody in it", attribute=by.name)
    means = scores @ shares / groups
    rows = []
    for first, second in combinations(by.categories, 2) if pairs is None else pairs:
        for score, mean in zip(scores, means, strict=True):
            row = np.zeros(own.shape)
            for group, sign in ((_code(by, first), 1.0), (_code(by, second), -1.0)):
                row[:, group] += sign * (score - mean[group]) / groups[group]
            rows.append(row.ravel())
    return np.array(rows)


def _association(_: Wanted, own: Domain, _shares: NDArray[np.float64]) -> NDArray[np.float64]:
    rows: NDArray[Any] = np.ones((1, 1))
    for size in own.shape:
        rows = np.kron(rows, np.eye(size) - 1 / size)
    return rows


_ROWS: dict[str, Callable[[Wanted, Domain, NDArray[np.float64]], NDArray[Any]]] = {
    "table": _table,
    "mean": _mean,
    "cdf": _cdf,
    "quantiles": _quantiles,
    "ranges": _ranges,
    "difference": _difference,
    "association": _association,
}
