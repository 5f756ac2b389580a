"""From what a caller gives as weights=, strata= and clusters= to the sampling they describe.

Columns with one value a respondent, of whatever library they come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from deniable.core.data_frames import refuse_set
from deniable.core.input_coercion import by_row
from deniable.designs.reports.reports import Reports
from deniable.errors import InputError, MissingValueError, UnknownAttributeError
from deniable.sampling.sampling import Sampling
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from narwhals.typing import IntoSeries
    from numpy.typing import NDArray

    Column: TypeAlias = Sequence[Any] | NDArray[Any] | IntoSeries  # one value a respondent

    Given = str | Column | None  # the name of a public column, or one value a respondent
    Weights = str | Column | Sampling | None


def column(values: Any, name: str, rows: int | None = None, index: Any = None) -> NDArray[Any]:
    """Read a column (a list, an array, or a series of any library) as an array; refuse gaps and wrong lengths.

    With `rows`, a series is brought to the respondents' order by its labels; `index` are theirs, if they have any.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    refuse_set(values, name)
    if hasattr(values, "columns"):
        told = f"{name}: expected one value a respondent, not a frame: hand in one of its columns"
        raise InputError(told, column=name)
    if rows is not None:
        values = by_row(values, index, name)
    try:
        arrow = values.to_arrow() if hasattr(values, "to_arrow") else values
        if not isinstance(arrow, pa.Array | pa.ChunkedArray):
            arrow = pa.array(arrow, from_pandas=True)
    except (TypeError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:  # ArrowTypeError is a TypeError
        raise InputError(f"{name}: expected a list, array or series with one value a respondent ({error})") from None
    if pa.types.is_dictionary(arrow.type):
        arrow = arrow.cast(arrow.type.value_type)
    if pa.types.is_nested(arrow.type):
        raise InputError(f"{name}: expected one value a respondent, not {arrow.type}")
    gaps = arrow.null_count + (pc.sum(pc.is_nan(arrow)).as_py() or 0 if pa.types.is_floating(arrow.type) else 0)
    if gaps:
        raise MissingValueError(
            f"{name}: {gaps} of {len(arrow)} values are missing. Drop these rows, or give gaps a category of their own",
            rows=gaps,
        )
    if rows is not None and len(arrow) != rows:
        raise InputError(f"{name} must hold one value for each of the {rows} reports, not {len(arrow)}", column=name)
    return np.asarray(arrow.to_numpy(**({} if isinstance(arrow, pa.ChunkedArray) else {"zero_copy_only": False})))


def numbered(values: NDArray[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """The different values of a column in order, and each row's position among them."""
    different, codes = np.unique(values, return_inverse=True)
    return different.tolist(), codes.reshape(-1)


def sampling_of(reports: Any, weights: Weights, strata: Given = None, clusters: Given = None) -> Sampling | None:
    """The sampling of some reports; None where nothing is given.

    Args:
        reports: what respondents sent, or a list of it.
        weights: one a respondent, the name of a public column, or what `rake` and `replicate_weights` return. Of this
            and what follows, a pandas series is brought to the order of the reports by its index, if both have one.
        strata: each respondent's stratum, or the name of a public column.
        clusters: each respondent's cluster (primary sampling unit), or the name of a public column.
    """
    if weights is None and strata is None and clusters is None:
        return None
    sources = one_by_one(reports)
    n = sum(source.n for source in sources)
    return sampling_by_columns(n, lambda given, what: named(given, sources, what, n), weights, strata, clusters)


def sampling_by_columns(
    n: int, read: Callable[[Any, str], NDArray[Any]], weights: Any, strata: Any, clusters: Any
) -> Sampling | None:
    """The sampling of n respondents; None where nothing is given. `read` makes an array of what is given, and its name.

    What `rake` and `replicate_weights` return is a sampling already.
    """
    told = (("weights", weights), ("strata", strata), ("clusters", clusters))
    given = {what: part for what, part in told if part is not None}
    if not given:
        return None
    if not isinstance(weights, Sampling):
        return sampling(n, **{what: read(part, what) for what, part in given.items()})
    if len(given) > 1:
        raise InputError(
            "these weights know strata and clusters already; give strata= and clusters= where the weights are made, to "
            "rake()"
        )
    if weights.n != n:
        raise InputError(f"these weights are of {weights.n} respondents, the reports of {n}", rows=n)
    return weights


def sampling_by(reports: Reports, by: str, whole: Sampling) -> Iterator[tuple[Any, Sampling]]:
    """The values of a public column, and the sampling that looks at those who have each of them."""
    values, place = numbered(named(by, [reports], "by", reports.n))
    for code, value in enumerate(values):
        yield value, whole.only(place == code)


def sampling(
    n: int,
    weights: NDArray[Any] | None = None,
    strata: NDArray[Any] | None = None,
    clusters: NDArray[Any] | None = None,
) -> Sampling:
    """The sampling of n respondents out of arrays that were read."""
    told = tuple(
        name for name, part in (("weights", weights), ("strata", strata), ("clusters", clusters)) if part is not None
    )
    stratum = np.zeros(n, dtype=np.int64) if strata is None else numbered(strata)[1]
    cluster = np.arange(n) if clusters is None else nested(clusters, stratum)
    return Sampling(np.ones(n) if weights is None else positive(weights), stratum, cluster, told)


def positive(weights: NDArray[Any]) -> NDArray[np.float64]:
    """Weights as numbers, checked."""
    numbers = weights.dtype.kind in "iuf"
    if not numbers or (weights < 0).any() or not np.isfinite(weights.astype(np.float64)).all() or not weights.any():
        raise InputError("weights must be numbers from 0 upwards, not all of them zero")
    return weights.astype(np.float64)


def named(given: Any, sources: Sequence[Reports], what: str, n: int) -> NDArray[Any]:
    """One value a respondent: as given, or out of the public columns of that name."""
    if not isinstance(given, str):
        return column(given, what, n, index_of(sources))
    parts = []
    for source in sources:
        have = [] if source.public is None else source.public.columns
        if given not in have:
            raise UnknownAttributeError(
                f"{what}: there is no public column {given!r} among the reports; they have {listed(have) or 'none'}. "
                f"Let it ride along with randomize(frame, keep=[{given!r}]), or give one value a respondent",
                attribute=given,
            )
        parts.append(column(source.public[given].to_arrow(), given, source.n))
    return np.concatenate(parts)


def index_of(sources: Sequence[Reports]) -> range | NDArray[Any] | None:
    """The labels of all rows of several reports; None where some have none."""
    if any(source.index is None for source in sources):
        return None
    return sources[0].index if len(sources) == 1 else np.concatenate([source.index for source in sources])


def one_by_one(reports: Any) -> Sequence[Reports]:
    """The reports, if they are there one by one; counts have no respondents to weight."""
    sources = [reports] if isinstance(reports, Reports) or not isinstance(reports, list | tuple) else list(reports)
    for source in sources:
        if not isinstance(source, Reports):
            raise InputError(
                f"weights, strata and clusters belong to respondents; {type(source).__name__} holds counts, which have "
                f"none. Give the reports themselves, or counts that are weighted already and no errors from them"
            )
        if source.design.correlated:
            raise InputError(
                f"{type(source.design).__name__} {source.design.correlated}: such reports cannot be weighted one by "
                f"one. Use an Independent design for a weighted survey, or estimate without weights"
            )
    return sources


def nested(clusters: NDArray[Any], stratum: NDArray[np.int64]) -> NDArray[np.int64]:
    """Clusters numbered from 0, each of them in one stratum."""
    names, cluster = numbered(clusters)
    first = np.zeros(len(names), dtype=np.int64)
    first[cluster] = stratum
    split = np.unique(cluster[first[cluster] != stratum])
    if len(split):
        raise InputError(
            f"clusters {listed(names[c] for c in split)} lie in more than one stratum; a cluster belongs to one. "
            f"Number clusters anew in each stratum",
            clusters=len(split),
        )
    return cluster
