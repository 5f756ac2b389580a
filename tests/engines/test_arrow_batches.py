"""The Arrow function: refusals before any row is touched."""

from __future__ import annotations

import inspect

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn
from deniable.engines.arrow_batches import Disguise
from deniable.errors import DesignError, InputError, MissingColumnError


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
            pa.schema([*SCHEMA, ("dn_ballot", pa.string())]),
            ["dn_ballot"],
        )
    with pytest.raises(DesignError, match="all respondents together"):
        Disguise(dn.Paired({"t": ["a", "b"]}, 0.75, -0.2), SCHEMA)


def test_the_disguise_is_the_design_s_own():
    # 40000 reports of one truth: k-RR keeps p of them; 6 standard errors is a chance below 1e-8.
    n, channel = 40_000, DESIGN.questions[0].channel
    batch = pa.record_batch({"t": pa.array(["a"] * n), "r": pa.array(["x"] * n)})
    out = Disguise(DESIGN, SCHEMA, ["r"])(batch)
    kept = (out.column("dn_answer_t").to_numpy() == 0).mean()
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
