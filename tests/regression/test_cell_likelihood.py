"""Reports over the cells of the truth: the same function as report by report, value and both derivatives."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import deniable as dn
from deniable.regression import data_source as source
from deniable.regression.likelihood.cell_likelihood import Tabled, tabled
from deniable.regression.likelihood.maximize import Quick

DOMAIN = {"a": ["no", "yes"], "b": [0, 1, 2], "c": ["no", "yes"]}


@pytest.fixture(scope="module")
def reports():
    rng = np.random.default_rng(2)
    a, z = rng.integers(0, 2, 400), rng.integers(-1, 2, 400)
    yes = np.array(DOMAIN["a"])
    c = (rng.random(400) < 0.3 + 0.3 * a).astype(int)
    people = pd.DataFrame({"a": yes[a], "b": rng.integers(0, 3, 400), "c": yes[c], "z": z, "high": (z > 0).astype(int)})
    design = dn.Joint(DOMAIN, 3.0, channel="hashing")
    return design.randomize(people, keep=["z", "high"], source=dn.Seeded(1))


FORMULAS = {
    "something rides along": ("logit", "c ~ a + z"),
    "another link": ("probit", "c ~ z"),
    "an open outcome": ("logit", "high ~ a"),
    "nothing rides along": ("multinomial", "b ~ a + c + z"),
}


@pytest.mark.parametrize("which", FORMULAS)
def test_it_is_the_likelihood_of_the_reports_one_by_one(which, reports, monkeypatch):
    name, formula = FORMULAS[which]
    made = []

    def always(laid, heard, likelihood, place):
        monkeypatch.setattr("deniable.regression.likelihood.cell_likelihood._A_GROUP", -(10**9))
        made.append((tabled(laid, heard, likelihood, place), likelihood))
        return made[0][0]

    monkeypatch.setattr(source, "tabled", always)
    weights = 1.0 + np.arange(reports.n) % 3
    fit = getattr(dn, name)(formula, reports, weights=weights)
    over_cells, one_by_one = made[0]
    assert isinstance(over_cells, Tabled)
    assert isinstance(over_cells, Quick)
    for params in (fit.values, fit.values + np.random.default_rng(1).normal(size=len(fit.values)) / 3):
        value, gradient, hessian = over_cells.evaluate(params)
        same, slope, curve = one_by_one.evaluate(params)
        assert value == pytest.approx(same, rel=1e-12)
        assert over_cells.value(params) == pytest.approx(same, rel=1e-12)
        assert over_cells.loglik(params) == pytest.approx(one_by_one.loglik(params), rel=1e-12)
        assert gradient == pytest.approx(slope, abs=1e-8 * np.abs(curve).max())
        assert hessian == pytest.approx(curve, abs=1e-9 * np.abs(curve).max())
        assert over_cells.reach(params) == pytest.approx(one_by_one.reach(params))
