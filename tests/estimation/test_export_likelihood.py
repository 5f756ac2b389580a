"""The likelihood as data: the same log-likelihood as ours, for every kind of report, and after JSON."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn
from deniable.errors import EstimationError, InputError
from deniable.likelihood.gather import gather

DOMAIN = dn.Domain({"a": ["no", "yes"], "b": range(3), "c": range(2)})
DESIGNS = {
    "joint": dn.Joint(DOMAIN, 2.0),
    "views": dn.Views(DOMAIN, 2, 2.0),
    "sets": dn.Views(DOMAIN, 2, 2.0, channel="subset"),
    "hashing": dn.Joint(DOMAIN, 2.0, channel="hashing"),
    "sampled": dn.Sampled(DOMAIN, 2.0),
}


def sent(name):
    rng = np.random.default_rng(1)
    words = np.array(["no", "yes"])
    columns = {"a": words[rng.integers(0, 2, 300)], "b": rng.integers(0, 3, 300), "c": rng.integers(0, 2, 300)}
    people = pa.table({**columns, "region": ["north", "south"] * 150})
    return DESIGNS[name].randomize(people, keep=["region"], source=dn.Seeded(1))


def loglik(data, tables):
    """The formula of the module's docstring, written out."""
    return sum(
        n * np.log(np.dot(row, tables[g - 1]))
        for n, row, g in zip(data["count"], data["L"], data["group"], strict=True)
    )


@pytest.mark.parametrize("name", DESIGNS)
def test_the_data_have_our_log_likelihood(name):
    reports = sent(name)
    data = json.loads(json.dumps(dn.likelihood_data(reports, ["a", "b"])))
    evidence = gather(reports, ["a", "b"])
    table = np.random.default_rng(2).dirichlet(np.ones(evidence.cells))
    expected = evidence.evaluate(table.reshape(*evidence.domain.shape, 1))[0][0]
    assert loglik(data, [table]) == pytest.approx(expected, rel=1e-10)
    assert (data["cells"], data["asked"], data["groups"]) == (evidence.cells, 2, ["everybody"])
    assert list(data["attributes"])[:2] == ["a", "b"]
    assert sum(data["count"]) == evidence.n


def test_public_groups_have_rows_of_their_own():
    reports = sent("views")
    data = dn.likelihood_data(reports, ["a", "b"], by="region")
    tables = np.random.default_rng(3).dirichlet(np.ones(6), size=2)
    expected = sum(
        gather(part, ["a", "b"]).evaluate(table.reshape(2, 3, 1))[0][0]
        for (_, part), table in zip(reports.groups("region"), tables, strict=True)
    )
    assert data["groups"] == ["north", "south"]
    assert loglik(data, tables) == pytest.approx(expected, rel=1e-10)


def test_refusals():
    with pytest.raises(EstimationError, match="moments alone"):
        dn.likelihood_data(dn.Observation("x", dn.Unary(3, 1.0), [5, 4, 3, 10]), "x")
    with pytest.raises(InputError, match="public columns"):
        dn.likelihood_data(dn.Observation("x", dn.KRR(2, 1.0), [5, 4]), "x", by="region")
    paired = dn.Paired({"a": [0, 1]}, 0.7, -0.2, respondents=100)
    with pytest.raises(EstimationError, match="correlated"):
        dn.likelihood_data(paired.randomize(pa.table({"a": [0, 1] * 50}), source=dn.Seeded(1)), "a")
