"""What carries labels is matched by them, whatever it comes in."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deniable as dn
from deniable.core.input_coercion import by_category, by_cell, by_row, row_labels, without_labels
from deniable.errors import InputError, MissingColumnError, UnknownCategoryError

DOMAIN = dn.Domain({"a": ["no", "yes"], "b": ["x", "y", "z"]})
PEOPLE = pd.DataFrame({"a": ["yes"] * 5 + ["no"] * 2, "b": ["z", "x", "z", "y", "z", "x", "y"]})
COUNTS = dn.Table.count(PEOPLE, DOMAIN)
CROSSED = pd.crosstab(PEOPLE.a, PEOPLE.b)


def an_xarray(table, turned=False):
    """What an xarray.DataArray shows of itself: dimensions by name, and coordinates that are arrays with values."""
    names = table.attributes[::-1] if turned else table.attributes
    values = table.project(names).values
    coords = {name: SimpleNamespace(values=np.array(table.domain[name].categories)) for name in names}
    return SimpleNamespace(dims=names, shape=values.shape, coords=coords, values=values)


@pytest.mark.parametrize(
    "given",
    [
        CROSSED,
        CROSSED.T,
        CROSSED[["z", "x", "y"]].loc[["yes", "no"]],
        PEOPLE.value_counts(),
        PEOPLE.groupby(["b", "a"]).size(),
        PEOPLE.value_counts().reset_index(),
        PEOPLE.value_counts().to_dict(),
        {"yes": {"z": 3, "y": 1, "x": 1}, "no": {"y": 1, "x": 1}},
        pl.from_pandas(PEOPLE).group_by("b", "a").len(),
        COUNTS.to_frame(),
        COUNTS,
        dn.Table.count(PEOPLE, dn.Domain({"b": ["y", "z", "x"], "a": ["yes", "no"]})),
        an_xarray(COUNTS),
        an_xarray(COUNTS, turned=True),
        COUNTS.values,
        COUNTS.values.ravel(),
        COUNTS.values.tolist(),
        pd.DataFrame(COUNTS.values),
        pl.Series(COUNTS.values.ravel()),
        pa.array(COUNTS.values.ravel()),
    ],
    ids=lambda given: type(given).__name__,
)
def test_every_kind_of_input_is_the_same_table(given):
    assert by_cell(given, DOMAIN, "counts", absent=0.0).tolist() == COUNTS.values.tolist()


@pytest.mark.parametrize(
    "given",
    [
        PEOPLE.a.value_counts(),
        PEOPLE.a.value_counts().to_frame(),
        PEOPLE.a.value_counts().reset_index(),
        PEOPLE.a.astype("category").value_counts(),
        pl.from_pandas(PEOPLE)["a"].value_counts(sort=True),
        {"yes": 5, "no": 2},
        pd.Series([2, 5]),
        pl.Series([2, 5]),
        (2, 5),
    ],
    ids=lambda given: type(given).__name__,
)
def test_one_attribute_too(given):
    assert by_category(given, dn.Variable("any name", ("no", "yes")), "counts").tolist() == [2, 5]


@pytest.mark.parametrize(
    ("categories", "given"),
    [
        ((0, 1), pd.Series([5, 2], index=[1, 0])),
        ((2, 1, 0), pd.Series([1, 5, 2])),  # numbered from 0, and so are the categories
        ((0.0, 1.0), pd.Series([5, 2], index=[1, 0])),
        ((False, True), pd.Series([5, 2], index=[True, False])),
        (("0", "1"), pd.Series([5, 2], index=["1", "0"])),
    ],
)
def test_labels_of_every_type_are_matched(categories, given):
    found = dict(zip(categories, by_category(given, dn.Variable("a", categories), "counts"), strict=True))
    assert (found[categories[-2]], found[categories[-1]]) in {(2, 5), (5, 1)}
    assert found.get(2, 2) == 2


@pytest.mark.parametrize(
    ("given", "categories", "told"),
    [
        ({"yes": 1, "nay": 2}, ("no", "yes"), "'nay' is no category of 'a', which has 'no', 'yes'"),
        ({1: 1, 0: 2}, ("0", "1"), "label 1 is no category"),
        ({"1": 1, "0": 2}, (0, 1), "label '1' is no category"),
        ({1: 1, 0: 2}, (False, True), "label 1 is no category"),
        ({True: 1, False: 2}, (0, 1), "label True is no category"),
        ({"yes": 1}, ("no", "yes"), "no number for 'no'"),
        (pd.Series([1, 2, 3], index=["no", "yes", "yes"]), ("no", "yes"), "several numbers for 'yes'"),
        (pd.Series([1, 2]), (1, 2), "label 0 is no category"),
        (pd.Series([1.0, 2.0, 1.0], index=["no", "yes", np.nan]), ("no", "yes"), "nan is no category"),
        ({"no": "many", "yes": 2}, ("no", "yes"), "'many' for 'no' is no number"),
        ([1, 2, 3], ("no", "yes"), r"shape \(2,\); these have shape \(3,\)"),
        (["a", "b"], ("no", "yes"), "must be numbers"),
    ],
)
def test_labels_that_do_not_fit_are_refused(given, categories, told):
    with pytest.raises(InputError, match=told):
        by_category(given, dn.Variable("a", categories), "counts")


def test_a_crosstab_with_sums_of_rows_and_columns_is_refused():
    with pytest.raises(UnknownCategoryError, match="'All' is no category of 'b'"):
        by_cell(pd.crosstab(PEOPLE.a, PEOPLE.b, margins=True), DOMAIN, "counts")


def test_rows_and_columns_of_other_attributes_are_refused():
    with pytest.raises(InputError, match="labels are of 'a', 'c'"):
        by_cell(CROSSED.rename_axis(columns="c"), DOMAIN, "counts")
    with pytest.raises(InputError, match="labels of 1 kinds"):
        by_cell(PEOPLE.a.value_counts(), DOMAIN, "counts")
    with pytest.raises(MissingColumnError, match="a column for each"):
        by_cell(pl.from_pandas(PEOPLE), DOMAIN, "counts")
    with pytest.raises(InputError, match="a table over 'b' was given for 'a'"):
        by_cell(COUNTS.project("b"), DOMAIN.project("a"), "counts")


def test_what_has_an_order_and_no_names_takes_numbers_for_labels_only():
    assert list(without_labels(pd.Series([3, 1, 2], index=[2, 0, 1]), "shares")) == [1, 2, 3]
    assert without_labels([3, 1, 2], "shares") == [3, 1, 2]
    for labelled in ({"no": 1, "yes": 2}, pd.Series([1, 2], index=["no", "yes"])):
        with pytest.raises(InputError, match="no names that labels could be matched with"):
            without_labels(labelled, "shares")


ROWS = pd.DataFrame({"w": [1.0, 2.0, 3.0]}, index=["u", "v", "t"])


@pytest.mark.parametrize(
    ("rows", "given"),
    [
        (ROWS, ROWS.w),
        (ROWS, ROWS.w.sort_index()),
        (ROWS, pd.concat([ROWS.w.sort_index(), pd.Series([9.0], index=["s"])])),
        (ROWS, [1.0, 2.0, 3.0]),
        (ROWS, pl.Series([1.0, 2.0, 3.0])),
        (ROWS.reset_index(), ROWS.w.reset_index(drop=True)),
        (ROWS.reset_index(), ROWS.w.reset_index(drop=True).sort_index(ascending=False)),
        (ROWS.reset_index().loc[[1, 2]], pd.Series([9.0, 1.0, 2.0])),
        (pl.from_pandas(ROWS), ROWS.w),
    ],
)
def test_one_value_a_respondent_is_brought_to_the_respondents_by_its_labels(rows, given):
    assert list(by_row(given, row_labels(rows), "weights")) == [1.0, 2.0, 3.0][: len(rows)]


@pytest.mark.parametrize(
    ("rows", "given", "told"),
    [
        (ROWS, ROWS.w.rename({"u": "U"}), "lacks 'u'"),
        (ROWS, ROWS.w.reset_index(drop=True), "lacks 'u', 'v', 't'"),
        (ROWS, ROWS.w.set_axis(["u", "u", "v"]), "twice"),
        (pl.from_pandas(ROWS), ROWS.w.set_axis([2, 0, 1]), "in another order now"),
    ],
)
def test_a_column_of_other_rows_is_refused(rows, given, told):
    with pytest.raises(InputError, match=told):
        by_row(given, row_labels(rows), "weights")
