"""Labelled input: what carries labels is matched by them; position counts only for what has none.

Labels are those of a pandas series, of a crosstab's rows and columns, of a tidy frame's columns (of any library), of an
xarray, of a table of ours, and the keys of a mapping. Without labels are arrays, lists, series of polars and pyarrow,
and whatever pandas numbered from 0 by itself, unless categories are whole numbers: then 0, 1, 2 are labels too.

1, "1" and True are three different labels; 1 and 1.0 are one. A set has neither labels nor an order, and is refused.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from deniable.core.category_order import arranged
from deniable.core.data_frames import refuse_set
from deniable.core.domain import Domain
from deniable.errors import InputError, MissingColumnError, UnknownCategoryError
from deniable.frozen import readonly
from deniable.text import listed

if TYPE_CHECKING:
    from typing import TypeAlias

    from narwhals.typing import IntoDataFrame, IntoSeries
    from numpy.typing import ArrayLike, NDArray

    from deniable.core.domain import Variable

    # Numbers for cells: by position, or by labels.
    Cells: TypeAlias = ArrayLike | Mapping[Any, Any] | IntoSeries | IntoDataFrame


T = TypeVar("T")

_PLAIN = (np.ndarray, list, tuple, range, str, int, float, type(None))  # without labels, at a glance


@dataclass(frozen=True)
class _Labelled:
    """Values with the labels of each; `names` say whose labels they are, where somebody wrote that down."""

    names: tuple[Any, ...]
    cells: Sequence[tuple[Any, ...]]
    values: Sequence[Any]


def by_cell(values: Any, domain: Domain, what: str, *, absent: float | None = None) -> NDArray[np.float64]:
    """Numbers for the cells of a domain, in its order and shape.

    Args:
        values: whatever somebody has them in.
        domain: whose cells they are of.
        what: what they are, for messages.
        absent: what a cell counts as whose label is missing, such as 0 in counts; by default it is refused.

    >>> from deniable.core.domain import Domain
    >>> by_cell({"yes": 60, "no": 140}, Domain({"smokes": ["no", "yes"]}), "the counts").tolist()
    [140.0, 60.0]
    >>> by_cell([140, 60], Domain({"smokes": ["no", "yes"]}), "the counts").tolist()
    [140.0, 60.0]
    """
    refuse_set(values, what)
    if isinstance(getattr(values, "domain", None), Domain) and hasattr(values, "values"):
        if set(values.domain) != set(domain):
            raise InputError(f"{what}: a table over {listed(values.domain)} was given for {listed(domain)}")
        return arranged(values.values, values.domain, domain)
    labelled = None if isinstance(values, np.ndarray | list) else _labelled(values, domain, what)
    if labelled is None:
        return _by_position(values, domain, what)
    return _placed(labelled, domain, what, absent)


def by_category(values: Any, variable: Variable, what: str, *, absent: float | None = None) -> NDArray[np.float64]:
    """Numbers for the categories of one attribute, in their order."""
    return by_cell(values, Domain([variable]), what, absent=absent).ravel()


def has_labels(values: Any, categories: Sequence[Any]) -> bool:
    """Whether something carries labels that tell its values from each other."""
    import narwhals as nw

    if type(values) in _PLAIN:
        return False
    refuse_set(values, f"numbers for {listed(categories)}")
    own = isinstance(values, Mapping) or isinstance(getattr(values, "domain", None), Domain) or hasattr(values, "dims")
    return own or nw.dependencies.is_into_dataframe(values) or _index_of(values, categories) is not None


def attributes_told(values: Any, domain: Domain) -> list[str]:
    """The attributes of a domain that labels speak of, where they say so themselves; nothing where they do not.

    A series, a crosstab or a frame says it by the names of its levels or columns; where there is only one attribute,
    labels need no name.
    """
    import narwhals as nw

    if isinstance(values, Mapping | Domain) or not hasattr(values, "__len__"):
        return []
    if hasattr(values, "dims") and hasattr(values, "coords"):
        names = list(values.dims)
    elif nw.dependencies.is_into_dataframe(values):
        frame: Any = nw.from_native(values, eager_only=True)
        index = _index(values)
        names = [*frame.columns, *([] if index is None else [*index.names, *values.columns.names])]
    elif (index := _index(values)) is not None:
        names = list(index.names)
    else:
        return []
    found = [name for name in domain if name in names]
    return found or (list(domain) if len(domain) == 1 else [])


def by_label(values: Any, what: str) -> dict[Any, Any]:
    """What stands beside each label: a mapping, or a pandas series by its index; what has no labels is refused.

    >>> by_label({"low": 0.2, "high": 0.7}, "the probabilities of groups")
    {'low': 0.2, 'high': 0.7}
    """
    index = None if isinstance(values, Mapping) or hasattr(values, "columns") else _index(values)
    if index is not None and index.is_unique:
        return dict(zip(index.tolist(), values.tolist(), strict=True))
    if not isinstance(values, Mapping):
        raise InputError(
            f"{what} are a mapping from names, such as {{'low': 0.2, 'high': 0.7}}, or a series with an index of "
            f"names, each once; not {values!r:.80}"
        )
    return dict(values)


def by_named_labels(
    values: Any, what: str, names: Sequence[str] | None = None
) -> tuple[tuple[str, ...], dict[Any, Any]]:
    """What stands beside each label (beside each tuple, of several names), with the names of whose labels these are.

    A crosstab, or a series by its index, says the names itself; `names` are whose they must be, in this order, and
    whose they are where nothing is said.

    >>> by_named_labels({("F", "north"): 30}, "the margin", ("sex", "region"))
    (('sex', 'region'), {('F', 'north'): 30})
    """
    index = None if isinstance(values, Mapping) else _index(values)
    if index is None:
        if names is None:
            raise InputError(f"{what}: nothing says whose labels these are; not {values!r:.80}")
        return tuple(names), by_label(values, what)
    found = _crossed(values, index) if hasattr(values, "columns") else _of_series(values, index)
    unnamed = [f"{axis}_{place}" for axis in ("row", "col") for place in range(len(found.names))]
    told = None if all(name is None or name in unnamed for name in found.names) else found.names
    wanted = names or told
    if wanted is None:
        raise InputError(f"{what}: rows and columns say by their names whose labels these are, and these have none")
    if told is None or len(wanted) == len(told) == 1:
        told = tuple(wanted)
    if set(told) != set(wanted) or len(told) != len(found.names):
        raise InputError(f"{what}: the labels are of {listed(found.names)}, the numbers are wanted of {listed(wanted)}")
    order = [told.index(name) for name in wanted]
    cells = [tuple(cell[at] for at in order) for cell in found.cells]
    if len(set(cells)) < len(cells):
        raise InputError(f"{what}: some labels stand there twice")
    keys = [cell[0] for cell in cells] if len(wanted) == 1 else cells
    return tuple(wanted), dict(zip(keys, found.values, strict=True))


def without_labels(values: T, what: str) -> T:
    """Numbers for things that have an order and no names, such as the truths of a channel: labels other than 0, 1, ...

    are refused, because nobody knows what they would be matched with.
    """
    refuse_set(values, what)
    given: Any = values
    index = _index(given)
    if not isinstance(values, Mapping) and (index is None or _is_numbered(index)):
        return values
    places = {("number", place) for place in range(0 if index is None else len(index))}
    if places and not hasattr(given, "columns") and {label_key(label) for label in index} == places:
        ordered: T = given.sort_index()
        return ordered
    raise InputError(
        f"{what} stand in an order and have no names that labels could be matched with; these have the labels "
        f"{listed(given if index is None else index.tolist())}. Bring them to the order, and hand them in without "
        f"labels, as a list or with .to_numpy()"
    )


def in_order(values: Any, what: str) -> NDArray[np.float64]:
    """Numbers for things that have an order and no names, as an array of whatever shape they have."""
    try:
        return np.asarray(without_labels(values, what), dtype=np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{what} are numbers, not {values!r:.80}") from None


# -- rows --------------------------------------------------------------------------------------------------------------


def row_labels(data: Any) -> range | NDArray[Any] | None:
    """The index of a pandas series or frame, a range where pandas numbered it; None where rows have no labels."""
    index = _index(data)
    if index is None:
        return None
    return range(len(index)) if _is_numbered(index) else readonly(index.to_numpy())


def by_row(values: T, rows: range | NDArray[Any] | None, what: str) -> T:
    """One value a respondent, in the respondents' order.

    A series is brought to it by its labels. It may have more rows than there are respondents; each of these must be in
    it, once.

    Args:
        values: a column, of any library.
        rows: the respondents' labels, as `row_labels` has them; None where they have none.
        what: what the values are, for messages.
    """
    import narwhals as nw

    refuse_set(values, what)
    own = _index(values)
    if own is None or (rows is not None and np.array_equal(own.to_numpy(), np.asarray(rows))):
        return values
    if rows is None:
        # Nothing to compare with: but somebody sorted or drew what was numbered once.
        if _is_numbered(own) or not own.is_unique or set(own.tolist()) != set(range(len(own))):
            return values
        told = "its rows were numbered and are in another order now; the respondents have no labels to bring them to"
    elif isinstance(rows, range) and len(rows) != len(own):
        return values  # of other respondents: its length is refused
    elif len(set(rows)) < len(rows) and _is_numbered(own):
        return values  # several reports, each numbered from 0, and one column for all of them
    elif not own.is_unique or len(set(rows)) < len(rows):
        told = "its index and the respondents' differ, and some labels stand there twice"
    elif (places := own.get_indexer(list(rows))).min(initial=0) >= 0:
        return nw.to_native(values, pass_through=True).iloc[places]
    else:
        told = f"its index lacks {listed(np.asarray(rows)[places < 0].tolist())}, which respondents have"
    raise InputError(
        f"{what}: {told}. Give a column of the same frame, or, if the rows are in the respondents' order, "
        f"their values alone: .to_numpy()"
    )


def _index(data: Any) -> Any:
    """The pandas index of a series or frame; None of everything else."""
    import narwhals as nw

    if type(data) in _PLAIN:
        return None
    native = nw.to_native(data, pass_through=True)
    known = nw.dependencies.is_pandas_like_series(native) or nw.dependencies.is_pandas_like_dataframe(native)
    return native.index if known else None


# -- cells -------------------------------------------------------------------------------------------------------------


def _is_numbered(index: Any) -> bool:
    """Whether these are the numbers that pandas gives to rows by itself."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _index_of(values: Any, categories: Sequence[Any]) -> Any:
    """The labels of a pandas series or frame, if they are any."""
    index = _index(values)
    if index is None or (_is_numbered(index) and not all(type(c) is int for c in categories)):
        return None
    return index


def _labelled(values: Any, domain: Domain, what: str) -> _Labelled | None:
    """The labels of the values; None where they have none."""
    import narwhals as nw

    if isinstance(values, Mapping):
        cells = dict(_flat(values, len(domain)))
        return _Labelled((None,) * len(domain), list(cells), list(cells.values()))
    if hasattr(values, "dims") and hasattr(values, "coords"):
        return _of_dimensions(values, domain)
    if nw.dependencies.is_into_dataframe(values):
        return _of_frame(values, domain, what)
    categories = domain[domain.names[0]].categories if len(domain) == 1 else ()
    index = _index_of(values, categories)
    if index is None:
        return None
    return _of_series(values, index)


def _flat(values: Mapping[Any, Any], depth: int) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """A mapping, or mappings in a mapping, by cell."""
    for label, value in values.items():
        if isinstance(value, Mapping) and depth > 1:
            for rest, one in _flat(value, depth - 1):
                yield (*_cell(label), *rest), one
        else:
            yield _cell(label), value


def _cell(label: Any) -> tuple[Any, ...]:
    return label if isinstance(label, tuple) else (label,)


def _of_dimensions(values: Any, domain: Domain) -> _Labelled:
    """An array with named dimensions; one without coordinates is in the order of its categories."""
    along = [
        values.coords[name].values.tolist()
        if name in values.coords
        else list(domain[name].categories if name in domain else range(size))
        for name, size in zip(values.dims, values.shape, strict=True)
    ]
    return _Labelled(tuple(values.dims), list(product(*along)), np.asarray(values.values).ravel().tolist())


def _of_frame(values: Any, domain: Domain, what: str) -> _Labelled | None:
    """A crosstab, or a frame with a column an attribute and one of values."""
    import narwhals as nw

    frame: Any = nw.from_native(values, eager_only=True)
    named = list(frame.columns) if all(isinstance(name, str) for name in frame.columns) else []
    rest = [name for name in named if name not in domain]
    alone = len(domain) == 1 and len(named) == 2
    if named and (alone or len(named) == len(domain) + 1) and (len(rest) == 1 or alone):
        of = list(domain) if len(rest) == 1 else [named[0]]
        last = rest[-1]
        if alone or len(rest) == 1:
            cells = list(zip(*(frame[name].to_list() for name in of), strict=True))
            return _Labelled(tuple(domain), cells, frame[last].to_list())
    index = _index(values)
    if index is None:
        raise MissingColumnError(
            f"{what}: a frame has a column for each of {listed(domain)} and one of numbers; this one has "
            f"{listed(frame.columns)}",
            columns=[name for name in domain if name not in frame.columns],
        )
    if len(domain) == 1 and len(values.columns) == 1:
        return _labelled(values.iloc[:, 0], domain, what)
    if _is_numbered(index) and _is_numbered(values.columns):
        return None
    return _crossed(values, index)


def _crossed(values: Any, index: Any) -> _Labelled:
    """A crosstab: labels of rows and of columns."""
    cells = [(*_cell(row), *_cell(column)) for row in index.tolist() for column in values.columns.tolist()]
    return _Labelled((*index.names, *values.columns.names), cells, values.to_numpy().ravel().tolist())


def _of_series(values: Any, index: Any) -> _Labelled:
    return _Labelled(tuple(index.names), [_cell(label) for label in index.tolist()], values.tolist())


def _by_position(values: Any, domain: Domain, what: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be numbers in the shape {domain.shape}, not {values!r:.80}") from None
    if array.size != domain.cells or array.shape not in (domain.shape, (domain.cells,)):
        raise InputError(
            f"{what}: over {listed(domain)} there are numbers in the shape {domain.shape}; these have shape "
            f"{array.shape}",
            expected=domain.shape,
            found=array.shape,
        )
    return array.reshape(domain.shape)


def _placed(labelled: _Labelled, domain: Domain, what: str, absent: float | None) -> NDArray[np.float64]:
    """The values in their cells; labels that do not fit are refused."""
    variables = _in_order(labelled, domain, what)
    codes = [{label_key(category): code for code, category in enumerate(v.categories)} for v in variables]
    found = np.full([len(v) for v in variables], np.nan)
    seen = np.zeros(found.shape, dtype=bool)
    for cell, value in zip(labelled.cells, labelled.values, strict=True):
        if len(cell) != len(variables):
            raise InputError(f"{what}: {cell!r} does not name a category for each of {listed(domain)}")
        place = []
        for variable, known, label in zip(variables, codes, cell, strict=True):
            if label_key(label) not in known:
                raise UnknownCategoryError(
                    f"{what}: the label {_plain(label)!r} is no category of {variable.name!r}, which has "
                    f"{listed(variable.categories)}. Rename the labels, or, if the numbers are in this order, hand "
                    f"them in without labels, such as .to_numpy()",
                    attribute=variable.name,
                    value=label,
                )
            place.append(known[label_key(label)])
        if seen[tuple(place)]:
            raise InputError(f"{what}: there are several numbers for {listed(cell)}")
        seen[tuple(place)] = True
        try:
            found[tuple(place)] = np.nan if value is None else float(value)
        except (TypeError, ValueError):
            raise InputError(f"{what}: {value!r} for {listed(cell)} is no number") from None
    if not seen.all():
        if absent is None:
            names = [
                cell
                for cell, there in zip(product(*(v.categories for v in variables)), seen.ravel(), strict=True)
                if not there
            ]
            told = [cell[0] if len(cell) == 1 else cell for cell in names]
            raise InputError(f"{what}: there is no number for {listed(told)}; give one for each of {listed(domain)}")
        found[~seen] = absent
    order = [[v.name for v in variables].index(name) for name in domain]
    return np.transpose(found, order)


def _in_order(labelled: _Labelled, domain: Domain, what: str) -> list[Variable]:
    """Whose labels are where: as their names say; in the domain's order where they have none."""
    variables = list(domain.values())
    names = labelled.names
    if len(names) != len(variables):
        raise InputError(
            f"{what}: labels of {len(names)} kinds ({listed(names)}) were given for {len(variables)} attributes: "
            f"{listed(domain)}"
        )
    unnamed = [f"{axis}_{place}" for axis in ("row", "col") for place in range(len(names))]  # as crosstab calls them
    if len(variables) == 1 or all(name is None or name in unnamed for name in names):
        return variables
    if set(names) != set(domain):
        raise InputError(
            f"{what}: the labels are of {listed(names)}, the numbers are wanted of {listed(domain)}; name rows and "
            f"columns as the attributes are, or leave both without names"
        )
    return [domain[name] for name in names]


def label_key(label: Any) -> Hashable:
    """What equals what among labels: numbers by value, true and false, texts; 1, "1" and True are three."""
    plain = _plain(label)
    kind = "truth" if isinstance(plain, bool) else "number" if isinstance(plain, int | float) else type(plain).__name__
    return kind, plain if isinstance(plain, Hashable) else repr(plain)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
