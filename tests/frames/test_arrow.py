"""The Arrow function: right codes whatever the column's type, and refusals before any row is touched."""

from __future__ import annotations

import inspect

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn
from deniable.domain import Variable
from deniable.errors import DesignError, InputError, MissingColumnError, MissingValueError, UnknownCategoryError
from deniable.frames.arrow import Disguise, encode

TEXT = Variable("t", ("b", "a", "c"))
NUMBER = Variable("n", (7, -3, 5))


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a", "b", "c", "a"]),
        pa.array(["a", "b", "c", "a"]).dictionary_encode(),
        pa.array(["a", "b", "c", "a"], pa.large_string()),
        pa.DictionaryArray.from_arrays(pa.array([1, 0, 2, 1], pa.int8()), ["b", "a", "c", "never used"]),
    ],
)
def test_texts_are_encoded(column):
    assert encode(TEXT, column).tolist() == [1, 0, 2, 1]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.int64(), pa.float64()])
def test_numbers_are_encoded(kind):
    assert encode(NUMBER, pa.array([5, 7, -3], kind)).tolist() == [2, 0, 1]


def test_unsigned_numbers_are_encoded():
    assert encode(Variable("n", (5, 7)), pa.array([7, 5, 7], pa.uint8())).tolist() == [1, 0, 1]


def test_many_categories_do_not_overflow():
    variable = Variable("n", tuple(range(1000, 1400)))
    assert encode(variable, pa.array([1399, 1000])).tolist() == [399, 0]
    assert encode(Variable("n", tuple(range(200))), pa.array([199, 0])).tolist() == [199, 0]


@pytest.mark.parametrize(
    ("variable", "column"),
    [
        (TEXT, pa.array(["a", "x"])),
        (TEXT, pa.array(["a", "x"]).dictionary_encode()),
        (TEXT, pa.array([1, 2])),
        (NUMBER, pa.array([5, 6])),
        (NUMBER, pa.array([5, 10**12])),
        (NUMBER, pa.array(["5"])),
    ],
)
def test_strange_values_are_refused(variable, column):
    with pytest.raises(UnknownCategoryError):
        encode(variable, column)


@pytest.mark.parametrize("column", [pa.array(["a", None]), pa.array(["a", None]).dictionary_encode()])
def test_missing_values_are_refused(column):
    with pytest.raises(MissingValueError):
        encode(TEXT, column)


def test_it_has_no_way_to_take_a_seed():
    assert "source" not in inspect.signature(Disguise.__init__).parameters
    assert list(inspect.signature(Disguise.__call__).parameters) == ["self", "batch"]


DESIGN = dn.Joint({"t": ["a", "b"]}, epsilon=1.0)
SCHEMA = pa.schema({"t": pa.string(), "r": pa.string()})


def test_what_does_not_fit_is_refused_before_any_row_is_touched():
    with pytest.raises(MissingColumnError, match="'t'"):
        Disguise(DESIGN, pa.schema({"x": pa.string()}))
    with pytest.raises(MissingColumnError, match="'region'"):
        Disguise(DESIGN, SCHEMA, ["region"])
    with pytest.raises(InputError, match="both in clear and disguised"):
        Disguise(DESIGN, SCHEMA, ["t"])
    with pytest.raises(InputError, match="cannot be named"):
        Disguise(
            dn.Sampled({"t": ["a", "b"], "r": ["a", "b"]}, 1.0),
            pa.schema([*SCHEMA, ("ballot", pa.string())]),
            ["ballot"],
        )
    with pytest.raises(DesignError, match="all respondents together"):
        Disguise(dn.Paired({"t": ["a", "b"]}, 0.75, -0.2), SCHEMA)


def test_the_disguise_is_the_design_s_own():
    # 40000 reports of one truth: k-RR keeps p of them; 6 standard errors is a chance below 1e-8.
    n, channel = 40_000, DESIGN.questions[0].channel
    batch = pa.record_batch({"t": pa.array(["a"] * n), "r": pa.array(["x"] * n)})
    out = Disguise(DESIGN, SCHEMA, ["r"])(batch)
    kept = (out.column("t").to_numpy() == 0).mean()
    p = channel.matrix()[0, 0]
    assert abs(kept - p) < 6 * np.sqrt(p * (1 - p) / n)
    assert out.column("r").to_pylist() == ["x"] * n


def test_an_empty_batch_stays_empty():
    assert (
        Disguise(DESIGN, SCHEMA)(
            pa.record_batch({"t": pa.array([], pa.string()), "r": pa.array([], pa.string())})
        ).num_rows
        == 0
    )
