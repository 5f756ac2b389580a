"""Table: numbers on named axes. Counts, probabilities and estimates are all tables.

Axes and categories are matched by name and never by position: adding a (sex, income) table to an (income, sex) one is
right, whichever order either lists its categories in, and adding tables whose categories differ is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.category_order import arranged, same_order
from deniable.core.data_frames import as_frame
from deniable.core.distance import distance_between
from deniable.core.domain import Category, Domain
from deniable.core.input_coercion import attributes_told, by_cell
from deniable.core.provenance import PEOPLE, Origin
from deniable.core.results import axes, backend_of, frame_of
from deniable.core.summary import Shown, Summary, beside, stamped_columns
from deniable.errors import DesignError, InputError
from deniable.frozen import Frozen, fix
from deniable.plotting import LIGHT
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from deniable.core.data_frames import People
    from deniable.core.distance import Distance
    from deniable.core.input_coercion import Cells
    from deniable.core.results import Frame


@dataclass(frozen=True, eq=False)
class Table(Shown, Frozen):
    """Values over the cells of a domain.

    >>> table = Table(Domain({"sex": ["F", "M"], "smokes": ["no", "yes"]}), [[4, 0], [2, 4]])
    >>> print(table.project("smokes").normalize())
    smokes   value
    no      0.6000
    yes     0.4000
    >>> table.at(sex="M", smokes="yes")
    4.0
    """

    domain: Domain
    values: NDArray[np.float64]
    backend: str | None = None  # the data frame library the data came in, which `to_frame` answers in
    origin: Origin = PEOPLE  # of the reports that it was estimated from: simulated, or a pilot's

    def __init__(
        self,
        domain: Domain | Mapping[str, Iterable[Category]],
        values: Cells,
        backend: str | None = None,
        origin: Origin = PEOPLE,
    ) -> None:
        """Take a domain and an array of its shape (or a flat one with as many cells).

        What has labels (a series, a crosstab, a mapping from category to value) is read by them; a cell that is not in
        it has the value 0, as in counts.
        """
        known = domain if isinstance(domain, Domain) else Domain(domain)
        fix(self, domain=known, values=by_cell(values, known, "a table's values", absent=0.0), backend=backend)
        fix(self, origin=origin)

    @classmethod
    def count(cls, frame: People, domain: Domain) -> Table:
        """Count a data frame's records by cell; columns by name will do, too."""
        frame = as_frame(frame, domain.names)
        return cls(domain, tally(domain.encode(frame), domain.shape), backend_of(frame))

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the axes."""
        return self.domain.names

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of categories along each axis."""
        return self.domain.shape

    @property
    def total(self) -> float:
        """Sum over all cells."""
        return float(self.values.sum())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001 - as NumPy calls it
        return np.array(self.values, dtype=dtype, copy=copy)

    def _of(self, domain: Domain, values: NDArray[np.float64]) -> Table:
        return Table(domain, values, self.backend, self.origin)

    def coming_from(self, origin: Origin) -> Table:
        """The same numbers, of reports of which this is known."""
        return self if origin == self.origin else Table(self.domain, self.values, self.backend, origin)

    def project(self, attributes: str | Iterable[str]) -> Table:
        """Sum out every attribute that is not named; the axes follow the order of the names."""
        domain = self.domain.project(attributes)
        axes = self.domain.axes(domain)
        others = tuple(axis for axis in range(len(self.domain)) if axis not in axes)
        summed = self.values.sum(axis=others)
        # After summing, the kept axes stand in the table's order; put them into the order asked for.
        return self._of(domain, np.transpose(summed, np.argsort(np.argsort(axes)).tolist()))

    def normalize(self) -> Table:
        """Divide by the total, so that the cells sum to one."""
        if not self.total > 0:
            raise InputError(f"a table with total {self.total} cannot be normalized")
        return self._of(self.domain, self.values / self.total)

    def at(self, **where: Category) -> float:
        """Read one cell by its categories."""
        if set(where) != set(self.domain):
            raise InputError(f"name a category for each of {listed(self.domain)}; got {listed(where)}")
        codes = tuple(variable.code(where[variable.name]) for variable in self.domain.values())
        return float(self.values[codes])

    def in_order_of(self, domain: Domain) -> Table:
        """The same table with the categories of each attribute in the order that another domain lists them in.

        Attributes that the domain does not have stay as they are; those it has with other categories are refused.
        """
        if all(same_order(v, domain[name]) for name, v in self.domain.items() if name in domain):
            return self
        wanted = Domain([domain.get(name, v) for name, v in self.domain.items()])
        return self._of(wanted, arranged(self.values, self.domain, wanted))

    def expand(self, domain: Domain) -> NDArray[np.float64]:
        """View the values with the axes of a larger domain, length 1 where the table has no such axis.

        Categories are matched by name, whatever their order.
        """
        values = arranged(self.values, self.domain, domain.project([name for name in domain if name in self.domain]))
        return values.reshape([len(v) if v.name in self.domain else 1 for v in domain.values()])

    def _combine(self, other: Table | float, operation: np.ufunc) -> Table:
        if not isinstance(other, Table):
            return self._of(self.domain, operation(self.values, float(other)))
        domain = Domain([*self.domain.values(), *(v for n, v in other.domain.items() if n not in self.domain)])
        left, right = self.expand(domain), other.expand(domain)
        made = self._of(domain, np.broadcast_to(operation(left, right), domain.shape))
        return made.coming_from(self.origin or other.origin)

    def __mul__(self, other: Table | float) -> Table:
        """Multiply cell by cell; attributes that only one table has make the product larger."""
        return self._combine(other, np.multiply)

    __rmul__ = __mul__

    def _aligned(self, other: Table | float, operation: np.ufunc) -> Table:
        if isinstance(other, Table):
            self._refuse_other_attributes(other)
        return self._combine(other, operation)

    def _refuse_other_attributes(self, other: Table) -> None:
        if set(other.domain) != set(self.domain):
            raise DesignError(
                f"tables over {listed(self.domain)} and {listed(other.domain)} do not have the same attributes; "
                f"project them first"
            )

    def __add__(self, other: Table | float) -> Table:
        return self._aligned(other, np.add)

    def __sub__(self, other: Table | float) -> Table:
        return self._aligned(other, np.subtract)

    def __truediv__(self, other: float) -> Table:
        return self._aligned(other, np.true_divide)

    def allclose(self, other: Table, atol: float = 1e-9) -> bool:
        """Tell whether two tables hold the same numbers, axes matched by name."""
        return bool(np.abs((self - other).values).max() <= atol)

    def distance(self, other: Table | Cells, kind: Distance = "tv") -> float:
        """How far this table is from another of the same attributes, axes and categories matched by name.

        Args:
            other: the table that it is compared with, or numbers by category; for `"chi2"`, what is expected.
            kind: `"tv"` (total variation), `"js"` (Jensen-Shannon) and `"hellinger"` compare shares, whatever the
                totals; `"l2"` (Euclidean), `"ese"` (its square), `"mse"`, `"mae"` and `"chi2"` (Pearson's) the values.

        >>> Table({"a": [0, 1]}, [60, 40]).distance(Table({"a": [1, 0]}, [0.7, 0.3]))
        0.3
        """
        there = as_table(other, self.domain, "the other table")
        self._refuse_other_attributes(there)
        return distance_between(self.values, there.expand(self.domain), kind)

    def cells(self) -> dict[str, list[Category]]:
        """List the categories of every cell, a column an attribute, in the order of `values.ravel()`."""
        codes = np.indices(self.shape).reshape(len(self.domain), -1)
        return {
            variable.name: [variable.categories[code] for code in codes[axis]]
            for axis, variable in enumerate(self.domain.values())
        }

    def to_frame(self) -> Frame:
        """Write the table as a data frame with a column an attribute and one of values."""
        columns = beside(self.cells(), {"value": self.values.ravel()})
        return frame_of(stamped_columns(columns, word=self.origin.stamp), self.backend)

    def summary(self) -> Summary:
        """The table, a row a cell."""
        columns = beside(self.cells(), {"value": self.values.ravel().tolist()})
        return Summary(columns, self.origin.note, stamp=self.origin.stamp)

    def __repr__(self) -> str:
        return f"Table({' x '.join(self.attributes)}: {self.values.size} cells, total {self.total:g})"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the table: bars for one attribute, a heat map for two, labelled bars for more."""
        ax = axes(ax, rows=None if len(self.domain) == 2 else self.domain.cells)
        if len(self.domain) == 2:
            rows, columns = self.domain.values()
            image = ax.imshow(self.values, aspect="auto", cmap="Blues")
            ax.set_xticks(range(len(columns)), [str(c) for c in columns.categories], parse_math=False)
            ax.set_yticks(range(len(rows)), [str(c) for c in rows.categories], parse_math=False)
            ax.set_xlabel(columns.name)
            ax.set_ylabel(rows.name)
            depths = np.asarray(image.norm(self.values))
            for (row, column), value in np.ndenumerate(self.values):
                ax.text(
                    column,
                    row,
                    f"{value:.3g}",
                    ha="center",
                    va="center",
                    color="white" if depths[row, column] > 0.6 else "black",
                )
            return ax
        labels = [", ".join(str(part) for part in cell) for cell in zip(*self.cells().values(), strict=True)]
        ax.barh(range(len(labels)), self.values.ravel(), color=LIGHT)
        ax.set_yticks(range(len(labels)), labels, parse_math=False)
        ax.invert_yaxis()
        ax.set_ylabel(", ".join(self.attributes))
        ax.set_xlabel("value")
        return ax


def as_table(given: Any, domain: Domain, what: str) -> Table:
    """A table about attributes of a domain, categories in its order: out of a table, or of numbers with labels.

    Numbers without labels are over the whole domain, in its order.
    """
    if isinstance(given, Table):
        return given.in_order_of(domain)
    names = attributes_told(given, domain) or list(domain)
    part = domain.project(names)
    return Table(part, by_cell(given, part, what, absent=0.0))


def as_population(given: Any, domain: Domain) -> Table:
    """The shares of a population, out of a table or of numbers with labels; negative ones are refused."""
    share = as_table(given, domain, "the population").normalize()
    if (share.values < 0).any():
        raise InputError("a table with negative cells is not a population; project it to the simplex first")
    return share


def tally(codes: NDArray[np.integer], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Count the rows of a code matrix by cell: one pass, one integer key a row."""
    cells = int(np.prod(shape))
    # Widen before packing: the product of small integers overflows their own type.
    dtype = np.min_scalar_type(max(cells - 1, 1))
    key = codes[:, 0].astype(dtype)
    for position in range(1, len(shape)):
        key *= dtype.type(shape[position])
        key += codes[:, position].astype(dtype, copy=False)
    return np.bincount(key, minlength=cells).reshape(shape)


def summed(values: NDArray[np.float64], domain: Domain, part: Domain) -> NDArray[np.float64]:
    """Sum an array over the cells of `domain` down to those of `part`; axes behind the cells are carried along.

    What `Table.project` does for one table, this does for a whole batch of them.
    """
    axes = domain.axes(part)
    others = tuple(axis for axis in range(len(domain)) if axis not in axes)
    behind = range(len(axes), values.ndim - len(others))
    return np.transpose(values.sum(axis=others), [*np.argsort(np.argsort(axes)).tolist(), *behind])


def spread(values: NDArray[np.float64], part: Domain, domain: Domain) -> NDArray[np.float64]:
    """View an array over the cells of `part` with the axes of a larger `domain`: the transpose of `summed`."""
    order = [part.names.index(name) for name in domain if name in part]
    behind = values.shape[len(part) :]
    ordered = np.transpose(values, [*order, *range(len(part), values.ndim)])
    return ordered.reshape([len(v) if v.name in part else 1 for v in domain.values()] + list(behind))


def marginals(table: Table, k: int) -> Iterator[Table]:
    """Project a table to every set of k of its attributes."""
    for attributes in combinations(table.attributes, k):
        yield table.project(attributes)


def product(tables: Sequence[Table]) -> Table:
    """Multiply tables: the joint table if the parts were independent.

    >>> from deniable.core.domain import Domain
    >>> from deniable.core.table import Table
    >>> a, b = Table(Domain({"a": [0, 1]}), [0.25, 0.75]), Table(Domain({"b": [0, 1]}), [0.5, 0.5])
    >>> product([a, b]).values.tolist()
    [[0.125, 0.125], [0.375, 0.375]]
    """
    return reduce(mul, tables)


def independent(table: Table) -> Table:
    """Multiply a table's own one-way marginals: the same margins, no dependence, the same total."""
    total = table.total
    return product(list(marginals(table, 1))) * (total ** (1 - len(table.domain)) if total else 0.0)


def cramers_v(table: Table) -> float:
    """Cramer's V of a two-way table: sqrt(phi^2 / (min(r, c) - 1)), phi^2 = sum (o - e)^2 / e over shares.

    >>> from deniable.core.domain import Domain
    >>> from deniable.core.table import Table
    >>> round(cramers_v(Table(Domain({"a": [0, 1], "b": [0, 1]}), [[4, 0], [2, 4]])), 2)
    0.67
    """
    share = table.normalize()
    expected = independent(share).values
    # A row or column that nobody is in adds nothing to phi^2, and must not add 0/0.
    inside = expected > 0
    phi2 = float((((share.values - expected)[inside]) ** 2 / expected[inside]).sum())
    return (phi2 / (min(table.shape) - 1)) ** 0.5
