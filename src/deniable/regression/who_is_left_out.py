"""How many prefer not to say what a regression or a correlation is about: counted as means count them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.domain import Variable
from deniable.designs.reports.reports import Reports
from deniable.device.protocol.answer_encoding import SKIPPED
from deniable.inference.numbers.functionals_of_reports import only
from deniable.inference.numbers.ordered_attribute import left_out, ordered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from deniable.core.domain import Category
    from deniable.regression.likelihood.disguised_outcome import Disguised

_DRAWN = ("weights", "strata", "clusters")


def counted_out(
    source: Any, names: Iterable[str], columns: Iterable[Disguised | None], options: Mapping[str, Any]
) -> tuple[str, ...]:
    """How many respondents the attributes that some prefer not to say leave out, a sentence each.

    Of reports they are estimated; of a frame, whose columns were disguised one by one, by the mean of their scores.
    """
    if isinstance(source, Reports):
        drawn: Any = {name: options[name] for name in _DRAWN if options.get(name) is not None}
        return tuple(_of_reports(source, name, drawn) for name in names)
    known = {column.name: column for column in columns if column is not None}
    return tuple(_of_column(known[name]) for name in names if name in known)


def _of_reports(reports: Reports, name: str, drawn: Any) -> str:
    known, variable = only(reports, name, drawn)
    aside = _aside(variable)
    return left_out(variable, aside, float(known.table[[variable.code(each) for each in aside]].sum()), known.n)


def _of_column(column: Disguised) -> str:
    variable = Variable(column.name, column.labels)
    aside = _aside(variable)
    share = column.scores[:, [variable.code(each) for each in aside]].sum(axis=1).mean()
    return left_out(variable, aside, float(np.clip(share, 0.0, 1.0)), len(column.scores))


def _aside(variable: Variable) -> list[Category]:
    return [SKIPPED] if SKIPPED in variable.categories else ordered(variable).aside
