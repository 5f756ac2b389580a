"""Names, categories and codes: what can be asked, and how an answer becomes a small integer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from math import isfinite, prod
from typing import TYPE_CHECKING, Any

from deniable.core.arrow_values import as_arrow, as_numpy, chunks_of, kind_of, missing_in
from deniable.core.bins import are_edges, bin_names, edges_told
from deniable.core.data_frames import as_frame, without_views
from deniable.core.reserved_names import RESERVED, is_reserved
from deniable.errors import (
    DesignError,
    MissingColumnError,
    MissingValueError,
    UnknownAttributeError,
    UnknownCategoryError,
)
from deniable.frozen import Frozen, fix
from deniable.text import lacking, listed

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from deniable.core.data_frames import People

Category = str | int | float | bool
_WIDEST = 1 << 16  # whole numbers that are looked up in a table: so far apart at most


@dataclass(frozen=True)
class Variable:
    """An attribute: its name and its categories in order. A category's code is its position.

    >>> Variable("smokes", ("no", "yes")).code("yes")
    1

    Whole numbers beside decimals are decimals:

    >>> Variable("doses", (0, 1.5, 3)).categories
    (0.0, 1.5, 3.0)

    Of categories that are bins, a column of numbers is taken, too:

    >>> Variable("age", ("< 18", "18 to < 65", ">= 65")).encode([17.5, 18, 90]).tolist()
    [0, 1, 2]
    """

    name: str
    categories: tuple[Category, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", tuple(self.categories))
        if not self.name or type(self.name) is not str:
            raise DesignError(f"an attribute's name must be a non-empty text, not {self.name!r}", name=self.name)
        if is_reserved(self.name):
            raise DesignError(
                f"attribute {self.name!r}: names that begin with {RESERVED!r} are kept for the columns of reports "
                f"themselves; give it another name",
                name=self.name,
            )
        if len(self.categories) < 2:
            raise DesignError(
                f"attribute {self.name!r} has {len(self.categories)} categories; at least two are needed to hide one "
                f"among the others",
                attribute=self.name,
            )
        kinds = {type(category) for category in self.categories}
        if float in kinds and not all(isfinite(c) for c in self.categories if isinstance(c, float)):
            raise DesignError(
                f"the categories of {self.name!r} are finite numbers, not {listed(self.categories)}; what is not a "
                f"number is a text, and so are all the others",
                attribute=self.name,
            )
        if kinds == {int, float}:
            object.__setattr__(self, "categories", _decimals(self.name, self.categories))
            kinds = {float}
        if len(kinds) != 1 or not kinds <= {str, int, float, bool}:
            raise DesignError(
                f"the categories of {self.name!r} must be all texts, all numbers or all true/false, not "
                f"{listed(self.categories)}; write each of them as a text, such as {str(self.categories[0])!r}",
                attribute=self.name,
            )
        if len(set(self.categories)) != len(self.categories):
            twice = sorted({str(c) for c in self.categories if self.categories.count(c) > 1})
            raise DesignError(f"attribute {self.name!r} lists {listed(twice)} more than once", attribute=self.name)

    def __len__(self) -> int:
        return len(self.categories)

    @cached_property
    def _codes(self) -> dict[Category, int]:
        return {category: code for code, category in enumerate(self.categories)}

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """Where the bins that the categories begin with begin and end; empty where they are no bins."""
        return tuple(edges_told(self.categories))

    def code(self, category: Category) -> int:
        """Look a category's code up."""
        try:
            return self._codes[category]
        except (KeyError, TypeError):
            raise UnknownCategoryError(
                f"attribute {self.name!r} has no category {category!r}; it has {listed(self.categories)}",
                attribute=self.name,
                value=category,
            ) from None

    def encode(self, values: Any, before: int = 0) -> NDArray[np.integer]:
        """Turn a column (a narwhals series, or anything pyarrow can take) into codes.

        A missing value or an unknown category is refused with how many there are and the row of the first, never
        dropped. The message quotes no value: it may be the true answer of a person whose row cannot be disguised.
        `before` is how many rows were read before these.
        """
        # Not at the top: a respondent's device encodes one answer with `code` and does without pyarrow.
        import numpy as np
        import pyarrow as pa

        column = without_views(as_arrow(self.name, self.categories, values))
        looked_up = self._looked_up(column)
        if looked_up is not None:
            return looked_up
        if not len(column):
            return np.empty(0, np.min_scalar_type(len(self) - 1))
        missing = np.concatenate([missing_in(chunk) for chunk in chunks_of(column)])
        if missing.any():
            raise MissingValueError(
                f"column {self.name!r} has {missing.sum()} missing values in {len(column)} rows, the first in row "
                f"{missing.argmax() + 1}. A skipped answer must be disguised like any other: declare a category for it "
                f'(say "prefer not to say") and fill it in',
                attribute=self.name,
                rows=int(missing.sum()),
                first=before + int(missing.argmax()),
            )
        codes = np.concatenate([self._found(chunk) for chunk in chunks_of(column)])
        strange = codes < 0
        if strange.any():
            kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
            raise UnknownCategoryError(
                f"column {self.name!r} holds {kind} values that are not among its categories "
                f"{listed(self.categories)}: in {strange.sum()} of {len(column)} rows, the first in row "
                f"{before + strange.argmax() + 1}. Add the category to the domain, or recode the column. Which they "
                f"are is not said here, because messages end up in logs",
                attribute=self.name,
                rows=int(strange.sum()),
                first=before + int(strange.argmax()),
            )
        return codes.astype(np.min_scalar_type(len(self) - 1))

    def _found(self, column: pa.Array) -> NDArray[np.int64]:
        """The code of every value, -1 where it has none. A dictionary is looked up once, and not spelt out."""
        import numpy as np
        import pyarrow as pa

        if pa.types.is_dictionary(column.type):
            known = np.append(self._found(column.dictionary), -1)
            return known[as_numpy(column.indices.fill_null(len(column.dictionary)))]
        codes = None
        if self.edges and (kind_of(column.type) == "number" or pa.types.is_decimal(column.type)):
            codes = self._bins(column)
        else:
            # A cast that would lose something (1.5 to a whole number) fails, and then nothing matches.
            with suppress(pa.ArrowInvalid):
                codes = self._places(column)
        return np.full(len(column), -1) if codes is None else as_numpy(codes.fill_null(-1)).astype(np.int64)

    def _places(self, column: pa.Array | pa.ChunkedArray) -> pa.Array | None:
        """The place of every value among the categories; None where its type is of another kind."""
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = pa.array(self.categories)
        if kind_of(wanted.type) != kind_of(column.type):
            return None
        if pa.types.is_floating(wanted.type) and pa.types.is_integer(column.type):
            # 3 is among 0.0, 1.5, 3.0 also where nobody says 1.5, and the column has whole numbers only.
            column = column.cast(wanted.type)
        return pc.index_in(column, value_set=wanted.cast(column.type))

    def _bins(self, column: pa.Array | pa.ChunkedArray) -> pa.Array:
        """The bin of every number; nothing where a number is in none."""
        import numpy as np
        import pyarrow as pa

        places = (
            np.searchsorted(np.array(self.edges), as_numpy(column.cast(pa.float64(), safe=False)), side="right") - 1
        )
        outside = (places < 0) | (places >= len(self.edges) - 1)
        # Nothing is above an edge that is infinite, but infinity itself.
        return pa.array(places, mask=outside)

    def _looked_up(self, column: pa.Array | pa.ChunkedArray) -> NDArray[np.integer] | None:
        """Codes by a table with a place for every different value, where there are few: a text is compared once.

        None where that cannot be done, or something is missing or unknown: the general way tells what.
        """
        import numpy as np
        import pyarrow as pa

        if column.null_count or not len(column):
            return None
        if isinstance(column, pa.ChunkedArray):
            # Each chunk has a dictionary of its own.
            parts = [self._looked_up(chunk) for chunk in column.chunks if len(chunk)]
            known = [part for part in parts if part is not None]
            return np.concatenate(known) if len(known) == len(parts) else None
        if pa.types.is_dictionary(column.type):
            found = self._by_text(column)
        elif pa.types.is_integer(column.type):
            found = self._by_number(as_numpy(column))
        else:
            return None
        return None if found is None or found.min() < 0 else found.astype(np.min_scalar_type(len(self) - 1), copy=False)

    def _by_text(self, column: pa.DictionaryArray) -> NDArray[np.integer] | None:
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted, known = pa.array(self.categories), column.dictionary
        if not pa.types.is_string(wanted.type) or kind_of(known.type) != "text" or known.null_count:
            return None
        places = pc.index_in(known.cast(wanted.type), value_set=wanted).fill_null(-1)
        return as_numpy(places).astype(np.min_scalar_type(-len(self)))[as_numpy(column.indices)]

    def _by_number(self, numbers: NDArray[np.integer]) -> NDArray[np.integer] | None:
        import numpy as np

        if type(self.categories[0]) is not int:
            return None
        categories = np.array(self.categories)
        low, high = int(categories.min()), int(categories.max())
        if high - low >= _WIDEST or int(numbers.min()) < low or int(numbers.max()) > high:
            return None
        places = np.full(high - low + 1, -1, dtype=np.min_scalar_type(-len(self)))
        places[categories - low] = np.arange(len(self))
        return places[numbers.astype(np.int64) - low if low else numbers]


def _decimals(name: str, numbers: tuple[Any, ...]) -> tuple[float, ...]:
    """Whole numbers beside decimals as decimals: what is written of them is read back the same."""
    coarse = [number for number in numbers if not _is_decimal(number)]
    if coarse:
        raise DesignError(
            f"the categories of {name!r} are decimals, and {listed(coarse)} cannot be written as one exactly; write "
            f"each of them as a text",
            attribute=name,
        )
    return tuple(float(number) for number in numbers)


def _is_decimal(number: float) -> bool:
    try:
        return float(number) == number
    except OverflowError:
        return False


def _categories(name: str, given: Any) -> tuple[Any, ...]:
    if isinstance(given, Mapping) and "bins" in given:
        return _bins(name, given)
    if isinstance(given, set | frozenset):
        raise DesignError(
            f"the categories of {name!r} are in order, which a set is not: write them as a list, such as "
            f"{{{name!r}: {sorted(map(str, given))}}}",
            attribute=name,
        )
    if isinstance(given, str):
        raise DesignError(
            f"the categories of {name!r} are a list, not a text whose letters would be taken for them: write "
            f"{{{name!r}: {[part.strip() for part in given.split(',')]}}}",
            attribute=name,
        )
    try:
        # NumPy's numbers are taken for the ones that they are.
        return tuple(each.item() if hasattr(each, "dtype") else each for each in given)
    except TypeError:
        raise DesignError(
            f'the categories of {name!r} are a list, such as ["no", "yes"], not {given!r}', attribute=name
        ) from None


def _bins(name: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    edges, others = given["bins"], [key for key in given if key != "bins"]
    if others or not are_edges(edges):
        found = f"beside bins there is {listed(others)}" if others else f"found {edges!r}"
        raise DesignError(
            f"the bins of {name!r} are given by the edges between them, finite numbers in rising order, and nothing "
            f"else, such as bins = [18, 30, 65]; {found}",
            attribute=name,
        )
    return tuple(bin_names(edges))


def _variables(given: Any) -> list[Variable]:
    told = 'a domain is attributes with their categories, such as {"smokes": ["no", "yes"]}'
    if hasattr(given, "columns"):
        raise DesignError(
            f"{told}; a data frame's values are not taken for them, because that somebody has a value would then be "
            f"known. Write the categories down"
        )
    try:
        listing = list(given)
    except TypeError:
        raise DesignError(f"{told}, not {given!r}") from None
    strange = [each for each in listing if not isinstance(each, Variable)]
    if strange:
        raise DesignError(f"{told}, not a list with {strange[0]!r} in it")
    return listing


class Domain(Frozen, Mapping[str, Variable]):
    """The attributes that can be asked, in order, each with its categories.

    >>> domain = Domain({"sex": ["F", "M"], "income": ["<=50K", ">50K"]})
    >>> domain.shape, domain.cells
    ((2, 2), 4)
    >>> domain.project(["income"])
    Domain(income: '<=50K', '>50K')
    >>> Domain({"age": {"bins": [18, 65]}})["age"].categories  # numbers are disguised in bins
    ('< 18', '18 to < 65', '>= 65')
    """

    _variables: Mapping[str, Variable]

    def __init__(self, variables: Mapping[str, Iterable[Category]] | Iterable[Variable]) -> None:
        """Take a mapping of names to categories, or a list of variables."""
        if isinstance(variables, Domain):
            listing = list(variables.values())
        elif isinstance(variables, Mapping):
            listing = [Variable(name, _categories(name, given)) for name, given in variables.items()]
        else:
            listing = _variables(variables)
        fix(self, _variables={variable.name: variable for variable in listing})
        if not self._variables:
            raise DesignError("a domain needs at least one attribute")
        if len(self._variables) != len(listing):
            raise DesignError(f"attribute names must differ: {listed(v.name for v in listing)}")

    def _given(self) -> dict[str, Any]:
        return {"variables": tuple(self.values())}

    def __getitem__(self, name: str) -> Variable:
        try:
            return self._variables[name]
        except KeyError:
            parts = [part.strip() for part in str(name).split(",")]
            several = f"; several are a list: {parts}" if len(parts) > 1 and set(parts) <= set(self._variables) else ""
            near = [] if several else get_close_matches(str(name), self._variables, 1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise UnknownAttributeError(
                f"there is no attribute {name!r}; the domain has {listed(self._variables)}{several}{meant}",
                attribute=name,
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self._variables

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __eq__(self, other: object) -> bool:
        # In order: two domains that differ in the order of attributes have differently shaped tables.
        return isinstance(other, Domain) and tuple(self.values()) == tuple(other.values())

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(self._variables.values()))

    def __repr__(self) -> str:
        return f"Domain({'; '.join(f'{v.name}: {listed(v.categories)}' for v in self.values())})"

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names in order."""
        return tuple(self._variables)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of categories of each attribute."""
        return tuple(len(variable) for variable in self._variables.values())

    @cached_property
    def cells(self) -> int:
        """The number of cells of the full table."""
        return prod(self.shape)

    def project(self, names: str | Iterable[str]) -> Domain:
        """Keep the named attributes, in the order they are named."""
        wanted = [names] if isinstance(names, str) else list(names)
        if len(set(wanted)) != len(wanted):
            raise DesignError(f"an attribute is named twice in {listed(wanted)}")
        return Domain([self[name] for name in wanted])

    def axes(self, names: Iterable[str]) -> tuple[int, ...]:
        """Positions of the named attributes."""
        return tuple(self.names.index(self[name].name) for name in names)

    def encode(self, frame: People) -> NDArray[np.integer]:
        """Turn a data frame's columns into a matrix of codes, one row a record, attributes in the domain's order.

        Any frame that narwhals knows will do (pandas, polars, pyarrow, ...), and columns by name. Columns outside the
        domain are ignored.
        """
        import narwhals as nw
        import numpy as np

        known: Any = nw.from_native(as_frame(frame, self.names), eager_only=True)
        missing = [name for name in self if name not in known.columns]
        if missing:
            raise MissingColumnError(
                f"the frame has {lacking(missing, known.columns)}. Rename the columns, or project the domain to the "
                f"attributes you have",
                columns=missing,
            )
        codes = np.empty((len(known), len(self)), dtype=np.min_scalar_type(max(self.shape) - 1), order="F")
        for position, variable in enumerate(self.values()):
            codes[:, position] = variable.encode(known[variable.name])
        return codes

    def decode(self, codes: NDArray[np.integer]) -> dict[str, pa.Array]:
        """Turn a matrix of codes back into columns of categories."""
        import pyarrow as pa

        return {
            variable.name: pa.array(variable.categories).take(pa.array(codes[:, position].astype("int64")))
            for position, variable in enumerate(self.values())
        }
