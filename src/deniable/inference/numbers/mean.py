"""Means, sums and differences of means of what was answered in disguise.

A mean is sum_v s_v pi_v, a linear functional of the shares: its value comes from the efficient estimate (unbiased, from
every report), and its interval is the score interval of that functional, both kept between the least and the largest
score. Of a group, or where some categories stand aside, it is a ratio N / D of two such functionals. The interval then
holds every m that the reports do not refute as the mean (`ratio_interval`; Fieller's where only the reports that cover
the table could be used): where the group itself is in doubt, it has no end.

Who prefers not to say has no number. With `missing="drop"` (default) a mean is that of the others, a total their sum,
and nothing is assumed; with "model" both are of everybody, who does not say being like the others (missing at random:
a mean is the same number, a total larger). Of groups, "drop" leaves out those who do not say which is theirs, "model"
has them as a group of their own.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from deniable.device.protocol.answer_encoding import SKIPPED
from deniable.errors import InputError
from deniable.estimation.intervals import critical_value
from deniable.estimation.notes.refused import FEWEST_SHOWN
from deniable.estimation.notes.stamped import stamped
from deniable.frozen import readonly
from deniable.inference.attribute_pairs import Missing, answers_of, check_missing, pair
from deniable.inference.measures.delta_method import Measure
from deniable.inference.measures.two_by_two import fieller
from deniable.inference.numbers.functionals_of_reports import Known, Numbers, Options, Told, lifted, only
from deniable.inference.numbers.ordered_attribute import Ordered, Scores, left_out, ordered
from deniable.inference.numbers.ratio_interval import score_interval_of_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from deniable.core.domain import Category, Domain, Variable
    from deniable.estimation.estimate import Estimate
    from deniable.estimation.report_sources import Collected
    from deniable.likelihood.efficient_estimate import Efficient

    Array = NDArray[np.float64]

_ROUGH = 5.0  # standard errors that a group should be above nobody for the difference of ratios to be nearly normal

_NOBODY = (
    "The estimate has nobody in a group: no mean can be told there, and the interval holds everything. More "
    "respondents, a larger epsilon or larger groups would tell."
)


@stamped
def mean(
    source: Estimate | Collected,
    attribute: str | None = None,
    *,
    scores: Scores | None = None,
    edges: Sequence[float] | None = None,
    missing: Missing = "drop",
    **options: Unpack[Options],
) -> Measure:
    """The mean of an ordered or numeric attribute.

    Args:
        source: an estimate, or reports (whatever `estimate` takes).
        attribute: which attribute; not needed for an estimate of one.
        scores: what each category counts as, in order or by category; None for one that stands aside, such as "prefer
            not to say" (the mean is then that of the others). By default categories that are numbers count as
            themselves and bins as their middles.
        edges: where bins begin and end, one more than categories: a bin counts as its middle.
        missing: "drop", the mean is of those who answer; "model", of everybody, who does not being like the others.
        **options: weights, strata, clusters, for reports: see `Options`.

    >>> import deniable as dn
    >>> found = dn.estimate(dn.Observation("trust", dn.KRR(3, 1.0), [40, 25, 35]), "trust")
    >>> round(mean(found, scores=[0, 1, 2]).value, 4)
    0.8627
    """
    check_missing(missing)
    known, variable = only(source, attribute, options)
    read = ordered(variable, scores, edges)
    return _of_whom(_mean(known, read, None, f"mean of {variable.name}"), read, missing)


@stamped
def total(
    source: Estimate | Collected,
    attribute: str | None = None,
    *,
    size: float,
    scores: Scores | None = None,
    edges: Sequence[float] | None = None,
    missing: Missing = "drop",
    **options: Unpack[Options],
) -> Measure:
    """The sum over a population of `size` people: so many times the mean, sampling error included.

    Where categories stand aside, it is the sum over those who have a number: `size` times the share of them counts.
    With `missing="model"` it is that of everybody, `size` times the mean of those who answer.
    """
    check_missing(missing)
    if not size > 0:
        raise InputError(f"a population has a size above 0, not {size!r}")
    known, variable = only(source, attribute, options)
    read = ordered(variable, scores, edges)
    name = f"sum of {variable.name} over {size:g}"
    if missing == "model" and read.aside:
        return _of_whom(_mean(known, replace(read, scores=readonly(size * read.sizes())), None, name), read, missing)
    weights = np.zeros((len(variable), 1))
    weights[read.places, 0] = size * read.sizes()
    told = known.tell(lifted(known.domain, variable.name, weights))
    sizes = np.append(read.sizes(), [0.0] if read.aside else [])
    found = _linear(known, told, name, (size * sizes.min(), size * sizes.max()))
    return _of_whom(replace(found, warnings=(*found.warnings, *known.left_out(read))), read, missing)


@stamped
def means_by(
    source: Estimate | Collected,
    attribute: str,
    by: str,
    *,
    scores: Scores | None = None,
    edges: Sequence[float] | None = None,
    missing: Missing = "drop",
    **options: Unpack[Options],
) -> Numbers:
    """The mean of an attribute in every category of another.

    >>> import deniable as dn
    >>> design = dn.Joint({"sex": ["F", "M"], "trust": [0, 1, 2]}, epsilon=3.0)
    >>> truth = dn.Table(design.domain, [[0.1, 0.2, 0.2], [0.2, 0.2, 0.1]])
    >>> reports = design.simulate(truth, 9000, source=dn.Seeded(1))
    >>> means_by(reports, "trust", "sex").values.round(1).tolist()
    [1.2, 0.8]
    """
    check_missing(missing)
    known, variable = only(source, attribute, options, [by])
    read, groups = ordered(variable, scores, edges), known.domain[by]
    shown = (answers_of(groups) if missing == "drop" else None) or list(groups.categories)
    found = [_mean(known, read, (groups, c), f"mean of {variable.name}, {by} {c}") for c in shown]
    return Numbers(
        f"mean of {variable.name}",
        {by: tuple(shown)},
        tuple(_of_whom(each, read, missing, (known, groups)) for each in found),
    )


@stamped
def mean_difference(
    source: Estimate | Collected,
    attribute: str,
    by: str,
    *,
    groups: tuple[Category, Category] | None = None,
    scores: Scores | None = None,
    edges: Sequence[float] | None = None,
    missing: Missing = "drop",
    **options: Unpack[Options],
) -> Measure:
    """The mean of an attribute in a second group less that in a first, named where there are more than two.

    Its error is the delta method's, with the covariance of all the cells.
    """
    check_missing(missing)
    known, variable = only(source, attribute, options, [by])
    read, variables = ordered(variable, scores, edges), known.domain[by]
    first, second = (variables.categories[code] for code in pair(variables, groups))
    name = f"mean of {variable.name}, {by} {second} less {first}"
    parts, slopes, doubtful = [], [], []
    for group in (first, second):
        told = known.tell(_ratio(known.domain, read, (variables, group)))
        top, bottom = told.values
        if bottom <= 0:
            return Measure(name, np.nan, np.nan, "delta method", (*known.warnings, _NOBODY), ends=_endless)
        if bottom < _ROUGH * told.std_error[1]:
            doubtful.append(group)
        parts.append(top / bottom)
        slopes.append(_ratio(known.domain, read, (variables, group)) @ [1 / bottom, -top / bottom**2])
    told = known.tell((slopes[1] - slopes[0])[:, None])
    rough = (
        f"How many there are in {', '.join(str(group) for group in doubtful)} is itself uncertain (less than "
        f"{_ROUGH:g} standard errors above nobody): the error is rough."
    )
    few = (*((rough,) if doubtful else ()), *known.left_out(read))
    apart, error = float(np.ptp(read.sizes())), float(told.std_error[0])
    found = Measure(name, parts[1] - parts[0], error, "delta method", (*known.warnings, *few), df=known.df)
    return _of_whom(found.kept(-apart, apart), read, missing, (known, variables))


def _of_whom(measure: Measure, read: Ordered, missing: Missing, by: tuple[Known, Variable] | None = None) -> Measure:
    """The same measure, with a sentence on what is assumed of who does not say, and how many are in no group."""
    told = []
    if read.aside and missing == "drop":
        told.append("Nothing is assumed of those who take no part (missing='drop').")
    elif read.aside:
        told.append("Who takes no part is taken to be like the others (missing at random, missing='model').")
    if by is not None and SKIPPED in by[1].categories:
        known, groups = by
        if missing == "drop":
            shares = known.table.sum(axis=tuple(i for i, name in enumerate(known.domain) if name != groups.name))
            told.append(left_out(groups, [SKIPPED], float(shares[groups.code(SKIPPED)]), known.n))
        whose = (
            "are in no group (missing='drop')" if missing == "drop" else "are a group of their own (missing='model')"
        )
        told.append(f"Those who prefer not to say {groups.name!r} {whose}.")
    return replace(measure, warnings=(*measure.warnings, *told)) if told else measure


def _ratio(domain: Domain, read: Ordered, group: tuple[Variable, Category] | None) -> Array:
    """The sum of scores over those who count, and their share, as two functionals of the table."""
    columns = np.zeros((len(read.variable), 2))
    columns[read.places] = np.stack([read.sizes(), np.ones(len(read.places))], axis=1)
    along = lifted(domain, read.variable.name, columns)
    if group is not None:
        variable, category = group
        inside = (np.arange(len(variable)) == variable.code(category)).astype(np.float64)
        along = along * lifted(domain, variable.name, inside[:, None])
    return along


def _linear(known: Known, told: Told, name: str, within: tuple[float, float]) -> Measure:
    ends = partial(_score_ends, told, known.df)
    how = "score interval" if known.pooled is not None else "normal interval"
    value = float(told.values[0])
    kept = float(np.clip(value, *within))
    error = told.std_error if kept == value else told.error_at(np.array([kept]))
    return Measure(name, value, float(error[0]), how, known.warnings, ends=ends).kept(*within)


def _mean(known: Known, read: Ordered, group: tuple[Variable, Category] | None, name: str) -> Measure:
    along, within = _ratio(known.domain, read, group), (float(read.sizes().min()), float(read.sizes().max()))
    if group is None and not read.aside:
        return _linear(known, known.tell(along[:, :1]), name, within)
    told = known.tell(along)
    (top, bottom), cov = told.values, told.covariance
    if bottom <= 0:
        return Measure(name, np.nan, np.nan, "Fieller's interval", (*known.warnings, _NOBODY), ends=_endless)
    value = top / bottom
    error = np.sqrt(max(cov[0, 0] - 2 * value * cov[0, 1] + value**2 * cov[1, 1], 0.0)) / bottom
    told_too = (*known.warnings, *known.left_out(read, group))
    people = known.n * float(bottom)
    if people < FEWEST_SHOWN:
        told_too = (*told_too, f"Some {people:.0f} of the respondents are meant, so the interval is rough.")
    if known.pooled is not None:
        df = max(min(known.df, people - 1), 1.0)  # of so many direct answers Student's law would be exact
        columns = tuple(map(tuple, along.T.tolist()))  # a measure holds no array that could be written to
        ends, how = partial(_score_ratio_ends, known.pooled, columns, within, df), "score interval of a ratio"
        return Measure(name, float(value), float(error), how, told_too, ends=ends).kept(*within)
    ends = partial(_ratio_ends, (float(top), float(bottom)), tuple(cov.ravel().tolist()), known.df)
    return Measure(name, float(value), float(error), "Fieller's interval", told_too, ends=ends).kept(*within)


def _endless(_level: float) -> tuple[float, float]:
    return -np.inf, np.inf


def _score_ends(told: Told, df: float, level: float) -> tuple[float, float]:
    low, high = told.interval(critical_value(1 - level, df) ** 2)
    return float(low[0]), float(high[0])


def _score_ratio_ends(
    pooled: Efficient, columns: tuple[tuple[float, ...], ...], within: tuple[float, float], df: float, level: float
) -> tuple[float, float]:
    return score_interval_of_ratio(pooled, np.transpose(columns), critical_value(1 - level, df) ** 2, within)


def _ratio_ends(values: tuple[float, float], cov: tuple[float, ...], df: float, level: float) -> tuple[float, float]:
    return fieller(*values, np.reshape(cov, (2, 2)), critical_value(1 - level, df) ** 2)
