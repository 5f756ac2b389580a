"""Raking: weights that bring the respondents' public attributes to the margins of the population.

Margins: what is known of the population beforehand, and weights that agree with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.input_coercion import by_named_labels, row_labels
from deniable.core.table import Table
from deniable.errors import ConvergenceError, InputError, UnknownCategoryError
from deniable.frozen import Frozen, readonly
from deniable.numerics.proportional_fitting import proportional_fit
from deniable.sampling.read_sampling import named, numbered, one_by_one, sampling, sampling_of
from deniable.text import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    from collections.abc import Sequence
    from typing import TypeAlias

    from narwhals.typing import IntoDataFrame, IntoSeries

    from deniable.designs.reports.reports import Reports
    from deniable.sampling.read_sampling import Given, Weights
    from deniable.sampling.sampling import Sampling

    Labelled: TypeAlias = Mapping[Any, float] | IntoSeries | IntoDataFrame

_MISFIT = 1e-10  # of a known total: how far the raked one may be off
_ROUNDS = 2000


@dataclass(frozen=True, eq=False)
class Margins(Frozen):
    """Known totals of the population, and which of them every respondent belongs to.

    Attributes:
        cell: each respondent's combination of the values that totals are known of, numbered from 0.
        member: (cells, totals), one where a cell is part of a total, else zero.
        totals: the known totals.
        parts: how many of the totals belong to each margin, one margin after the other.
        names: what the margins are of, in words.
    """

    cell: NDArray[np.int64]
    member: Array
    totals: Array
    parts: tuple[int, ...]
    names: tuple[str, ...]

    def factors(self, weights: Array) -> Array:
        """What the weights of each cell are multiplied with, for weights of the cells (cells, replicates).

        Iterative proportional fitting (Deming & Stephan 1940): each margin is met in turn, until all are.
        """
        parts = [slice(first, last) for first, last in pairwise(np.cumsum([0, *self.parts]).tolist())]
        folds = [
            (lambda out, mine=mine: mine.T @ (weights * out), lambda ratio, mine=mine: mine @ ratio)
            for mine in (self.member[:, part] for part in parts)
        ]
        totals = [self.totals[part, None] for part in parts]
        out, worst = proportional_fit(np.ones_like(weights), folds, totals, sweeps=_ROUNDS, close=_MISFIT)
        if worst < _MISFIT:
            return out
        raise ConvergenceError(
            f"the margins of {' and '.join(self.names)} cannot all be met: after {_ROUNDS} rounds one is still "
            f"{worst:.2g} of itself away. Some combinations of their values have no respondents; join categories, or "
            f"use fewer margins",
            misfit=worst,
        )

    @cached_property
    def _spanned(self) -> Array:
        """An orthonormal basis of what is known, over the totals: margins share their sum."""
        gram = self.member.T @ self.member
        values, vectors = np.linalg.eigh(gram)
        return readonly(vectors[:, values > 1e-9 * values[-1]])

    def explained(self, weights: Array, sums: Array) -> Array:
        """The part of linear variables that known totals leave no variance to: (cells, variables).

        Args:
            weights: the weight of every cell.
            sums: the weighted sums of the variables in every cell.
        """
        x = self.member @ self._spanned
        slopes = np.linalg.lstsq(x.T @ (x * weights[:, None]), x.T @ sums, rcond=None)[0]
        return np.asarray(x @ slopes)


_SHARES = 1e-6  # how far shares may miss a sum of one
_AGREE = 1e-6  # of the population: how far the sums of different margins may be apart


def rake(
    reports: Reports | Sequence[Reports],
    margins: Mapping[str | tuple[str, ...], Labelled] | Table | IntoDataFrame | Sequence[Table | IntoDataFrame],
    *,
    weights: Weights = None,
    strata: Given = None,
    clusters: Given = None,
    population: float | None = None,
) -> Sampling:
    """Rake weights to known margins of public attributes; the result is for `weights=` of any analysis.

    Every margin is met exactly. One margin is post-stratification; several are met in turn until all hold (raking).
    Errors know of it: whatever the margins explain does not vary any more.

    Args:
        reports: what respondents sent.
        margins: from a public column (or several: a tuple of names) to how many people each of its values (or each
            tuple of values) has in the population, as a mapping, a series or a crosstab. Shares that sum to one will
            do. Or one or several tables of such counts, or crosstabs, whose rows and columns are named as the columns.
        weights: the weights to begin with; one for everybody by default.
        strata: each respondent's stratum, or the name of a public column.
        clusters: each respondent's cluster, or the name of a public column.
        population: how many people there are, where margins are shares; the sum of the weights by default.

    >>> import deniable as dn, pyarrow as pa
    >>> design = dn.Joint({"smokes": ["no", "yes"]}, epsilon=2.0)
    >>> people = pa.table({"smokes": ["no", "yes"] * 60, "sex": ["F"] * 80 + ["M"] * 40})
    >>> reports = design.randomize(people, keep=["sex"], source=dn.Seeded(1))
    >>> weights = dn.rake(reports, {"sex": {"F": 510, "M": 490}})
    >>> sorted(set(weights.weights.round(3).tolist())), round(weights.effect, 3)
    ([6.375, 12.25], 1.11)
    """
    sources = one_by_one(reports)
    n = sum(source.n for source in sources)
    start = sampling_of(reports, weights, strata, clusters) or sampling(n)
    if start.replicated is not None or start.margins is not None:
        raise InputError("these weights are raked or replicated already; rake plain weights, to all margins at once")
    wanted = _tables(margins)
    if not wanted:
        raise InputError("name at least one margin, such as {'sex': {'F': 510, 'M': 490}}")
    size = _population(wanted, population, float(start.given.sum()))
    codes, members, totals = [], [], []
    for names, known in wanted.items():
        columns = [named(name, sources, name, n).tolist() for name in names]
        found = list(zip(*columns, strict=True)) if len(names) > 1 else columns[0]
        of, shares = _margin(names, known, found, start.given)
        codes.append(of)
        totals.append(shares * size)
        members.append(len(shares))
    cells, cell = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
    member = np.concatenate([np.eye(k)[cells[:, j]] for j, k in enumerate(members)], axis=1)
    of_names = tuple(" x ".join(names) for names in wanted)
    known_margins = Margins(cell.ravel().astype(np.int64), member, np.concatenate(totals), tuple(members), of_names)
    told = (*(start.told or ("weights",)), f"raked to {' and '.join(of_names)}")
    made = replace(start, margins=known_margins, told=told)
    made.weights  # noqa: B018 - margins that cannot be met are refused here, not later
    return made


def _tables(margins: Any) -> dict[tuple[str, ...], Mapping[Any, float]]:
    """Margins as mappings from a value, or a tuple of values, to a number."""
    if isinstance(margins, Mapping):
        return {
            of: by_named_labels(known, f"the numbers of {names!r}", of)[1]
            for names, known in margins.items()
            for of in [(names,) if isinstance(names, str) else tuple(names)]
        }
    single = isinstance(margins, str) or _is_labelled(margins) or not isinstance(margins, Iterable)
    listing = [margins] if single else list(margins)
    strangers = [each for each in listing if not isinstance(each, Table) and not _is_labelled(each)]
    if strangers:
        raise InputError(
            f"margins are a mapping such as {{'sex': {{'F': 510, 'M': 490}}}}, a table, a crosstab, or a list of "
            f"these; not {type(strangers[0]).__name__}"
        )
    found: dict[tuple[str, ...], Mapping[Any, float]] = {}
    for table in listing:
        if not isinstance(table, Table):
            of, known = by_named_labels(table, "a margin")
            found[of] = known
            continue
        labels = [tuple(cell) for cell in zip(*table.cells().values(), strict=True)]
        keys = [label[0] for label in labels] if len(table.attributes) == 1 else labels
        found[table.attributes] = dict(zip(keys, table.values.ravel().tolist(), strict=True))
    return found


def _is_labelled(margin: Any) -> bool:
    """Whether something is a crosstab or a series, whose rows and columns have labels."""
    return row_labels(margin) is not None


def _population(
    wanted: Mapping[tuple[str, ...], Mapping[Any, float]], population: float | None, weighed: float
) -> float:
    """How many people there are: what counts sum to, or what is given beside shares."""
    sums = {}
    for names, known in wanted.items():
        try:
            values = np.array(list(known.values()), dtype=np.float64)
        except (TypeError, ValueError):
            values = np.empty(0)
        if not len(values) or not np.isfinite(values).all() or (values < 0).any() or not values.sum() > 0:
            raise InputError(f"the margin of {' x '.join(names)} must be numbers from 0 upwards, not all of them zero")
        sums[names] = float(values.sum())
    counts = {names: total for names, total in sums.items() if abs(total - 1) > _SHARES}
    if not counts:
        size = weighed if population is None else float(population)
        if not size > 0 or not np.isfinite(size):
            raise InputError(f"population must be a number above 0, not {population!r}")
        return size
    first = next(iter(counts.values()))
    apart = [names for names, total in counts.items() if abs(total - first) > _AGREE * first]
    if apart:
        told = ", ".join(f"{' x '.join(names)} to {total:g}" for names, total in counts.items())
        raise InputError(
            f"margins are of one population, but they sum to different numbers: {told}. Give shares, or counts of the "
            f"same people"
        )
    if population is not None and abs(population - first) > _AGREE * first:
        raise InputError(f"the margins sum to {first:g}, not to population={population:g}; leave one of them out")
    return first


def _margin(
    names: tuple[str, ...], known: Mapping[Any, float], found: list[Any], weights: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Each respondent's place in a margin, and the margin's shares, of values that have respondents."""
    of = " x ".join(names)
    keys = {value: place for place, value in enumerate(known)}
    strangers = sorted({str(value) for value in set(found) - set(keys)})
    if strangers:
        raise UnknownCategoryError(
            f"{of} has respondents with {listed(strangers)}, of whom the margin does not say how many there are; it "
            f"has {listed(known)}. Add them to the margin, or give both the same categories",
            attribute=of,
        )
    place = np.array([keys[value] for value in found], dtype=np.int64)
    values = np.array(list(known.values()), dtype=np.float64)
    have = np.bincount(place, weights, len(values))
    empty = [value for value, total, mine in zip(known, values, have, strict=True) if total > 0 and mine == 0]
    if empty:
        raise InputError(
            f"nobody with {of} {listed(empty)} answered (with any weight), so no weights can stand for them. Join "
            f"these with other categories, in the reports and in the margin",
            attribute=of,
        )
    kept, codes = numbered(place)
    return codes, values[kept] / values.sum()
