"""What `prevalence` takes: reports to one question, as codes or labels, or two counts (60 of 200 said yes)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.channel import Channel
from deniable.core.category_order import says_yes_first
from deniable.core.domain import Variable
from deniable.errors import InputError, TooFewReportsError, UnknownCategoryError
from deniable.sampling.read_sampling import column
from deniable.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.core.domain import Category
    from deniable.sampling.read_sampling import Column


def given_reports(
    codes: Column | Channel | None, channel: Channel | None, yes: int | None, n: int | None
) -> tuple[Any, Channel | None]:
    """The reports and the device; the device may come first where there are counts instead of reports."""
    if isinstance(codes, Channel):  # prevalence(Warner(0.8), yes=60, n=200)
        codes, channel = None, codes
    if yes is not None or n is not None:
        if codes is not None or yes is None or n is None or not 0 <= yes <= n or yes != int(yes) or n != int(n):
            raise InputError(f"yes= and n= go together, without codes, as in yes=60, n=200; found yes={yes!r}, n={n!r}")
        codes = [1] * int(yes) + [0] * int(n - yes)
    if codes is None:
        raise InputError("give the reports, as in prevalence(answers, Warner(0.8)), or yes=60 and n=200 of them")
    return codes, channel


def variable_of(codes: Any, channel: Channel, categories: Sequence[Category] | None) -> Variable:
    """The answers to a question, under the name of the column they came in."""
    named = getattr(codes, "name", None)
    known = categories if categories is not None else channel.categories
    listing = tuple(range(channel.inputs)) if known is None else tuple(known)
    if len(listing) != channel.inputs:
        raise InputError(
            f"{channel.name} has {channel.inputs} truths but {len(listing)} categories were named: {listed(listing)}",
            expected=channel.inputs,
            found=len(listing),
        )
    return Variable(named if isinstance(named, str) and named else "answer", listing)


def report_codes(values: Any, channel: Channel, variable: Variable) -> NDArray[np.int64]:
    """Read reports: labels where the categories are known and reports are categories, else codes 0 .. reports - 1."""
    array = column(values, "the reports")
    if not len(array):
        raise TooFewReportsError("there are no reports", n=0)
    labels = set(variable.categories)
    kind = type(variable.categories[0])
    if (array.dtype.kind in "OUST" and kind is str) or (array.dtype.kind == "b" and kind is bool):
        if channel.reports != channel.inputs:
            raise InputError(
                f"{channel.name} has {channel.reports} reports for {channel.inputs} truths, so its reports have no "
                f"labels; give codes 0 .. {channel.reports - 1}"
            )
        return variable.encode(array.tolist()).astype(np.int64)
    if array.dtype.kind in "iufb" and kind in (int, float) and channel.reports == channel.inputs:
        if not set(np.unique(array).tolist()) <= labels:
            strangers = sorted(set(np.unique(array).tolist()) - labels)
            raise UnknownCategoryError(
                f"the reports hold {listed(strangers)}, not among {listed(variable.categories)}",
                value=strangers[0],
                attribute=variable.name,
            )
        order = np.argsort(np.array(variable.categories))
        return order[np.searchsorted(np.array(variable.categories)[order], array)].astype(np.int64)
    if array.dtype.kind == "f" and (array == np.floor(array)).all():
        array = array.astype(np.int64)
    if array.dtype.kind not in "iub":
        raise InputError(
            f"reports of type {array.dtype} are neither codes 0 .. {channel.reports - 1} nor known labels; name the "
            f'answers in order with categories=("no", "yes")'
        )
    if channel.reports == channel.inputs:
        _refuse_other_words(variable)
    array = array.astype(np.int64)
    outside = int(((array < 0) | (array >= channel.reports)).sum())
    if outside:
        raise UnknownCategoryError(
            f"{outside} reports lie outside 0 .. {channel.reports - 1}, the reports of {channel.name}; name the "
            f"answers in order with categories= if they are numbered otherwise",
            rows=outside,
        )
    return array


def _refuse_other_words(variable: Variable) -> None:
    """Refuse codes where names say other codes than the places they stand in."""
    numbers = [str(category) for category in variable.categories]
    written = all(number.isdecimal() for number in numbers) and numbers != [str(i) for i in range(len(numbers))]
    if says_yes_first(variable.categories) or written:
        raise InputError(
            f"the reports are numbers, and the answers are {listed(variable.categories)}, in this order: numbers could "
            f"be their places, or say what the names say. Give the reports by name, or list the answers as "
            f"{listed(sorted(variable.categories, key=str))}",
            attribute=variable.name,
        )
