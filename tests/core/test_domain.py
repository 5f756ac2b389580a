"""Names, categories, codes, and what a user reads when the data does not fit."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deniable as dn
from deniable.core.domain import Variable
from deniable.errors import (
    DesignError,
    MissingColumnError,
    MissingValueError,
    UnknownAttributeError,
    UnknownCategoryError,
)

DOMAIN = dn.Domain({"sex": ["F", "M"], "kids": [0, 1, 2], "owns": [False, True]})
COLUMNS = {"sex": ["M", "F", "M"], "kids": [2, 0, 1], "owns": [True, False, True], "other": [1.5, 2.5, 3.5]}
CODES = [[1, 2, 1], [0, 0, 0], [1, 1, 1]]
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("library", LIBRARIES)
def test_any_data_frame_is_encoded_and_extra_columns_are_ignored(library):
    codes = DOMAIN.encode(LIBRARIES[library](COLUMNS))
    assert codes.tolist() == CODES
    assert codes.dtype == np.uint8


@pytest.mark.parametrize("library", LIBRARIES)
def test_codes_decode_to_what_they_came_from(library):
    codes = DOMAIN.encode(LIBRARIES[library](COLUMNS))
    assert {name: column.to_pylist() for name, column in DOMAIN.decode(codes).items()} == {
        name: COLUMNS[name] for name in DOMAIN
    }


def test_categoricals_chunks_and_wider_integers_are_understood():
    domain = dn.Domain({"sex": ["F", "M"]})
    assert domain.encode(pd.DataFrame({"sex": pd.Categorical(["M", "F"])})).ravel().tolist() == [1, 0]
    assert domain.encode(pl.DataFrame({"sex": pl.Series(["M", "F"], dtype=pl.Categorical)})).ravel().tolist() == [1, 0]
    chunked = pa.table({"sex": pa.chunked_array([["M"], ["F", "M"]])})
    assert domain.encode(chunked).ravel().tolist() == [1, 0, 1]
    small = pa.table({"kids": pa.array([2, 0], pa.int8())})
    assert dn.Domain({"kids": [0, 1, 2]}).encode(small).ravel().tolist() == [2, 0]
    floats = pd.DataFrame({"kids": [2.0, 0.0]})
    assert dn.Domain({"kids": [0, 1, 2]}).encode(floats).ravel().tolist() == [2, 0]


def test_more_than_256_categories_get_wider_codes():
    domain = dn.Domain({"zip": range(1000)})
    codes = domain.encode(pa.table({"zip": [0, 999, 256]}))
    assert codes.dtype == np.uint16
    assert codes.ravel().tolist() == [0, 999, 256]


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_unknown_category_names_column_value_rows_and_the_known_ones(library):
    frame = LIBRARIES[library]({**COLUMNS, "sex": ["M", "X", "X"]})
    with pytest.raises(
        UnknownCategoryError, match=r"column 'sex' holds .* 'F', 'M': in 2 of 3 rows, the first in row 2"
    ) as caught:
        DOMAIN.encode(frame)
    assert (caught.value.attribute, caught.value.first, caught.value.rows) == ("sex", 1, 2)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_missing_value_names_column_and_rows_and_the_way_out(library):
    frame = LIBRARIES[library]({**COLUMNS, "sex": ["M", None, "F"]})
    with pytest.raises(MissingValueError, match=r"'sex' has 1 missing values in 3 rows.*prefer not to say"):
        DOMAIN.encode(frame)


def test_not_a_number_counts_as_missing():
    domain = dn.Domain({"kids": [0, 1]})
    for frame in (pd.DataFrame({"kids": [0.0, float("nan")]}), pl.DataFrame({"kids": [0.0, float("nan")]})):
        with pytest.raises(MissingValueError, match="1 missing"):
            domain.encode(frame)


def test_a_missing_column_names_what_is_there():
    with pytest.raises(MissingColumnError, match=r"no column 'owns' \(it has 2, whose names"):
        DOMAIN.encode(pa.table({"sex": ["F"], "kids": [0]}))


@pytest.mark.parametrize("values", [["1", "2"], [dt.date(2020, 1, 1)] * 2, [0.5, 1.0]])
def test_values_of_another_type_are_unknown_categories_not_crashes(values):
    with pytest.raises(UnknownCategoryError, match="'kids' holds"):
        dn.Domain({"kids": [1, 2]}).encode(pa.table({"kids": values}))


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        (["only"], "at least two"),
        (["a", "a"], "more than once"),
        (["a", 1], "all texts"),
        ([None, "a"], "all texts"),
        ([True, 1], "all texts"),
        ([False, 1.5], "all texts"),
        ([0, 1.5, "more"], "such as '0'"),
        ([1, 1.0], "more than once"),
        ([2**53 + 1, 0.5], "9007199254740993 cannot be written as one exactly"),
        ([10**400, 0.5], "cannot be written as one exactly"),
        ([0, float("nan")], "finite numbers, not 0, nan"),
    ],
)
def test_bad_categories_are_refused(categories, message):
    with pytest.raises(DesignError, match=message):
        dn.Domain({"x": categories})


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_whole_numbers_beside_decimals_are_decimals(suffix, tmp_path):
    mixed, plain = (dn.Joint({"doses": numbers}, 2.0) for numbers in ([0, 1.5, 3], [0.0, 1.5, 3.0]))
    assert mixed == plain
    assert json.dumps(mixed.to_dict()) == json.dumps(plain.to_dict())
    assert list(map(type, mixed.domain["doses"].categories)) == [float] * 3
    for answers in ([0, 1.5, 3, 3], [0, 3, 3, 0], np.array([0, 3], dtype=np.int8), [1.5, 3.0]):
        assert mixed.domain["doses"].encode(answers).tolist() == [[0, 1.5, 3].index(each) for each in answers]
    reports = mixed.randomize({"doses": [0, 3, 3, 0]}, source=dn.Seeded(1))
    reports.write(tmp_path / f"reports.{suffix}")
    again = dn.read_reports(tmp_path / f"reports.{suffix}")
    assert again.design == mixed
    assert json.dumps(again.design.to_dict()) == json.dumps(mixed.to_dict())
    assert again.answers.tolist() == reports.answers.tolist()


@pytest.mark.parametrize("strangers", [[0, 2], [0, 2**62 + 1]])
def test_whole_numbers_that_are_no_category_are_refused_beside_decimals(strangers):
    with pytest.raises(UnknownCategoryError, match=r"'doses' holds .* categories 0.0, 1.5, 3.0"):
        dn.Domain({"doses": [0, 1.5, 3]}).encode({"doses": strangers})


def test_bad_names_are_refused():
    with pytest.raises(DesignError, match="at least one attribute"):
        dn.Domain({})
    with pytest.raises(DesignError, match="non-empty"):
        dn.Domain({"": ["a", "b"]})
    with pytest.raises(DesignError, match="must differ"):
        dn.Domain([dn.Variable("x", ("a", "b")), dn.Variable("x", ("a", "b"))])
    with pytest.raises(DesignError, match="named twice"):
        DOMAIN.project(["sex", "sex"])


def test_an_unknown_attribute_lists_the_known_ones():
    with pytest.raises(UnknownAttributeError, match=r"no attribute 'age'; the domain has 'sex', 'kids', 'owns'"):
        DOMAIN.project(["age"])


def test_order_matters_to_equality():
    assert dn.Domain({"a": [0, 1], "b": [0, 1]}) != dn.Domain({"b": [0, 1], "a": [0, 1]})
    assert DOMAIN.project(["kids", "sex"]).names == ("kids", "sex")
    assert hash(dn.Domain({"a": [0, 1]})) == hash(dn.Domain({"a": [0, 1]}))


def test_long_lists_are_cut_in_messages():
    with pytest.raises(UnknownCategoryError, match="and 988 more"):
        dn.Domain({"zip": range(1000)})["zip"].code(-1)


# -- looked up instead of compared ----------------------------------------------------------------------------------

TEXT = Variable("t", ("b", "a", "c"))
NUMBER = Variable("n", (7, -3, 5))


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a", "b", "c", "a"]),
        pa.array(["a", "b", "c", "a"]).dictionary_encode(),
        pa.array(["a", "b", "c", "a"], pa.large_string()),
        pa.DictionaryArray.from_arrays(pa.array([1, 0, 2, 1], pa.int8()), ["b", "a", "c", "never used"]),
        pa.array(["a", "b", "c", "a"], pa.string_view()),
        pa.chunked_array([["a", "b"], [], ["c", "a"]], pa.string_view()),
        pa.DictionaryArray.from_arrays([1, 0, 2, 1], pa.array(["b", "a", "c", "never used"], pa.string_view())),
    ],
)
def test_texts_are_encoded(column):
    assert TEXT.encode(column).tolist() == [1, 0, 2, 1]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.int64(), pa.float64()])
def test_numbers_are_encoded(kind):
    assert NUMBER.encode(pa.array([5, 7, -3], kind)).tolist() == [2, 0, 1]


def test_unsigned_numbers_are_encoded():
    assert Variable("n", (5, 7)).encode(pa.array([7, 5, 7], pa.uint8())).tolist() == [1, 0, 1]


def test_many_categories_do_not_overflow():
    variable = Variable("n", tuple(range(1000, 1400)))
    assert variable.encode(pa.array([1399, 1000])).tolist() == [399, 0]
    assert Variable("n", tuple(range(200))).encode(pa.array([199, 0])).tolist() == [199, 0]


@pytest.mark.parametrize(
    ("variable", "column"),
    [
        (TEXT, pa.array(["a", "x"])),
        (TEXT, pa.array(["a", "x"]).dictionary_encode()),
        (TEXT, pa.array(["a", "x"], pa.string_view())),
        (TEXT, pa.array([1, 2])),
        (NUMBER, pa.array([5, 6])),
        (NUMBER, pa.array([5, 10**12])),
        (NUMBER, pa.array(["5"])),
    ],
)
def test_strange_values_are_refused(variable, column):
    with pytest.raises(UnknownCategoryError):
        variable.encode(column)


@pytest.mark.parametrize("column", [pa.array(["a", None]), pa.array(["a", None]).dictionary_encode()])
def test_missing_values_are_refused(column):
    with pytest.raises(MissingValueError):
        TEXT.encode(column)


def test_chunks_with_dictionaries_of_their_own():
    column = pa.chunked_array([pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", "a"]).dictionary_encode()])
    assert TEXT.encode(column).tolist() == [1, 0, 2, 1]
    with pytest.raises(UnknownCategoryError, match="in 1 of 3 rows, the first in row 3"):
        TEXT.encode(pa.chunked_array([pa.array(["a", "b"]).dictionary_encode(), pa.array(["x"]).dictionary_encode()]))
    assert TEXT.encode(pa.chunked_array([], pa.dictionary(pa.int8(), pa.string()))).tolist() == []
    assert TEXT.encode(pa.chunked_array([], pa.string_view())).tolist() == []


def test_small_unsigned_numbers_below_a_negative_category():
    assert Variable("n", (-5, 3, 250)).encode(pa.array([250, 3], pa.uint8())).tolist() == [2, 1]
